"""Values of the standard library come back equal and of the same type."""

import copy
import ipaddress
import math
import re
import struct
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from uuid import UUID, uuid1, uuid4

import pytest
from msgpack import ExtType, Timestamp

from signoff.checkpoint.serde.codec import dumps, loads
from signoff.constants import MISSING
from signoff.errors import NotStorable

VALUES = [
    None,
    True,
    False,
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**64 - 1,
    2**64,
    -(2**63) - 1,
    10**400,
    -(10**400),
    0.0,
    1.5,
    -1e308,
    5e-324,
    math.inf,
    -math.inf,
    "",
    "text",
    "żółć 漢字 🙂",
    "a\x00b",
    "\ud800",
    "before \udfff after \ud83d\ude00",
    "x" * 100_000,
    b"",
    b"bytes",
    bytes(range(256)) * 300,
    bytearray(),
    bytearray(b"array"),
    bytearray(b"long" * 50_000),
    [],
    [1, "a", None, [2, [3]]],
    (),
    (1,),
    (1, (2, (3, [4, (5,)]))),
    {},
    {"a": 1, "b": {"c": [1, 2]}},
    {1: "int", 1.5: "float", None: "none", True + 1: "two", b"k": "bytes"},
    {(1, (2, "x")): "tuple", frozenset({1, 2}): "frozenset", UUID(int=7): "uuid"},
    set(),
    {1, 2, 3},
    {"a", 1, None, (2, 3)},
    frozenset(),
    frozenset({"a", frozenset({"b"})}),
    deque(),
    deque([1, 2, 3]),
    deque([1, (2,)], maxlen=2),
    deque([], maxlen=0),
    OrderedDict(),
    OrderedDict([("b", 1), ("a", (2,))]),
    Counter("abracadabra"),
    Counter({"a": -1, "b": 0}),
    Decimal("1.50"),
    Decimal("-0"),
    Decimal("1E+1000"),
    Decimal("Infinity"),
    Fraction(1, 3),
    Fraction(-(10**50), 7),
    1 + 2j,
    complex(math.inf, -0.0),
    UUID("12345678-1234-5678-1234-567812345678"),
    uuid1(),
    uuid4(),
    range(0),
    range(5),
    range(10**30, -(10**30), -7),
    slice(None),
    slice(1, 2, 3),
    slice("a", (1, 2), None),
    re.compile(r"a+(b|c)?", re.I | re.M),
    re.compile(rb"\d+", re.S),
    Path("some/where"),
    Path("/"),
    Path("."),
    Path("odd \udcff name"),
    PurePosixPath("/a/b"),
    PureWindowsPath(r"C:\a\b"),
    ipaddress.ip_address("192.0.2.1"),
    ipaddress.ip_address("2001:db8::1"),
    ipaddress.IPv6Address("fe80::1%eth0"),
    ipaddress.ip_network("192.0.2.0/24"),
    ipaddress.ip_network("2001:db8::/32"),
    ipaddress.ip_interface("192.0.2.5/24"),
    ipaddress.ip_interface("2001:db8::5/64"),
    ExtType(5, b"an extension of the application's own"),
    Timestamp(1, 2),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_equal_and_of_its_type(again, value):
    again(value)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_from_inside_of_anything(again, value):
    for outer in ([value], (value,), {"key": value}, deque([value]), {"deep": [({"er": [value]},)]}):
        again(outer)
    (inner,) = loads(dumps([value]))
    assert type(inner) is type(value)


def test_not_a_number_comes_back():
    assert math.isnan(loads(dumps(math.nan)))
    assert math.isnan(loads(dumps(Decimal("NaN"))))
    assert Decimal("sNaN123").compare_total(loads(dumps(Decimal("sNaN123")))) == 0


def test_every_bit_of_a_float_comes_back():
    odd_nan = struct.unpack(">d", b"\x7f\xf8\x00\x00\x00\x00\x12\x34")[0]
    assert struct.pack(">d", loads(dumps(odd_nan))) == struct.pack(">d", odd_nan)
    assert math.copysign(1, loads(dumps(-0.0))) == -1


def test_true_is_not_one_and_one_is_not_true():
    assert [type(item) for item in loads(dumps([True, 1, 1.0, False, 0]))] == [bool, int, float, bool, int]
    assert type(next(iter(loads(dumps({True: "yes"}))))) is bool


@pytest.mark.parametrize(
    "factory",
    [None, bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple, deque, Decimal],
)
def test_a_defaultdict_comes_back_with_its_factory(again, factory):
    value = defaultdict(factory, {"a": [1]})
    assert again(value).default_factory is factory


def test_a_defaultdict_with_a_factory_of_ones_own_is_refused():
    with pytest.raises(NotStorable, match=r"values\.counts: a defaultdict whose factory is"):
        dumps({"counts": defaultdict(lambda: 0)})


def test_a_bounded_deque_stays_bounded(again):
    loaded = again(deque([1, 2], maxlen=2))
    loaded.append(3)
    assert list(loaded) == [2, 3]


def test_a_dict_and_an_ordered_dict_keep_their_order(again):
    assert list(again({"z": 1, "a": 2, "m": 3})) == ["z", "a", "m"]
    assert list(again(OrderedDict(z=1, a=2))) == ["z", "a"]


def test_bytearrays_are_found_wherever_they_hide(again):
    hidden = {"a": [1, {"b": bytearray(b"x")}], "c": (bytearray(b"y"), {"d": bytearray(b"z" * 300)})}
    loaded = again(hidden)
    assert type(loaded["a"][1]["b"]) is bytearray
    assert type(loaded["c"][0]) is bytearray
    assert type(loaded["c"][1]["d"]) is bytearray


def test_a_bytearray_beside_lone_surrogates_is_found(again):
    assert type(again(["\ud800", bytearray(b"x")])[1]) is bytearray


def test_a_memoryview_is_refused():
    with pytest.raises(NotStorable, match=r"values\.view: a memoryview"):
        dumps({"view": memoryview(b"x")})
    with pytest.raises(NotStorable, match="a memoryview"):
        dumps({"views": {memoryview(b"x"): 1}})


def test_what_was_stored_does_not_change_with_the_value():
    value = {"list": [1], "array": bytearray(b"a")}
    before = copy.deepcopy(value)
    data = dumps(value)
    value["list"].append(2)
    value["array"].extend(b"b")
    assert loads(data) == before


def test_equal_sets_have_equal_bytes_in_every_process():
    program = (
        "from signoff.checkpoint.serde.codec import dumps; import sys;"
        "sys.stdout.write(dumps([{'pear', 'apple', 'fig'}, frozenset('abcdef'), {*'abcdef', 1, 2.5, None}]).hex())"
    )
    run = lambda seed: subprocess.run(  # noqa: E731
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run("1").stdout == run("2").stdout != ""


def test_a_pattern_that_would_print_when_it_is_loaded_is_refused(capsys):
    pattern = re.compile("a", re.DEBUG)
    with pytest.raises(NotStorable, match=r"re\.DEBUG"):
        dumps(pattern)
    capsys.readouterr()


def test_large_and_mixed_sets_come_back(again):
    again({*range(20), *"abcdefghijklmnop", None, (1, 2)})
    again({*range(70_000), "a"})


def test_a_long_value_does_not_keep_its_buffers(again):
    again(["x" * 3_000_000, (b"y" * 3_000_000,)])
    again(["x"])


def test_a_fraction_that_would_take_long_to_make_is_refused():
    with pytest.raises(NotStorable, match=r"values: a Fraction of more than \d+ bits"):
        dumps(Fraction(3**100_000, 2**200_000))


def test_the_mark_for_nothing_there_stays_itself():
    assert loads(dumps(MISSING)) is MISSING
