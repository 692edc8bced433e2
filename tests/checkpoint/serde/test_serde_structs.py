"""Enums, NamedTuples, dataclasses and plain classes."""

from collections import Counter, OrderedDict, namedtuple
from dataclasses import InitVar, dataclass, field
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest
from pydantic import BaseModel

from signoff.checkpoint.serde import register
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.checkpoint.serde.unread import Unread, showing
from signoff.errors import NotStorable, Undecodable

T = TypeVar("T")


@register
class Color(Enum):
    RED = "red"
    CRIMSON = "red"  # noqa: PIE796 - an alias
    GREEN = (0, 255, 0)
    OBJECT = object()


@register
class Size(IntEnum):
    SMALL = 1


@register
class Mood(StrEnum):
    GOOD = auto()


@register
class Old(str, Enum):  # noqa: UP042 - as it was done before StrEnum
    STYLE = "style"


@register
class Rights(Flag):
    READ = auto()
    WRITE = auto()


@register
class Bits(IntFlag):
    ONE = 1


ENUMS = [
    *Color,
    Size.SMALL,
    Mood.GOOD,
    Old.STYLE,
    Rights.READ,
    Rights.READ | Rights.WRITE,
    Rights(0),
    Bits(9),
]


@pytest.mark.parametrize("member", ENUMS, ids=lambda value: type(value).__name__)
def test_a_member_of_an_enum_is_the_very_same_again(again, member):
    back = again(member)
    # A flag with bits that have no name is made anew each time it is asked for.
    assert back is member if member in list(type(member)) else (back == member and type(back) is type(member))
    assert again({member: [member]}) == {member: [member]}


@register
class Point(NamedTuple):
    x: int
    y: Any = 0


Pair = register(namedtuple("Pair", "left right"))


def test_a_named_tuple_comes_back(again):
    again(Point(1, (2, 3)))
    again(Pair("a", Point(1)))


@register
@dataclass
class Item:
    name: str
    tags: list[Any] = field(default_factory=list)


@register
@dataclass(frozen=True)
class Frozen:
    item: Item
    count: int = 0


@register
@dataclass(slots=True)
class Slotted:
    a: Any
    b: Any = None


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    a: Any


@register
@dataclass
class Derived(Item):
    total: int = field(init=False)
    constant: int = field(init=False, default=7)
    factor: InitVar[int] = 2
    kind: ClassVar[str] = "derived"

    def __post_init__(self, factor: int) -> None:
        self.total = len(self.name) * factor


@register
@dataclass
class Box(Generic[T]):
    value: T


@register
@dataclass
class Lazy:
    numbers: list[int]

    @cached_property
    def sum(self) -> int:
        return sum(self.numbers)


@register
@dataclass(slots=True)
class Base:
    __hidden: int = 1


@register
@dataclass(slots=True)
class Extended(Base):
    more: Any = None


DATACLASSES = [
    Item("a", [1, (2,)]),
    Frozen(Item("b"), 3),
    Slotted(1, Slotted(2, {3})),
    Both(a=[Both(a=None)]),
    Derived("four", factor=3),
    Box({"x": Box(1)}),
    Box[int](3),
    Lazy([1, 2]),
    Extended(5, bytearray(b"x")),
]


@pytest.mark.parametrize("value", DATACLASSES, ids=lambda value: type(value).__name__)
def test_a_dataclass_comes_back(again, value):
    loaded = again(value)
    assert repr(loaded) == repr(value)


def test_fields_that_init_does_not_take_come_back(again):
    order = Derived("four", factor=3)
    order.constant = 8
    assert (again(order).total, again(order).constant) == (12, 8)


def test_an_attribute_beside_the_fields_comes_back(again):
    item = Item("a")
    item.note = ("set", "later")
    assert again(item).note == ("set", "later")


def test_a_cached_property_is_computed_again(again):
    lazy = Lazy([1, 2])
    assert lazy.sum == 3
    loaded = again(lazy)
    assert "sum" not in loaded.__dict__
    assert loaded.sum == 3


