"""The registry: names, collisions, redefinitions, and who is told."""

import gc
import threading
import weakref
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from signoff.checkpoint.serde import Registry, register, register_types
from signoff.checkpoint.serde.codec import Codec, dumps, loads
from signoff.checkpoint.serde.own import own_types, reading_for
from signoff.checkpoint.serde.registry import REGISTRY
from signoff.errors import InvalidInput, NotStorable, Undecodable


def a_dataclass(name: str, module: str = __name__) -> Any:
    return dataclass(type(name, (), {"__annotations__": {"a": int}, "__module__": module}))


def test_a_class_is_known_by_its_module_and_qualified_name():
    cls = register(a_dataclass("ByPlace"))
    assert REGISTRY.find_class(cls).name == f"{__name__}:ByPlace"
    assert REGISTRY.find_name(f"{__name__}:ByPlace").cls is cls


def test_register_is_a_decorator_with_and_without_arguments():
    @register
    @dataclass
    class Bare:
        a: int

    @register(name="short")
    @dataclass
    class Named:
        a: int

    assert loads(dumps(Bare(1))) == Bare(1)
    assert loads(dumps(Named(1))) == Named(1)
    assert b"short" in dumps(Named(1))


def test_a_name_for_two_classes_is_an_error_that_names_both():
    register(a_dataclass("First"), name="taken")
    with pytest.raises(InvalidInput, match=r"'taken' is taken by .*:First; it cannot be given to .*:Second"):
        register(a_dataclass("Second"), name="taken")


def test_a_class_that_is_defined_again_takes_the_name_and_the_older_one_is_still_stored():
    old = register(a_dataclass("Again"))
    data = dumps(old(1))
    new = register(a_dataclass("Again"))
    assert dumps(old(1)) == dumps(new(1)) == data
    assert type(loads(data)) is new


def an_enum() -> Any:
    class Colour(Enum):
        RED = "red"

    return Colour


def a_named_tuple() -> Any:
    class Point(NamedTuple):
        x: int = 0

    return Point


def a_slotted() -> Any:
    @dataclass(slots=True, frozen=True)
    class Slotted:
        a: int = 0

    return Slotted


def a_model() -> Any:
    class Model(BaseModel):
        a: int = 0

    return Model


def an_exception() -> Any:
    class Failed(Exception):
        pass

    return Failed


@pytest.mark.parametrize("make", [an_enum, a_named_tuple, a_slotted, a_model, an_exception])
def test_whoever_reads_for_a_graph_gets_the_classes_of_the_graph(make):
    classes = [register(make()) for _ in range(3)]
    for cls in classes:
        data = dumps([cls.RED if issubclass(cls, Enum) else cls()])
        with reading_for(own_types([cls])):
            assert type(loads(data)[0]) is cls
        assert type(loads(data)[0]) is classes[-1]


