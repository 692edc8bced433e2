"""Broken and hostile bytes: `Undecodable` or a harmless value; no other exception, no code, no hang."""

# ruff: noqa: E501 - the tables are easier to compare in long lines

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import msgpack
import numpy as np
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import BaseModel

from signoff.checkpoint.serde import register, wire
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.checkpoint.serde.exceptions import StoredError
from signoff.errors import Undecodable
from signoff.types import Send

T = TypeVar("T")


@register(name="Order")
@dataclass
class Order:
    id: int
    note: str = ""


@register(name="Thin")
@dataclass(slots=True)
class Thin:
    a: int


@register(name="Model")
class Model(BaseModel):
    a: int


@register(name="Page")
class Page(BaseModel, Generic[T]):
    a: T


@register(name="Color")
class Color(Enum):
    RED = 1


@register(name="Rights")
class Rights(Flag):
    READ = 1


@register(name="Point")
class Point(NamedTuple):
    x: int


@register(name="Failed")
class Failed(Exception):
    pass


def pack(value: Any) -> bytes:
    return msgpack.packb(value, unicode_errors="surrogatepass", default=long_int)


def long_int(value: int) -> Any:
    return wire.ext(wire.BIG_INT, value.to_bytes(20, "big", signed=True))


def blob(payload: bytes) -> bytes:
    return wire.FORMAT + payload


def ext(code: int, payload: bytes) -> bytes:
    """A whole value that is one extension."""
    return blob(msgpack.packb(wire.ext(code, payload)))


def typed(code: int, state: Any) -> bytes:
    return ext(code, pack(state))


CODES = {name: code for name, code in vars(wire).items() if name.isupper() and isinstance(code, int)}

# The payload is packed again, so any of these may stand where something else is expected.
WRONG_STATES = [
    None,
    True,
    -1,
    1.5,
    "text",
    b"bytes",
    [],
    [1],
    [[]],
    [None] * 3,
    {},
    {"a": 1},
    {1: 2},
    "x" * 300,
]