@register
class Plain:
    def __init__(self, a: Any) -> None:
        self.a = a
        self._b = "private"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.__dict__ == other.__dict__


@register
class Slots:
    __slots__ = ("__private", "a", "unset")

    def __init__(self, a: Any) -> None:
        self.a = a
        self.unset = None
        self.__private = a

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slots) and (self.a, self.__private) == (other.a, other.__private)


def test_a_registered_plain_class_comes_back_by_its_attributes(again):
    again(Plain({"x": Plain(1)}))
    again(Slots((1, 2)))


@register
@dataclass
class OnSlots(Slots):
    amount: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OnSlots) and (self.amount, self.a) == (other.amount, other.a)


def test_a_dataclass_has_the_slots_of_its_base_too(again):
    order = OnSlots(5)
    order.a = [1]
    again(order)


class Journal:
    """Counts what runs while a value is loaded."""

    calls: ClassVar[list[str]] = []


@register
@dataclass
class Noisy:
    a: int

    def __new__(cls, *args: Any, **kwargs: Any) -> "Noisy":
        Journal.calls.append("new")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        Journal.calls.append("post_init")

    def __setattr__(self, name: str, value: Any) -> None:
        Journal.calls.append("setattr")
        super().__setattr__(name, value)


def test_loading_runs_no_code_of_the_class():
    data = dumps(Noisy(1))
    Journal.calls.clear()
    loaded = loads(data)
    assert loaded.a == 1
    assert Journal.calls == []


def define(namespace: dict[str, Any], **options: Any) -> type:
    """The class `Changing` as it stands in some version of a program."""
    annotations = namespace.pop("__annotations__")
    cls = type("Changing", (), {"__annotations__": annotations, "__module__": __name__, **namespace})
    return register(dataclass(**options)(cls))


@pytest.mark.parametrize("options", [{}, {"slots": True}, {"frozen": True}])
def test_a_class_may_gain_fields_with_defaults_and_lose_fields(options):
    old = define({"__annotations__": {"kept": int, "lost": int}}, **options)
    data = dumps(old(1, 2))
    defaults = {"plain": "new", "made": field(default_factory=list)}
    new = define({"__annotations__": {"kept": int, "plain": str, "made": list}, **defaults}, **options)
    assert loads(data) == new(1, "new", [])
    assert not hasattr(loads(data), "lost")


def test_a_class_that_gained_a_field_without_default_says_so():
    old = define({"__annotations__": {"kept": int}})
    data = dumps(old(1))
    define({"__annotations__": {"kept": int, "needed": int}})
    with pytest.raises(Undecodable, match=r"Changing\.needed was not stored and has no default"):
        loads(data)


def test_an_enum_that_lost_a_member_says_which():
    old = register(Enum("Shade", "RED BLUE", module=__name__))
    data = dumps(old.BLUE)
    register(Enum("Shade", "RED NAVY", module=__name__))
    with pytest.raises(
        Undecodable, match="A stored Shade cannot be read: it has no member 'BLUE'. The class has changed"
    ):
        loads(data)


def test_a_named_tuple_that_needs_an_item_which_was_not_stored_says_so():
    old = register(namedtuple("Needing", "a b", module=__name__))
    data = dumps(old(1, 2))
    register(namedtuple("Needing", "a c", module=__name__))
    with pytest.raises(Undecodable, match=r"A stored Needing cannot be read: Needing\.c was not stored"):
        loads(data)


def test_items_of_a_named_tuple_that_are_reordered_or_removed_stay_themselves():
    old = register(namedtuple("Payment", "to amount note", module=__name__))
    data = dumps(old("ana", 120, "rent"))
    new = register(namedtuple("Payment", "amount to", module=__name__))
    assert loads(data) == new(amount=120, to="ana")


def test_renumbered_flags_stay_themselves():
    old = register(Flag("Rights", "READ WRITE ADMIN", module=__name__))
    data = dumps(old.READ | old.WRITE)
    new = register(Flag("Rights", "ADMIN READ WRITE", module=__name__))
    assert loads(data) is new.READ | new.WRITE


