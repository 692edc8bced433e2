"""What cannot be stored is refused before it is lost, with the path and the remedy."""

import collections
import enum
import functools
import io
import re
import threading
import time
import types
from collections import OrderedDict, UserDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from signoff.checkpoint.serde import register
from signoff.checkpoint.serde.codec import Codec, dumps, loads
from signoff.errors import NotStorable


class MyStr(str):
    pass


class MyInt(int):
    pass


class MyFloat(float):
    pass


class MyBytes(bytes):
    pass


class MyDict(dict):
    pass


class MyList(list):
    pass


class MyTuple(tuple):
    pass


class MySet(set):
    pass


class MyDeque(deque):
    pass


class MyOrderedDict(OrderedDict):
    pass


class Plain:
    def __init__(self) -> None:
        self.lock = threading.Lock()


class Color(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: int


@dataclass
class Unregistered:
    a: Any = 1


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@register
@dataclass
class Order:
    callback: Any = None
    items: Any = ()


def generator():
    yield 1


REFUSED = [
    (lambda: 1, "a function"),
    (len, "a function"),
    ([].append, "a function"),
    (Plain().__init__, "a function"),
    (functools.partial(len), "an instance of functools.partial"),
    (int, "a class"),
    (Unregistered, "a class"),
    (object(), "an instance of builtins.object"),
    (threading.Lock(), "an instance of _thread.lock"),
    (generator(), "a generator, which can be read once. Store a list"),
    (io.BytesIO(b"x"), "an instance of _io.BytesIO"),
    (re, "an instance of builtins.module"),
    (iter([1]), "an instance of builtins.list_iterator"),
    ({}.keys(), "an instance of builtins.dict_keys"),
    (Ellipsis, "an instance of builtins.ellipsis"),
    (NotImplemented, "an instance of builtins.NotImplementedType"),
    (types.SimpleNamespace(a=1), "SimpleNamespace"),
    (types.MappingProxyType({}), "mappingproxy"),
    (collections.ChainMap(), "ChainMap"),
    (UserDict(), "UserDict"),
    (memoryview(b"x"), "a memoryview"),
    (Plain(), "Plain. Keep it out of the state, or call `register(Plain)`"),
    (MyStr("x"), "MyStr is a subclass of str that is not registered"),
    (MyInt(1), "MyInt is a subclass of int"),
    (MyFloat(1), "MyFloat is a subclass of float"),
    (MyBytes(b""), "MyBytes is a subclass of bytes"),
    (MyDict(a=1), "MyDict is a subclass of dict"),
    (MyList([1]), "MyList is a subclass of list"),
    (MyTuple([1]), "MyTuple is a subclass of tuple"),
    (MySet([1]), "MySet is a subclass of set"),
    (MyDeque([1]), "MyDeque is a subclass of "),
    (MyOrderedDict(a=1), "MyOrderedDict is a subclass of "),
    (defaultdict(lambda: 1), "a defaultdict whose factory is"),
    (Color.RED, "Color is an Enum that is not registered. Call `register(Color)`"),
    (Point(1), "Point is a NamedTuple that is not registered. Call `register(Point)`"),
    (Unregistered(), "Unregistered is a dataclass that is not registered. Call `register(Unregistered)`"),
    (time.struct_time(range(9)), "struct_time"),
]


@pytest.mark.parametrize(("value", "why"), REFUSED, ids=[f"{why[:40]}-{i}" for i, (_, why) in enumerate(REFUSED)])
def test_a_value_is_refused_with_its_path_and_a_remedy(value, why):
    with pytest.raises(NotStorable) as refusal:
        dumps({"order": {"field": value}})
    assert str(refusal.value).startswith("Cannot store checkpoint values.order.field: ")
    assert why in str(refusal.value)


def test_the_message_says_what_to_do():
    with pytest.raises(NotStorable) as refusal:
        dumps({"order": Unregistered()})
    assert str(refusal.value) == (
        f"Cannot store checkpoint values.order: {__name__}.Unregistered is a dataclass that is not registered. "
        "Call `register(Unregistered)` (from signoff.checkpoint.serde import register), or name it in the "
        "state's schema, or in the @task's annotations."
    )


OURS = [
    ({"__resume__": {"0a" * 16: {"value": Plain()}}}, "the answer, resume: "),
    ({"__resume__": {"a0" * 16: {"value": {"value": [Plain()]}}}}, "the answer, resume.value[0]: "),
    ({"__return__": [Plain()]}, "the result of a @task, result[0]: "),
    ({"__end__": Plain()}, "what the entrypoint returned, result: "),
    ({"__previous__": Plain()}, "what the entrypoint keeps, save: "),
    ({"__start__": {"x": Plain()}}, "the input, input.x: "),
]


@pytest.mark.parametrize(("value", "known_as"), OURS)
def test_what_is_no_key_of_the_state_is_called_what_a_user_knows_it_as(value, known_as):
    with pytest.raises(NotStorable) as refusal:
        dumps(value)
    assert str(refusal.value).startswith(f"Cannot store {known_as}")


PATHS = [
    (object(), ""),
    ({"a": object()}, ".a"),
    ({"two words": object()}, "['two words']"),
    ({3: object()}, "[3]"),
    ([1, [2, object()]], "[1][1]"),
    ((1, (2, object())), "[1][1]"),
    (deque([object()]), "[0]"),
    ({object(): 1}, ".<key <object"),
    ({(1, object()): 1}, ".<key (1, <object"),
    (Order(callback=print), ".callback"),
    ({"order": Order(items=[{"x": (print,)}])}, ".order.items[0].x[0]"),
    ({"order": Unregistered(a=print)}, ".order.a"),
    ([Order(), Order(), Order(callback=object())], "[2].callback"),
    (OrderedDict(a=object()), ".a"),
    (slice(1, object()), ""),
    ({Mute(): 1}, ".<key <Mute, which cannot be shown>>"),
    (MyDict(a=object()), ""),
]


@pytest.mark.parametrize(("value", "path"), PATHS, ids=[path or "top" for _, path in PATHS])
def test_the_path_leads_to_the_culprit(value, path):
    with pytest.raises(NotStorable) as refusal:
        dumps(value)
    assert str(refusal.value).startswith(f"Cannot store checkpoint values{path}")


def test_the_path_begins_with_what_the_caller_calls_the_value():
    with pytest.raises(NotStorable, match=r"Cannot store checkpoint interrupt\.choices\[1\]: a function"):
        dumps({"choices": [1, print]}, path="interrupt")


def test_other_parts_are_not_blamed():
    many = {f"key{number}": [number] * 10 for number in range(50)}
    with pytest.raises(NotStorable, match=r"values\.bad\.deep\[2\]: "):
        dumps(many | {"bad": {"deep": [1, 2, object()]}})


def nested(depth: int, wrap: Any = lambda inner: [inner], inner: Any = 1) -> Any:
    for _ in range(depth):
        inner = wrap(inner)
    return inner


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"k": inner}, lambda inner: [0, {"k": inner}]])
@pytest.mark.parametrize("depth", [400, 1_000, 5_000])
def test_plain_data_that_is_too_deep_is_refused(wrap, depth):
    with pytest.raises(NotStorable, match="nested (more than 200 levels|too) deep"):
        dumps({"tree": nested(depth, wrap)})


