"""signoff's own types need no registration."""

import subprocess
import sys

import pytest

from signoff.checkpoint.serde.codec import dumps
from signoff.constants import MISSING
from signoff.store.memory import InMemoryStore
from signoff.types import Command, Interrupt, Overwrite, Send

OWN = [
    Send("node", {"x": (1, 2)}),
    Send("node", None, timeout=2.5),
    Command(update={"a": 1}, goto=[Send("n", 1), "m"]),
    Command(graph=Command.PARENT, goto="up"),
    Command(resume=None),
    Command(resume={"id": False}),
    Interrupt("ok?", "id-1"),
    Interrupt({"q": [1]}, "id-2", response_schema={"type": "integer"}, key="age"),
    Overwrite([1, 2]),
]


@pytest.mark.parametrize("value", OWN, ids=lambda value: type(value).__name__)
def test_a_value_of_our_own_comes_back(again, value):
    loaded = again(value)
    for name in [*getattr(type(value), "__slots__", ())]:
        assert getattr(loaded, name) == getattr(value, name)


def test_what_a_store_hands_out_comes_back(again):
    store = InMemoryStore(index={"dims": 1, "embed": lambda texts: [[float(len(text))] for text in texts]})
    store.put(("people", "ana"), "city", {"name": "Rome"})
    again(store.get(("people", "ana"), "city"))
    (found,) = store.search(("people",), query="Rome")
    assert again(found).score == found.score


def test_no_answer_stays_no_answer(again):
    assert again(Command(goto="x")).resume is MISSING
    assert again(Command(resume=None)).resume is None


def test_a_value_of_our_own_can_be_loaded_first_thing():
    program = "import sys; from signoff.checkpoint.serde.codec import loads;print(loads(bytes.fromhex(sys.argv[1])))"
    data = dumps(Send("node", 1)).hex()
    run = subprocess.run([sys.executable, "-c", program, data], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "Send(node='node', arg=1)"