def test_encode_and_decode_of_an_older_class_stay_its_own():
    def make(factor: int) -> Any:
        class Price:
            def __init__(self, cents: int) -> None:
                self.cents = cents

        return register(Price, encode=lambda price: price.cents * factor, decode=lambda cents: Price(cents // factor))

    old, _ = make(1), make(100)
    with reading_for(own_types([old])):
        assert loads(dumps(old(5))).cents == 5


def test_a_name_of_its_own_is_taken_over_like_any_other():
    old, new = (register(a_dataclass("Order"), name="an order") for _ in range(2))
    data = dumps(old(1))
    assert b"an order" in data
    with reading_for(own_types([old])):
        assert type(loads(data)) is old
    assert type(loads(data)) is new


def test_an_older_class_goes_when_nobody_has_it_any_more():
    refs = []
    for _ in range(100):
        cls = register(a_dataclass("Fleeting"))
        dumps(cls(1))
        refs.append(weakref.ref(cls))
    gc.collect()
    assert [ref() for ref in refs if ref() is not None] == [cls]


def test_a_class_that_moved_is_found_under_its_old_name():
    cls = a_dataclass("Moved")
    register(cls, name="old.place:Moved")
    data = dumps(cls(1))
    register(cls)
    assert loads(data) == cls(1)
    assert b"old.place" not in dumps(cls(1))


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.cents == other.cents


class Basket(dict):
    pass


def test_a_class_may_bring_its_own_encode_and_decode(again):
    register(Money, encode=lambda money: money.cents, decode=Money)
    register(Basket, encode=dict, decode=Basket)
    again({"price": Money(5)})
    again([Basket(apple=Money(1))])


def test_a_decode_that_makes_something_else_is_refused():
    class Wrong:
        pass

    register(Wrong, encode=lambda obj: 1, decode=lambda state: state)
    with pytest.raises(Undecodable, match=r"decode\(\) of .*Wrong returned int"):
        loads(dumps(Wrong()))


def test_an_encode_that_fails_refuses_the_value():
    class Broken:
        pass

    register(Broken, encode=lambda obj: obj.nothing, decode=lambda state: Broken())
    with pytest.raises(NotStorable, match=r"values\.b: AttributeError"):
        dumps({"b": Broken()})


@pytest.mark.parametrize("wrong", [len, 5, "Order", list[int]])
def test_only_classes_can_be_registered(wrong):
    with pytest.raises(InvalidInput, match=r"register\(\) takes a class"):
        register(wrong)


def test_encode_without_decode_is_refused():
    with pytest.raises(InvalidInput, match="needs both `encode` and `decode`"):
        register(Money, encode=lambda money: 1)


@pytest.mark.parametrize("cls", [Basket, dict, type(threading.Lock()), type(lambda: 1), threading.local])
def test_a_class_whose_attributes_do_not_say_it_all_needs_encode_and_decode(cls):
    with pytest.raises(InvalidInput, match="needs `encode` and `decode`"):
        register(cls)


def test_what_was_refused_is_taken_once_it_is_registered():
    cls = a_dataclass("Late")
    with pytest.raises(NotStorable):
        dumps(cls(1))
    register(cls)
    assert loads(dumps(cls(1))) == cls(1)


def test_a_class_may_be_registered_after_its_bytes_were_written():
    cls = register(a_dataclass("Elsewhere"))
    data = dumps(cls(1))
    empty = Codec(Registry())
    with pytest.raises(Undecodable, match=r"Elsewhere.* is not registered here\. Call `register\(Elsewhere\)`"):
        empty.loads(data)
    assert loads(data) == cls(1)


def test_a_class_that_gets_a_name_later_is_found_by_its_old_one_too():
    cls = a_dataclass("Named")
    unnamed, named = Registry(), Registry()
    unnamed.register(cls)
    named.register(cls, name="named")
    data = Codec(unnamed).dumps(cls(1))
    assert Codec(named).loads(data) == Codec(Registry(named)).loads(data) == cls(1)
    assert Codec(named).dumps(cls(1)) != data


def test_the_name_of_a_class_comes_before_the_place_of_another():
    old, new = a_dataclass("Moved"), a_dataclass("MovedHere")
    registry = Registry()
    registry.register(old, name="old")
    registry.register(new, name=f"{__name__}:Moved")
    plain = Registry()
    plain.register(old)
    assert Codec(registry).loads(Codec(plain).dumps(old(1))) == new(1)


def test_what_was_stored_by_attributes_is_not_given_to_a_decoder():
    cls = a_dataclass("Coded")
    plain, coded = Registry(), Registry()
    plain.register(cls)
    coded.register(cls, name="coded", encode=lambda one: 1, decode=lambda stored: cls(stored))
    with pytest.raises(Undecodable, match="not registered here"):
        Codec(coded).loads(Codec(plain).dumps(cls(1)))


def test_a_renamed_class_says_how_it_is_found_again():
    plain, renamed = Registry(), Registry()
    cls, new = a_dataclass("Before"), a_dataclass("After")
    plain.register(cls)
    data = Codec(plain).dumps(cls(1))
    with pytest.raises(Undecodable, match=r"If it was renamed or moved, call `register\(\.\.\., name=\.\.\.\)`"):
        Codec(renamed).loads(data)
    renamed.register(new, name=f"{__name__}:Before")
    assert Codec(renamed).loads(data) == new(1)


def test_a_registry_of_ones_own_sees_that_of_its_parent_but_not_the_other_way():
    parent = Registry()
    codec, parents_codec = Codec(Registry(parent)), Codec(parent)
    shared, own = a_dataclass("Shared"), a_dataclass("Own")
    parent.register(shared)
    assert codec.loads(codec.dumps(shared(1))) == shared(1)
    child = Registry(parent)
    child.register(own)
    with pytest.raises(NotStorable):
        parents_codec.dumps(own(1))
    assert Codec(child).loads(Codec(child).dumps([own(1), shared(2)])) == [own(1), shared(2)]


def test_types_of_a_schema_are_registered_once_and_keep_what_was_said_by_hand():
    cls = register(a_dataclass("ByHand"), name="by-hand")
    register_types([cls, Enum("FromSchema", "A", module=__name__)])
    assert REGISTRY.find_class(cls).name == "by-hand"
    assert REGISTRY.find_name(f"{__name__}:FromSchema") is not None


def test_types_that_cannot_be_registered_by_themselves_are_left_out():
    register_types([int, dict, Basket, object])
    assert REGISTRY.find_class(dict) is None


def test_registering_while_other_threads_store_and_load():
    cls = register(a_dataclass("Busy"))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(300):
                assert loads(dumps([(cls(number),), {"x": cls(1)}])) == [(cls(number),), {"x": cls(1)}]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(50):
        register(a_dataclass(f"Other{number}"))
    for thread in threads:
        thread.join()
    assert errors == []