@pytest.mark.parametrize(
    "wrap", [lambda inner: (inner,), lambda inner: Order(items=inner), lambda inner: frozenset({inner})]
)
@pytest.mark.parametrize("depth", [101, 400, 5_000])
def test_typed_data_that_is_too_deep_is_refused(wrap, depth):
    inner = 1 if wrap(1) != Order(items=1) else None
    with pytest.raises(NotStorable, match="typed values deep"):
        dumps({"tree": nested(depth, wrap, inner)})


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"k": inner}])
@pytest.mark.parametrize("padding", [0, 10_000])
def test_the_limit_of_depth_is_sharp(wrap, padding):
    deepest = nested(200, wrap, "x" * padding)
    assert loads(dumps(deepest)) == deepest
    with pytest.raises(NotStorable):
        dumps(wrap(deepest))


def test_typed_data_may_be_as_deep_as_the_limit(again):
    again(nested(100, lambda inner: (inner,)))
    again(nested(99, lambda inner: Order(items=[inner])))


def test_wide_data_is_not_deep(again):
    again([[{"a": [number]}] for number in range(1_000)])
    again({str(number): {"x": [[]]} for number in range(1_000)})


def test_a_value_that_contains_itself_is_refused():
    loop: list[Any] = [1]
    loop.append(loop)
    ring: dict[str, Any] = {}
    ring["next"] = (ring,)
    order = Order()
    order.items = [order]
    for value in (loop, ring, order):
        with pytest.raises(NotStorable, match=r"values\.x.*contains itself"):
            dumps({"x": value})


def test_depth_is_no_matter_in_a_thread_with_a_small_stack():
    outcome: list[Any] = []

    def work() -> None:
        deepest = nested(100, lambda inner: (inner,), nested(150))
        outcome.append(loads(dumps(deepest)) == deepest)
        with pytest.raises(NotStorable):
            dumps((deepest,))
        outcome.append(True)

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert outcome == [True, True]


def test_a_value_that_is_too_long_is_refused():
    codec = Codec(max_bytes=100)
    assert codec.loads(codec.dumps("x" * 90)) == "x" * 90
    with pytest.raises(NotStorable, match=r"values: it takes \d+ bytes, and 100 is the limit"):
        codec.dumps("x" * 100)


def test_packing_again_with_care_happens_once_not_at_every_level(again):
    again(nested(90, lambda inner: (inner, bytearray(b"x"))))
    again(nested(90, lambda inner: (inner, "\ud800")))
    again(nested(90, lambda inner: frozenset({inner, "a"})))
    again(nested(90, lambda inner: Order(items=inner, callback="\udfff")))


def test_after_a_refusal_all_is_as_before(again):
    for _ in range(5):
        with pytest.raises(NotStorable):
            dumps([1, (2, {"x": object()})])
        again([1, (2, {"x": (3,)})])


def test_storing_leaves_the_value_alone():
    value = {"a": [bytearray(b"x"), (1, 2)], "o": Order(items=[1])}
    before = repr(value)
    dumps(value)
    assert repr(value) == before