# What each of the codes would make of something that is nearly right.
NEARLY_RIGHT = [
    *(typed(wire.STRUCT, state) for state in [
        ["Order"], ["Order", {}], ["Order", []], ["Order", None], ["Order", {"id": 1}, 3], ["Order", [{"id": 1}]],
        ["Order", [{"id": 1}, 5]], ["Order", [{"id": 1}, {5: 6}]], ["Order", "id"], [["Order"], {}], [None, {}],
        [{}, {}], ["Thin", {}], ["Thin", [{"a": 1}, {"other": 1}]], ["Thin", [{"a": 1}, {"__class__": 1}]],
        ["Model", {}], ["Model", 5], ["Model", []], ["Model", [{"a": 1}]], ["Model", [{"a": 1}, 5, None, None]],
        ["Model", [{"a": 1}, ["a"], {1: 2}, None]], ["Model", [{"a": 1}, [["a"]], None, None]],
        ["Color", "BLUE"], ["Color", 1], ["Color", None], ["Color", ["RED"]], ["Color", "__class__"],
        ["Rights", 99], ["Rights", "READ"], ["Rights", None], ["Rights", [1]],
        ["Point", []], ["Point", [1, 2]], ["Point", "x"], ["Point", {"x": 1}], ["Failed", {}], ["Failed", []],
        ["os:system", "true"], ["builtins:eval", "1"], ["builtins:object", {}], ["subprocess:Popen", ["true"]],
        ["signoff.types:interrupt", {}], ["signoff.types:Nothing", {}], ["signoff.types:Send", {}],
        ["signoff.types:Send", {"node": 1}], ["x" * 100_000, {}], ["\ud800", {}], ["", {}], [":", {}],
    ]),
    *(typed(wire.GENERIC_MODEL, state) for state in [
        ["Page", ["int"], {}], ["Page", ["int", "int"], {"a": 1}], ["Page", [], {"a": 1}], ["Page", ["os:system"], {"a": 1}],
        ["Page", [5], {"a": 1}], ["Page", "int", {"a": 1}], ["Model", ["int"], {"a": 1}], ["Order", ["int"], {"id": 1}],
        ["nothing", ["int"], {}], [None, None, None], ["Page", [["int"]], {"a": 1}],
    ]),
    *(typed(wire.MESSAGE, state) for state in [
        [0], [0, {}], [0, {"content": "x", "unknown": 1}], [0, {"content": "x", 5: 1}], [99, {"content": "x"}],
        [-1, {"content": "x"}], ["0", {"content": "x"}], [None, {"content": "x"}], [0, ["content"]], [0, "content"],
        [0, {"content": "x"}, 5], [0, {"content": "x"}, [5]], [0, {"content": "x"}, [], 5], [0, {"content": "x"}, [], {5: 6}],
        [0, {"content": "x"}, [], None, 7], [0, {"content": "x"}, [], None, None, None], [3, {"content": "no call id"}],
        [1.0], [[0], {}], [{}, {}],
    ]),
    *(typed(wire.EXCEPTION, state) for state in [
        ["builtins:ValueError"], ["builtins:ValueError", "t", b"\xc1", None], ["builtins:ValueError", "t", b"", None],
        ["builtins:ValueError", "t", pack({}), None], ["builtins:ValueError", "t", "x", None],
        ["builtins:ValueError", "t", pack([]), pack([])], ["builtins:ValueError", "t", pack([]), pack({5: 6})],
        [5, "t", None, None], ["n", 5, None, None], [[], "t", None, None], ["builtins:ValueError", None, pack([]), None],
        ["builtins:ValueError", "t", pack([]), 5],
    ]),
    *(typed(wire.NUMPY_ARRAY, state) for state in [
        ["O", [1], "C", b"\0" * 8], ["|O", [1], "C", b"\0" * 8], ["<i8", [2], "C", b"\0" * 8], ["<i8", [-1], "C", b"\0" * 8],
        ["<i8", [2**62, 2**62], "C", b""], ["<i8", [1], "X", b"\0" * 8], ["<i8", "1", "C", b"\0" * 8], ["<i8", [1.0], "C", b"\0" * 8],
        ["<i8", [1], "C", b"\0" * 7], ["<i8", [1], "C", "text"], ["nonsense", [1], "C", b"\0" * 8], [None, [1], "C", b"\0"],
        ["V0", [10**15], "C", b""], ["S0", [10**15], "C", b""], [[["a", "O"]], [1], "C", b"\0" * 8], [{}, [1], "C", b"\0"],
        ["<i8", [[1]], "C", b"\0" * 8], [["<i8"], [1], "C", b"\0" * 8], ["os.system", [1], "C", b"\0"], ["<i8", None, "C", b"\0" * 8],
        ["i4,O", [1], "C", b"\0" * 12], ["<M8[bad]", [1], "C", b"\0" * 8], ["(2,2)O", [1], "C", b"\0" * 32], ["<i8", [True], "C", b"\0" * 8],
    ]),
    *(typed(wire.NUMPY_SCALAR, state) for state in [
        ["O", b"\0" * 8], ["<i8", b""], ["<i8", b"\0" * 16], ["<i8", "x"], [None, 5], [None, None], ["<i8"], ["S0", b""],
        ["(2,)<i8", b"\0" * 16],
    ]),
    *(typed(wire.FRACTION, state) for state in [[1, 0], [1], ["1", "2"], [1.5, 2], [1, 2, 3], [True, 2], "12"]),
    *(typed(wire.TIMEDELTA, state) for state in [[10**12, 0, 0], [1], ["1", 0, 0], [0.5, 0, 0], None, [0, 10**30, 0]]),
    *(typed(wire.RANGE, state) for state in [[0, 1, 0], [0, 1.5, 1], ["a"], [1, 2, 3, 4], [], 5]),
    *(typed(wire.SLICE, state) for state in [[], [1, 2, 3, 4], 5]),
    *(typed(wire.PATTERN, state) for state in [
        ["(", 0], ["a", 128], ["a", 10**6], ["a", "i"], [5, 0], ["a" ], [b"a", 32], ["(?i)a" * 5, 0], ["[" * 500, 0],
        ["(" * 5000 + ")" * 5000, 0], ["a{99999999999}", 0], ["(?P<a>)(?P<a>)", 0], ["a", 1],
    ]),
    *(typed(wire.DEQUE, state) for state in [[-1, []], ["x", []], [None, 5], [None], [2**100, []]]),
    *(typed(wire.DEFAULT_DICT, state) for state in [["eval", {}], ["object", {}], [None, []], [5, {}], [["list"], {}], ["list"]]),
    *(typed(wire.SET, state) for state in [[[1]], [{}], "abc", {"a": 1}]),
    *(typed(wire.FROZENSET, state) for state in [[[1]], 5]),
    *(typed(wire.ZONED_DATETIME, state) for state in [
        ["2024-01-01T00:00:00", 5, None], ["nonsense", 0, None], ["2024-01-01T00:00:00", 0, "No/Where"],
        ["2024-01-01T00:00:00", 0, "../../etc/passwd"], ["2024-01-01T00:00:00", 0, "/etc/passwd"],
        ["2024-01-01T00:00:00", 0, [10**20, None]], ["2024-01-01T00:00:00", 0, [0, 5]], [5, 0, None], ["2024", "x", None],
        ["2024-01-01T00:00:00", 0, "\0"], ["2024-01-01T00:00:00", 0, ""], ["2024-01-01T00:00:00", 0, "x" * 10_000],
    ]),
    *(typed(wire.ZONE_INFO, state) for state in ["..", "../zoneinfo", "Europe", "", None, [0, None]]),
    *(typed(wire.TIMEZONE, state) for state in [None, "UTC", [10**18, None], ["0", None], [0]]),
    *(ext(wire.DATETIME, text) for text in [b"", b"2024", b"2024-13-01T00:00:00", b"\xff", b"now", b"2024-01-01T00:00:00+99:00"]),
    *(ext(wire.TIME, text) for text in [b"", b"25:00", b"\xff"]),
    *(ext(wire.DATE, text) for text in [b"", b"2024-02-30", b"\xff", b"0000-00-00"]),
    *(ext(wire.DECIMAL, text) for text in [b"", b"abc", b"\xff", b"1e", b"0x1"]),
    *(ext(wire.UUID_, raw) for raw in [b"", b"short", b"x" * 17]),
    *(ext(wire.COMPLEX, raw) for raw in [b"", b"x" * 15, b"x" * 17]),
    *(ext(wire.IPV4_ADDRESS, text) for text in [b"", b"1.2.3", b"999.0.0.1", b"::1", b"\xff"]),
    *(ext(wire.IPV4_NETWORK, text) for text in [b"", b"1.2.3.4/0", b"1.2.3.0/99"]),
    *(ext(wire.IPV6_ADDRESS, text) for text in [b"", b"1.2.3.4", b":::", b"x" * 10_000]),
    *(ext(wire.WINDOWS_PATH if sys.platform != "win32" else wire.POSIX_PATH, text) for text in [b"a", b""]),
]  # fmt: skip