def test_a_flag_that_lost_a_member_says_which():
    data = dumps(register(Flag("Fading", "READ WRITE", module=__name__)).WRITE)
    register(Flag("Fading", "READ", module=__name__))
    with pytest.raises(Undecodable, match="A stored Fading cannot be read: it has no member 'WRITE'"):
        loads(data)


def test_a_member_of_an_enum_that_has_become_a_flag_is_the_member_of_that_name():
    data = dumps(register(Enum("Mode", "READ WRITE", module=__name__)).WRITE)
    mode = register(Flag("Mode", "READ WRITE", module=__name__))
    assert loads(data) is mode.WRITE


def test_bits_of_a_flag_that_have_no_name_come_back(again):
    rights = register(IntFlag("Bits", "READ WRITE", module=__name__))
    assert again(rights(9)) == rights(9)
    assert again(rights(0)) is rights(0)


class Turning:
    """The kinds that a class can be, with the fields `to` and `amount`."""

    @staticmethod
    def named_tuple():
        return namedtuple("Order", "to amount", module=__name__)

    @staticmethod
    def data_class():
        return dataclass(type("Order", (), {"__annotations__": {"to": str, "amount": int}, "__module__": __name__}))

    @staticmethod
    def model():
        annotations = {"to": str, "amount": int, "hint": str}
        namespace = {"__annotations__": annotations, "__module__": __name__, "__qualname__": "Order", "hint": ""}
        return type(BaseModel)("Order", (BaseModel,), namespace)

    @staticmethod
    def plain_class():
        return type("Order", (), {"__init__": lambda self, **fields: vars(self).update(fields), "__module__": __name__})

    @staticmethod
    def class_with_slots():
        def init(self, to, amount):
            self.to, self.amount = to, amount

        return type("Order", (), {"__slots__": ("to", "amount"), "__init__": init, "__module__": __name__})


KINDS = ["named_tuple", "data_class", "model", "plain_class", "class_with_slots"]


@pytest.mark.parametrize("old", KINDS)
@pytest.mark.parametrize("new", KINDS)
def test_a_class_that_turned_into_one_of_another_kind_has_all_its_fields(old, new):
    data = dumps(register(getattr(Turning, old)())(to="ana", amount=120))
    cls = register(getattr(Turning, new)())
    found = loads(data)
    assert type(found) is cls
    assert (found.to, found.amount) == ("ana", 120)


@pytest.mark.parametrize("old", KINDS)
def test_a_class_that_turned_into_something_else_is_named(old):
    data = dumps(register(getattr(Turning, old)())(to="ana", amount=120))
    register(Enum("Order", "SMALL LARGE", module=__name__))
    with pytest.raises(Undecodable, match="A stored Order cannot be read.*The class has changed since"):
        loads(data)


def test_items_of_a_set_that_have_become_equal_are_not_lost():
    old = define({"__annotations__": {"kept": int, "lost": int}}, frozen=True)
    data = dumps({old(1, 1), old(1, 2)})
    define({"__annotations__": {"kept": int}}, frozen=True)
    with pytest.raises(Undecodable, match="items of a set that were not equal are equal now"):
        loads(data)


def data_class(*names):
    return define({"__annotations__": dict.fromkeys(names, int)}, frozen=True)


def named_tuple(*names):
    return register(namedtuple("Order", names, module=__name__))  # noqa: PYI024 - made again and again


def frozen_model(*names):
    settings = {"model_config": {"frozen": True}, "__module__": __name__}
    return register(type("Order", (BaseModel,), {"__annotations__": dict.fromkeys(names, int), **settings}))


def wrapped(cls, **fields):
    return {"prices": {(7, cls(**fields, lost=1)): 70, (7, cls(**fields, lost=2)): 90}}


