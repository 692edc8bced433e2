"""pydantic models."""

from enum import Enum
from functools import cached_property
from typing import Any, Generic, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, field_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic.v1 import BaseModel as ModelOfV1

from signoff.checkpoint.serde import register
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.errors import NotStorable, Undecodable

T = TypeVar("T")
U = TypeVar("U")


@register
class Kind(Enum):
    A = "a"


@register
class Order(BaseModel):
    id: int
    kind: Kind = Kind.A
    lines: list["Order"] = Field(default_factory=list)
    payload: Any = None


@register
class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    amount: int = Field(alias="theAmount")


@register
class Roomy(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 0


@register
class Secretive(BaseModel):
    a: int = 0
    _token: str = PrivateAttr(default="none")
    _unset: int = PrivateAttr()


@register
class Page(BaseModel, Generic[T]):
    items: list[T]


@register
class Two(BaseModel, Generic[T, U]):
    first: T
    second: U


@register
class Names(RootModel[list[str]]):
    pass


@register
class Derived(Order):
    more: dict[str, Any] = {}


@register
@pydantic_dataclass
class Checked:
    a: int
    b: list[Order]


def secretive() -> Secretive:
    model = Secretive(a=1)
    model._token = "t"
    model._unset = 5
    return model


MODELS = [
    Order(id=1),
    Order(id=1, kind=Kind.A, lines=[Order(id=2)], payload=(1, {2})),
    Strict(theAmount=3),
    Roomy(a=1),
    Roomy(a=1, b=2, c=(3,)),
    Secretive(),
    secretive(),
    Page[int](items=[1]),
    Page[Order](items=[Order(id=3)]),
    Page(items=["any"]),
    Two[str, Order](first="a", second=Order(id=4)),
    Two[Any, None](first=(1,), second=None),
    Names(["a", "b"]),
    Derived(id=5, more={"x": Order(id=6)}),
    Order.model_construct(id="not an int"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda value: type(value).__name__)
def test_a_model_comes_back_with_all_that_pydantic_knows_of_it(again, model):
    loaded = again(model)
    assert loaded.model_fields_set == model.model_fields_set
    assert loaded.__dict__ == model.__dict__
    assert loaded.model_extra == model.model_extra
    assert loaded.__pydantic_private__ == model.__pydantic_private__
    assert repr(loaded) == repr(model)


def test_a_model_that_came_back_works_on(again):
    loaded = again(Order(id=1))
    loaded.id = 2
    assert loaded.model_dump() == {"id": 2, "kind": Kind.A, "lines": [], "payload": None}
    assert loaded.model_copy(update={"id": 3}).id == 3
    private = again(secretive())
    private._token = "changed"
    assert private._token == "changed"


def test_a_pydantic_dataclass_comes_back(again):
    again(Checked(1, [Order(id=1)]))


@register
class Noisy(BaseModel):
    a: int

    @field_validator("a")
    @classmethod
    def check(cls, value: int) -> int:
        calls.append("validator")
        return value

    def model_post_init(self, context: Any) -> None:
        calls.append("post_init")


calls: list[str] = []


def test_loading_runs_no_validator():
    data = dumps(Noisy(a=1))
    calls.clear()
    assert loads(data).a == 1
    assert calls == []


@register
class Caching(BaseModel):
    numbers: list[int]

    @cached_property
    def sum(self) -> int:
        return sum(self.numbers)


def test_a_cached_property_is_computed_again(again):
    model = Caching(numbers=[1, 2])
    assert model.sum == 3
    assert again(model).sum == 3


@register
class Holding(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    ok: int = 1
    lock: Any = None
    _handle: Any = PrivateAttr(default=None)


def test_what_a_model_cannot_take_along_is_refused_with_its_path():
    with pytest.raises(NotStorable, match=r"values\.order\.lock: a function \("):
        dumps({"order": Holding(lock=lambda: 1)})
    holding = Holding()
    holding._handle = object()
    with pytest.raises(NotStorable, match=r"values\[0\]\._handle: an instance of builtins\.object"):
        dumps([holding])


def test_a_model_without_a_value_for_a_field_is_refused():
    with pytest.raises(NotStorable, match=r"has no value for \['id'\]"):
        dumps(Order.model_construct())


def test_a_model_with_attributes_that_are_not_fields_is_refused():
    order = Order(id=1)
    order.__dict__["note"] = "lost"
    with pytest.raises(NotStorable, match=r"has attributes besides its fields: \['note'\]"):
        dumps(order)


def version(**fields: Any) -> type[BaseModel]:
    """The model `Changing` as it stands in some version of a program."""
    annotations = {name: kind for name, (kind, _) in fields.items()}
    defaults = {name: default for name, (_, default) in fields.items() if default is not ...}
    body = {"__annotations__": annotations, "__module__": __name__, "__qualname__": "Changing", **defaults}
    return register(type("Changing", (BaseModel,), body))


def test_a_model_may_gain_fields_with_defaults_and_lose_fields():
    data = dumps(version(kept=(int, ...), lost=(int, ...))(kept=1, lost=2))
    new = version(first=(list, Field(default_factory=list)), kept=(int, ...))
    assert loads(data) == new(kept=1)
    assert list(loads(data).__dict__) == ["first", "kept"]


def test_a_model_that_gained_a_field_without_default_says_so():
    data = dumps(version(kept=(int, ...))(kept=1))
    version(kept=(int, ...), needed=(int, ...))
    with pytest.raises(Undecodable, match=r"Changing\.needed was not stored and has no default"):
        loads(data)


class Unknown(BaseModel):
    a: int = 1


def test_a_model_that_is_not_registered_is_refused_with_the_remedy():
    why = r"values\.m: .*Unknown is a pydantic model that is not registered. Call `register\(Unknown\)`"
    with pytest.raises(NotStorable, match=why):
        dumps({"m": Unknown()})
    with pytest.raises(NotStorable, match="pydantic model that is not registered"):
        dumps(Page[Unknown](items=[]))


def version_1(fields, **defaults):
    """The class `Old` of pydantic 1, as it stands in some version of a program."""
    namespace = {"__annotations__": fields, "__module__": __name__, "__qualname__": "Old", **defaults}
    return register(type(ModelOfV1)("Old", (ModelOfV1,), namespace))


def test_a_model_of_pydantic_1_may_gain_fields_with_defaults_and_lose_fields():
    data = dumps(version_1({"kept": int, "lost": int})(kept=1, lost=2))
    new = version_1({"kept": int, "plain": str}, plain="new")
    assert loads(data) == new(kept=1, plain="new")
    assert not hasattr(loads(data), "lost")


def test_a_model_of_pydantic_1_that_gained_a_field_without_default_says_so():
    data = dumps(version_1({"kept": int})(kept=1))
    version_1({"kept": int, "needed": int})
    with pytest.raises(Undecodable, match=r"Old\.needed was not stored and has no default"):
        loads(data)
