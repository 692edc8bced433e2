"""Questions: how a program asks, and what it is that was asked."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Generic, final

from typing_extensions import TypeVar

from signoff import _scope
from signoff._reprs import repr_of
from signoff._words.naming import public
from signoff._words.slots import setters_of
from signoff.errors import InvalidInput

__all__ = ["Interrupt", "interrupt"]

ResponseT = TypeVar("ResponseT", default=Any)


@public
@final
@dataclass(frozen=True, slots=True)
class Interrupt(Generic[ResponseT]):
    """An open question: what was asked, and the id to answer it by."""

    value: Any
    id: str = "placeholder-id"
    _: KW_ONLY
    response_schema: dict[str, Any] | None = field(default=None, compare=False)
    """What the answer must look like, as JSON Schema."""
    key: str | None = field(default=None, compare=False)
    """The name that the program gave the question."""
    origin: Any = field(default=None, compare=False, repr=False)
    """Where it was asked."""

    def __init__(
        self,
        value: Any,
        id: str = "placeholder-id",
        *,
        response_schema: dict[str, Any] | None = None,
        key: str | None = None,
        origin: Any = None,
    ) -> None:
        # As a frozen dataclass does it, without looking each slot up by its name: every question is one of these.
        _set_value(self, value)
        _set_id(self, id)
        _set_schema(self, response_schema)
        _set_key(self, key)
        _set_origin(self, origin)


_set_value, _set_id, _set_schema, _set_key, _set_origin = setters_of(Interrupt)


@public
def interrupt(
    value: Any,
    *,
    response_schema: Any = None,
    key: str | None = None,
    update: dict[str, Any] | None = None,
) -> Any:
    """Ask a person, and return the answer.

    The first time, the run is saved and stops here. When an answer comes with `Command(resume=...)`, the node
    starts again from its first line and this call returns the answer.

    Args:
        value: What to ask: anything that can be stored.
        response_schema: What the answer must look like: a pydantic model, TypedDict, dataclass, plain type or JSON
            Schema. A wrong answer is refused, and the right one is returned as this type.
        key: A name that stays with the question when the program asks it in another place or order.
        update: What to write to the state now, as if the node had returned it: saved with the pause.
    """
    if key is not None and not (key and isinstance(key, str)):
        raise InvalidInput(f"The key of a question is a name, such as key='amount', not {repr_of(key)}.")
    return _scope.current("interrupt()").ask(value, response_schema=response_schema, key=key, update=update)