BROKEN = [
    b"",
    b"\x00",
    b"\xc0",
    b"text",
    wire.FORMAT,
    wire.FORMAT * 2,
    msgpack.packb({"a": 1}),
    msgpack.packb(msgpack.ExtType(5, b"of another library")),
    b"\x80\x04\x95.",
    *(blob(bytes([header])) for header in range(0x81, 0xA0) if header != 0x90),
    *(blob(bytes([header])) for header in [*range(0xA1, 0xC0), *range(0xC4, 0xE0)]),
    *(blob(bytes([header]) + b"\xff" * 4) for header in [0xC6, 0xC9, 0xDB, 0xDD, 0xDF]),
    *(blob(bytes([header]) + b"\xff" * 4 + b"x" * 1000) for header in [0xC6, 0xC9, 0xDB, 0xDD, 0xDF]),
    blob(b"\x01\x02"),
    blob(pack({"a": 1}) + b"\x00"),
    blob(b"\xa4\xff\xff\xff\xff"),
    blob(b"\xa1\xc3"),
    blob(b"\x81\x90\x01"),
    blob(b"\x81\x80\x01"),
    blob(b"\x81\xc7\x02\xfa\x91\x01\x01"),
    blob(b"\x91" * 2000),
    blob(b"\x91" * 2000 + b"\xc0"),
    blob(b"\x81\x01" * 3000 + b"\xc0"),
    blob(b"\xdd\x00\xff\xff\xff" * 900),
    blob(b"\xd7\xff" + b"\xff" * 8),
    blob(b"\xc7\x03\xff" + b"\xff" * 3),
    *(ext(code, b"") for code in CODES.values() if code not in (wire.BYTEARRAY, wire.BIG_INT, wire.MISSING_)),
    *(ext(code, b"") for code in range(-128, -42)),
    *(ext(code, b"\xc1") for code in CODES.values() if code not in (wire.BYTEARRAY, wire.BIG_INT, wire.MISSING_)),
]

