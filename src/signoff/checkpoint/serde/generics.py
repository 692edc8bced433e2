"""Instances of a generic pydantic model with arguments: `Page[Order]`, where `Page` is registered.

pydantic makes `Page[Order]` a class of its own, on demand. So its parts are stored, and the class is asked
for again.
"""

from collections.abc import Callable
from typing import Any

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.care import NeedsCare
from signoff.checkpoint.serde.kinds import is_pydantic
from signoff.checkpoint.serde.models import model_plan
from signoff.checkpoint.serde.refusals import expect, outgrown, unfit, unknown_class
from signoff.checkpoint.serde.registry import Registry
from signoff.checkpoint.serde.structs import shown_fields
from signoff.checkpoint.serde.unread import Unread, is_showing
from signoff.checkpoint.serde.wire import Encode, Load, ext
from signoff.errors import Undecodable

__all__ = ["decode_model", "encoder_for"]

_PLAIN: dict[str, Any] = {kind.__name__: kind for kind in (bool, bytes, dict, float, int, list, set, str, tuple)}
_PLAIN |= {"None": None, "Any": Any}

Find = Callable[[str], type | None]


def encoder_for(cls: Any, registry: Registry) -> Encode | None:
    """[name of the generic model, names of its arguments, state], if all of them have names."""
    generic = getattr(cls, "__pydantic_generic_metadata__", None)
    if not is_pydantic(cls) or not generic or not generic["args"]:
        return None
    names = [_name(part, registry) for part in (generic["origin"], *generic["args"])]
    if None in names:
        return None
    take = model_plan(cls).take
    return lambda obj, pack: ext(wire.GENERIC_MODEL, pack([names[0], names[1:], take(obj)]))


def _name(part: Any, registry: Registry) -> str | None:
    for name, kind in _PLAIN.items():
        if kind is part:
            return name
    entry = registry.find_class(part) if isinstance(part, type) else None
    return entry.name if entry else None


def decode_model(payload: bytes, load: Load, find: Find) -> Any:
    """The model of a payload."""
    origin, names, state = load(payload)
    try:
        return _made(origin, names, state, find)
    except Undecodable as error:
        if not is_showing():
            raise
        return Unread(f"{origin}[{', '.join(map(str, names))}]", shown_fields(state), error)


def _made(origin: Any, names: Any, state: Any, find: Find) -> Any:
    generic: Any = _known(expect(origin, str), find)
    arguments = tuple(_argument(expect(name, str), find) for name in expect(names, list))
    if not is_pydantic(generic):
        raise outgrown(generic, "it is not a generic pydantic model any more")
    try:
        return model_plan(generic[arguments]).make(state)
    except (Undecodable, NeedsCare):
        raise
    except Exception as error:
        raise unfit(generic, error) from error


def _argument(name: str, find: Find) -> Any:
    return _PLAIN[name] if name in _PLAIN else _known(name, find)


def _known(name: str, find: Find) -> type:
    cls = find(name)
    if cls is None:
        raise unknown_class(name)
    return cls
