"""JsonPlusSerializer: tags, pickles and allow-lists."""

import pickle
import subprocess
import sys
from dataclasses import dataclass

import pytest
from langchain_core.messages import HumanMessage

from signoff.checkpoint.serde.base import SerializerProtocol, maybe_add_typed_methods
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.errors import InvalidInput, NotStorable, Undecodable


@dataclass
class Order:
    id: int


@dataclass
class Other:
    id: int


class Plain:
    def __init__(self, a: int) -> None:
        self.a = a

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.a == other.a


@pytest.mark.parametrize(
    ("value", "tag", "content"),
    [
        (None, "null", b""),
        (b"raw", "bytes", b"raw"),
        (bytearray(b"raw"), "bytearray", b"raw"),
        ({"a": 1}, "msgpack", None),
        ("text", "msgpack", None),
    ],
)
def test_each_value_has_its_tag(value, tag, content):
    serde = JsonPlusSerializer()
    stored = serde.dumps_typed(value)
    assert stored[0] == tag
    assert type(stored[1]) is bytes
    if content is not None:
        assert stored[1] == content
    loaded = serde.loads_typed(stored)
    assert (loaded, type(loaded)) == (value, type(value))


def test_it_is_a_serializer():
    serde = JsonPlusSerializer()
    assert isinstance(serde, SerializerProtocol)
    assert maybe_add_typed_methods(serde) is serde


def test_messages_need_no_allow_list():
    serde = JsonPlusSerializer()
    assert serde.loads_typed(serde.dumps_typed([HumanMessage("hi")])) == [HumanMessage("hi")]


@pytest.mark.parametrize("tag", ["json", "weird", "", "msgpack+aes"])
def test_an_unknown_tag_is_refused(tag):
    with pytest.raises(Undecodable, match="No value is stored under the tag"):
        JsonPlusSerializer().loads_typed((tag, b"{}"))


def test_a_refusal_has_the_path():
    with pytest.raises(NotStorable, match=r"checkpoint values\.a: a function"):
        JsonPlusSerializer().dumps_typed({"a": print})
    with pytest.raises(NotStorable, match=r"checkpoint interrupt\.a: a function"):
        JsonPlusSerializer().dumps_typed({"a": print}, path="interrupt")


def test_without_the_fallback_nothing_is_pickled_or_unpickled():
    serde = JsonPlusSerializer()
    with pytest.raises(NotStorable):
        serde.dumps_typed(Order(1))
    with pytest.raises(Undecodable, match="pickle_fallback=True"):
        serde.loads_typed(("pickle", pickle.dumps(Order(1))))


def test_with_the_fallback_what_would_be_refused_is_pickled():
    serde = JsonPlusSerializer(pickle_fallback=True)
    assert serde.dumps_typed({"a": 1})[0] == "msgpack"
    stored = serde.dumps_typed({"order": Order(1)})
    assert stored[0] == "pickle"
    assert serde.loads_typed(stored) == {"order": Order(1)}


def test_what_cannot_even_be_pickled_is_refused_with_the_path():
    with pytest.raises(NotStorable, match=r"values\.f: a function"):
        JsonPlusSerializer(pickle_fallback=True).dumps_typed({"f": lambda: 1})


def test_a_broken_pickle_is_refused():
    with pytest.raises(Undecodable, match="pickle cannot be read"):
        JsonPlusSerializer(pickle_fallback=True).loads_typed(("pickle", b"broken"))


ALLOWED = [Order, (__name__, "Order"), (*__name__.split("."), "Order")]