@pytest.mark.parametrize("form", [dict, OrderedDict, Counter])
@pytest.mark.parametrize("kind", [data_class, named_tuple, frozen_model])
def test_keys_of_a_dict_that_have_become_equal_are_not_lost(kind, form):
    old = kind("kept", "lost")
    data = dumps([form({old(kept=1, lost=1): 70, old(kept=1, lost=2): 90})])
    kind("kept")
    with pytest.raises(Undecodable, match="Keys of a stored dict that were not equal are equal now"):
        loads(data)


@pytest.mark.parametrize("kind", [data_class, named_tuple, frozen_model])
def test_keys_that_have_become_equal_are_all_shown_to_whoever_only_looks(kind):
    data = dumps(wrapped(kind("kept", "lost"), kept=1))
    new = kind("kept")
    with showing():
        found = loads(data)["prices"]
    assert isinstance(found, Unread)
    assert found.fields == [((7, new(kept=1)), 70), ((7, new(kept=1)), 90)]


@pytest.mark.parametrize("kind", [data_class, named_tuple, frozen_model])
def test_keys_that_have_lost_a_field_and_still_differ_are_read(kind):
    old = kind("kept", "lost")
    data = dumps({old(kept=1, lost=7): "a", old(kept=2, lost=7): "b"})
    new = kind("kept")
    assert loads(data) == {new(kept=1): "a", new(kept=2): "b"}


def test_members_that_have_become_one_do_not_lose_items_of_a_dict():
    old = register(Enum("Price", {"LOW": 1, "HIGH": 2}, module=__name__))
    data = dumps({old.LOW: 70, old.HIGH: 90})
    register(Enum("Price", {"LOW": 1, "HIGH": 1}, module=__name__))
    with pytest.raises(Undecodable, match="Keys of a stored dict"):
        loads(data)


@register
class Draft:
    __slots__ = ("text", "sent_at")


@register
@dataclass
class Measured:
    size: int
    result: int = field(init=False)


@register
@dataclass(slots=True)
class MeasuredInSlots:
    size: int
    result: int = field(init=False)


@pytest.mark.parametrize("value", [Measured(3), MeasuredInSlots(3)], ids=["dict", "slots"])
def test_a_field_that_was_never_set_is_not_set_when_it_comes_back(value):
    found = loads(dumps(value))
    assert found.size == 3
    assert not hasattr(found, "result")


def test_a_slot_that_was_never_set_is_not_set_when_it_comes_back():
    draft = Draft()
    draft.text = "hello"
    found = loads(dumps(draft))
    assert found.text == "hello"
    assert not hasattr(found, "sent_at")


def test_a_named_tuple_may_gain_items_with_defaults():
    old = register(namedtuple("Growing", "a", module=__name__))
    data = dumps(old(1))
    new = register(namedtuple("Growing", "a b", defaults=["b"], module=__name__))
    assert loads(data) == new(1, "b")


def test_a_member_that_is_gone_cannot_be_loaded():
    register(Enum("Going", {"A": 1, "B": 2}, module=__name__))
    data = dumps(register(Enum("Going", {"A": 1, "B": 2}, module=__name__)).B)
    register(Enum("Going", {"A": 1}, module=__name__))
    with pytest.raises(Undecodable):
        loads(data)


@register
class Coining(Enum):
    KNOWN = 1

    @classmethod
    def _missing_(cls, value):
        member = object.__new__(cls)
        member._name_, member._value_ = f"COINED_{value}", value
        return member


def test_a_member_made_up_on_the_way_is_refused():
    with pytest.raises(NotStorable, match="is not one of the members that Coining was defined with"):
        dumps(Coining(5))


def test_renumbered_members_stay_themselves():
    data = dumps(register(Enum("Numbered", {"A": 1, "B": 2}, module=__name__)).B)
    new = register(Enum("Numbered", {"B": 1, "A": 2}, module=__name__))
    assert loads(data) is new.B


@register
class Open(NamedTuple):
    a: int


@register
class OpenWithDict(Open):
    pass


def test_a_named_tuple_with_attributes_of_its_own_is_refused():
    value = OpenWithDict(1)
    value.note = "lost"
    with pytest.raises(NotStorable, match=r"has attributes besides its items: \['note'\]"):
        dumps(value)
