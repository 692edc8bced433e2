"""The words that users write with: when two are the same, how they are shown, and what they are made of."""

import pytest

from signoff.errors import InvalidInput
from signoff.types import Command, Send, interrupt


def test_sends_are_the_same_if_they_say_the_same():
    assert Send("a", [1]) == Send("a", [1])
    assert Send("a", [1]) not in (Send("a", [2]), Send("b", [1]), ("a", [1]))
    assert len({Send("a", 1), Send("a", 1), Send("a", 2), Send("b", 1)}) == 3


def test_a_command_shows_what_it_says_and_nothing_else():
    assert repr(Command(update={"a": 1}, goto="b", by="ana")) == "Command(update={'a': 1}, goto='b', by='ana')"
    assert repr(Command(resume=None)) == "Command(resume=None)"
    assert repr(Command()) == "Command()"


@pytest.mark.parametrize("key", ["", 5, ["amount"]])
def test_the_key_of_a_question_is_a_name(key):
    with pytest.raises(InvalidInput, match="key='amount'"):
        interrupt("how much?", key=key)