@pytest.mark.parametrize("allowed", ALLOWED, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("keyword", ["allowed_msgpack_modules", "allowed_json_modules"])
def test_an_allow_list_is_for_its_serializer_alone(allowed, keyword):
    serde = JsonPlusSerializer(**{keyword: [allowed]})
    stored = serde.dumps_typed([Order(1)])
    assert serde.loads_typed(stored) == [Order(1)]
    with pytest.raises(NotStorable):
        serde.dumps_typed(Other(1))
    with pytest.raises(NotStorable):
        JsonPlusSerializer().dumps_typed(Order(1))
    with pytest.raises(Undecodable, match="not registered here"):
        JsonPlusSerializer().loads_typed(stored)


def test_an_allow_list_can_be_extended():
    narrow = JsonPlusSerializer(allowed_msgpack_modules=[Order], pickle_fallback=True)
    wide = narrow.with_msgpack_allowlist([(__name__, "Other")])
    assert wide.dumps_typed([Order(1), Other(2)])[0] == "msgpack"
    assert wide.loads_typed(wide.dumps_typed([Order(1), Other(2)])) == [Order(1), Other(2)]
    assert narrow.dumps_typed(Other(1))[0] == "pickle"
    assert JsonPlusSerializer().with_msgpack_allowlist({Order}).dumps_typed(Order(1))[0] == "msgpack"


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_an_empty_allow_list_allows_nothing(nothing):
    with pytest.raises(NotStorable):
        JsonPlusSerializer(allowed_msgpack_modules=nothing).dumps_typed(Order(1))


def test_true_allows_every_class_there_is():
    serde = JsonPlusSerializer(allowed_msgpack_modules=True)
    for value in (Order(1), Plain(2), [Other(3)]):
        assert serde.loads_typed(serde.dumps_typed(value)) == value
    with pytest.raises(NotStorable):
        serde.dumps_typed(print)
    with pytest.raises(NotStorable):
        JsonPlusSerializer().dumps_typed(Plain(2))
    extended = serde.with_msgpack_allowlist([Order])
    assert extended.loads_typed(extended.dumps_typed(Plain(2))) == Plain(2)


class Keyed(JsonPlusSerializer):
    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


def test_a_serializer_that_takes_more_types_is_else_as_it_was():
    keyed = Keyed("k")
    assert keyed.loads_typed(keyed.dumps_typed([1])) == [1]
    wide = keyed.with_msgpack_allowlist([Order])
    assert (type(wide), wide.key) == (Keyed, "k")
    assert wide.loads_typed(wide.dumps_typed(Order(1))) == Order(1)
    with pytest.raises(NotStorable):
        keyed.dumps_typed(Order(1))


def test_built_in_classes_in_an_allow_list_do_no_harm():
    serde = JsonPlusSerializer(allowed_msgpack_modules=[dict, set, ("datetime", "datetime")])
    assert serde.loads_typed(serde.dumps_typed({1})) == {1}


@pytest.mark.parametrize("wrong", ["module", ("module",), (1, 2), 5])
def test_an_allow_list_with_something_else_in_it_is_refused(wrong):
    with pytest.raises(InvalidInput, match="An allow-list has classes and"):
        JsonPlusSerializer(allowed_msgpack_modules=[wrong])


def load_elsewhere(options: str) -> str:
    """Load, in another process, a value whose class (of the standard library) was never imported there."""
    import difflib

    data = JsonPlusSerializer(allowed_msgpack_modules=True).dumps_typed(difflib.Match(1, 2, 3))[1]
    program = (
        "import sys\n"
        "from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer\n"
        "from signoff.errors import Undecodable\n"
        "try:\n"
        f"    print(JsonPlusSerializer({options}).loads_typed(('msgpack', bytes.fromhex(sys.argv[1]))))\n"
        "except Undecodable:\n"
        "    print('refused', 'difflib' in sys.modules)"
    )
    command = [sys.executable, "-c", program, data.hex()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_loading_imports_what_is_allowed_by_name_and_nothing_else():
    assert load_elsewhere("") == "refused False"
    assert load_elsewhere("allowed_msgpack_modules=[('os', 'stat')]") == "refused False"
    assert load_elsewhere("allowed_msgpack_modules=[('difflib', 'Match')]") == "Match(a=1, b=2, size=3)"
    assert load_elsewhere("allowed_msgpack_modules=True") == "Match(a=1, b=2, size=3)"
