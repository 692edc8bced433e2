"""Which classes an annotation names."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from enum import Enum, IntEnum
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypeVar,
    Union,
)

from langchain_core.messages import AnyMessage, BaseMessage
from pydantic import BaseModel
from typing_extensions import TypeAliasType, TypedDict

from signoff.checkpoint.serde import types_in

if TYPE_CHECKING:
    from nowhere import OnlyForTypeCheckers

T = TypeVar("T")


class Color(Enum):
    RED = 1


class Level(IntEnum):
    LOW = 1


class Point(NamedTuple):
    color: Color
    others: list[Point]


@dataclass
class Leaf:
    level: Level


@dataclass
class Tree:
    left: Tree | None
    leaf: Leaf
    made_from: InitVar[Point]
    shared: ClassVar[int] = 0


class Model(BaseModel):
    tree: Tree
    anything: Any = None
    _private: Color = Color.RED


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclass
class Box(Generic[T]):
    value: T


Bound = TypeVar("Bound", bound=Leaf)
Id = NewType("Id", Point)
Alias = TypeAliasType("Alias", Union[Leaf, "list[Alias]"])


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], operator.add]
    model: Required[Model]
    color: NotRequired[Color | None]
    plain: dict[str, list[int]]


class Child(State):
    extra: Leaf | None


class Incomplete(TypedDict):
    known: Leaf
    unknown: OnlyForTypeCheckers
    also: Annotated[Color, "note"]


def names(annotation: Any) -> set[str]:
    return {cls.__name__ for cls in types_in(annotation)}


def test_plain_types_name_nothing():
    for annotation in (
        int,
        str,
        dict,
        list[int],
        Any,
        None,
        object,
        "text",
        5,
        Callable[[int], str],
        BaseModel,
        Enum,
    ):
        assert types_in(annotation) == []


def test_a_class_names_itself_and_what_its_fields_name():
    assert names(Color) == {"Color"}
    assert names(Point) == {"Point", "Color"}
    assert names(Tree) == {"Tree", "Leaf", "Level", "Point", "Color"}
    assert names(Model) == {"Model", "Tree", "Leaf", "Level", "Point", "Color"}


def test_annotations_are_looked_through():
    assert names(Annotated[Leaf, "note", Color]) == {"Leaf", "Level"}
    assert names(Union[Color, "int", None]) == {"Color"}
    assert names(Color | Leaf | None) == {"Color", "Leaf", "Level"}
    assert names(dict[Color, Sequence[Mapping[str, Leaf]]]) == {"Color", "Leaf", "Level"}
    assert names(Callable[[Color], Leaf]) == {"Color", "Leaf", "Level"}
    assert names(Literal[Color.RED, "x"]) == {"Color"}
    assert names(tuple[Level, ...]) == {"Level"}
    assert names(type[Color]) == {"Color"}


def test_names_for_types_are_looked_behind():
    assert names(Bound) == {"Leaf", "Level"}
    assert names(Id) == {"Point", "Color"}
    assert names(Alias) == {"Leaf", "Level"}


def test_generic_classes_name_themselves_and_their_arguments():
    assert names(Page[Color]) == {"Page[Color]", "Page", "Color"}
    assert names(Box[Color]) == {"Box", "Color"}


def test_a_schema_names_what_its_keys_name():
    assert names(State) == {"Model", "Tree", "Leaf", "Level", "Point", "Color"}
    assert names(Child) == names(State)


def test_messages_are_not_among_them():
    assert names(list[BaseMessage]) == set()


def test_a_name_that_cannot_be_resolved_does_not_hide_the_others():
    assert names(Incomplete) == {"Leaf", "Level", "Color"}


def test_each_class_is_named_once_and_always_in_the_same_order():
    assert [cls.__name__ for cls in types_in(dict[Color, Point])] == ["Color", "Point"]
    assert types_in(State) == types_in(State)