BROKEN = [data for data in BROKEN if data not in {ext(wire.PURE_POSIX_PATH, b""), ext(wire.PURE_WINDOWS_PATH, b""), ext(wire.POSIX_PATH, b"")}]  # fmt: skip


def test_there_are_enough_of_them():
    assert len(NEARLY_RIGHT) + len(BROKEN) > 400


@pytest.mark.parametrize("data", NEARLY_RIGHT, ids=lambda data: repr(data[:60]))
def test_what_is_nearly_right_is_refused_or_harmless(data):
    assert_harmless(data)


@pytest.mark.parametrize("data", BROKEN, ids=lambda data: repr(data[:60]))
def test_what_is_broken_is_refused(data):
    with pytest.raises(Undecodable):
        loads(data)


@pytest.mark.parametrize("name", CODES)
def test_a_payload_of_the_wrong_shape_is_refused_or_harmless(name):
    for state in WRONG_STATES:
        assert_harmless(typed(CODES[name], state))
    for payload in (b"\xc0", b"\xff" * 20, b"\x00" * 16, b"text", bytes(range(256))):
        assert_harmless(ext(CODES[name], payload))


def assert_harmless(data: bytes) -> None:
    """Loading fails with `Undecodable`, or gives a value that could have been stored."""
    try:
        value = loads(data)
    except Undecodable:
        return
    if not isinstance(value, BaseException):
        dumps(value)
    assert isinstance(repr(value), str)


SAMPLES = [
    {"x": 1, "list": [1, 2.5, None, True, "text", b"bytes", bytearray(b"array")]},
    [AIMessage("hi", tool_calls=[{"name": "t", "args": {"a": 1}, "id": "1"}]), HumanMessage("ho", odd=1)],
    (Order(1, "n"), Thin(2), Model(a=3), Page[int](a=4), Color.RED, Rights.READ, Point(5)),
    {"at": datetime(2024, 1, 1, tzinfo=UTC), "for": timedelta(1), "id": UUID(int=1), "d": Decimal("1.5")},
    [Fraction(1, 3), 2**100, {1, 2}, frozenset("ab"), range(5), slice(1), Send("n", (1,)), 1j],
    [np.arange(6).reshape(2, 3), np.float32(1.5), ValueError("x"), Failed("y")],
]


def cuts() -> Iterator[bytes]:
    for sample in SAMPLES:
        data = dumps(sample)
        yield from (data[:end] for end in range(len(data)))


def test_a_value_cut_off_anywhere_is_refused():
    for data in cuts():
        with pytest.raises(Undecodable):
            loads(data)


def test_a_value_with_something_behind_it_is_refused():
    for sample in SAMPLES:
        with pytest.raises(Undecodable):
            loads(dumps(sample) + b"\x00")


def test_a_value_with_any_byte_changed_is_refused_or_harmless():
    for sample in SAMPLES:
        data = dumps(sample)
        for place in range(1, len(data)):
            for byte in (0x00, 0x7F, 0x81, 0x91, 0xC0, 0xC7, 0xDD, 0xFF, data[place] ^ 1):
                assert_harmless(data[:place] + bytes([byte]) + data[place + 1 :])


def test_typed_values_nested_without_end_are_refused():
    data = b"\xc0"
    for _ in range(101):
        data = msgpack.packb(wire.ext(wire.TUPLE, b"\x91" + data))
    with pytest.raises(Undecodable, match="typed values deep"):
        loads(blob(data))
    for _ in range(3000):
        data = msgpack.packb(wire.ext(wire.TUPLE, b"\x91" + data))
    with pytest.raises(Undecodable):
        loads(blob(data))


def test_hostile_bytes_that_promise_much_work_come_to_an_end():
    million = 1_000_000
    header = b"\xdd" + (million - 1).to_bytes(4, "big")
    slow = [
        blob(header * 1000 + b"\x01" * million),
        blob(b"\x91" * million),
        ext(wire.PATTERN, pack(["(" * 20_000 + ")" * 20_000, 0])),
        typed(wire.NUMPY_ARRAY, ["<i8", [2**40, 0], "C", b""]),
        ext(wire.FRACTION, pack([wire.ext(wire.BIG_INT, b"\x7f" * million), wire.ext(wire.BIG_INT, b"\x7e" * million)])),
        ext(wire.IPV6_NETWORK, b"1" * million),
        ext(wire.DECIMAL, b"1" * 10_000),
    ]  # fmt: skip
    for data in slow:
        assert_harmless_without_repr(data)


def assert_harmless_without_repr(data: bytes) -> None:
    try:
        loads(data)
    except Undecodable:
        pass


def test_bytes_that_are_too_long_are_refused():
    from signoff.checkpoint.serde.codec import Codec

    with pytest.raises(Undecodable, match="too long: 101, and 100 is the limit"):
        Codec(max_bytes=100).loads(wire.FORMAT + b"x" * 100)


def test_bytes_of_another_program_are_told_apart():
    with pytest.raises(Undecodable, match="were not written by signoff"):
        loads(msgpack.packb({"a": 1}))


def test_a_value_of_a_later_version_says_so():
    with pytest.raises(Undecodable, match=r"does not know \(code -120\)\. Update signoff"):
        loads(ext(-120, b"x"))


@pytest.mark.parametrize("data", [None, "text", 5, [], object()])
def test_what_is_not_bytes_is_refused(data):
    with pytest.raises(Undecodable):
        loads(data)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_may_come_in_any_wrapping(kind):
    assert loads(kind(dumps({"a": (1, 2)}))) == {"a": (1, 2)}


def test_a_class_that_nobody_registered_is_named_with_the_remedy():
    with pytest.raises(Undecodable, match=r"'os:system', which is not registered here\. Call `register\(system\)`"):
        loads(typed(wire.STRUCT, ["os:system", "true"]))


def test_nothing_is_imported_for_a_name():
    before = set(sys.modules)
    for name in ("antigravity:fly", "this:s", "turtle:Turtle"):
        for data in (
            typed(wire.STRUCT, [name, {}]),
            typed(wire.GENERIC_MODEL, [name, ["int"], {}]),
            typed(wire.GENERIC_MODEL, ["Page", [name], {"a": 1}]),
        ):
            with pytest.raises(Undecodable):
                loads(data)
        stand_in = loads(typed(wire.EXCEPTION, [name, "text", pack([]), None]))
        assert type(stand_in) is StoredError
    assert set(sys.modules) - before == set()


def test_an_exception_is_never_made_with_more_than_it_takes():
    made = loads(typed(wire.EXCEPTION, ["builtins:UnicodeDecodeError", "text", pack([1, 2, 3]), None]))
    assert type(made) is StoredError
    made = loads(typed(wire.EXCEPTION, ["Order", "text", pack([1]), None]))
    assert type(made) is StoredError
    mapped = loads(typed(wire.EXCEPTION, ["builtins:OSError", "text", pack([2, "gone"]), None]))
    assert type(mapped) in (StoredError, OSError)
