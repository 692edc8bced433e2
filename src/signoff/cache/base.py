"""BaseCache: the shape of a cache, over keys that are a namespace and a name in it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from signoff.errors import InvalidInput

__all__ = [
    "BaseCache",
    "FullKey",
    "Namespace",
    "Serializer",
    "ValueT",
    "checked_keys",
    "checked_namespaces",
    "checked_pairs",
]

ValueT = TypeVar("ValueT")
T = TypeVar("T")

Namespace = tuple[str, ...]
"""Where a cached value belongs."""

FullKey = tuple[Namespace, str]
"""The namespace of a cached value, and its key there."""


class Serializer(Protocol):
    """What turns values into bytes and back."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """A value as the name of its encoding and its bytes."""
        ...

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value that `dumps_typed` was given."""
        ...


class BaseCache(ABC, Generic[ValueT]):
    """Values with an optional time to live, in seconds. What expired or was cleared is simply not found.

    serde: what turns values into bytes and back; signoff's own serializer if not said.
    """

    _serde: Serializer | None = None

    def __init__(self, *, serde: Serializer | None = None) -> None:
        if serde is not None and not (hasattr(serde, "dumps_typed") and hasattr(serde, "loads_typed")):
            raise InvalidInput(f"serde={serde!r}: give a serializer with dumps_typed and loads_typed, or None.")
        self._serde = serde

    @property
    def serde(self) -> Serializer:
        """What turns values into bytes and back."""
        if self._serde is None:
            from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer

            self._serde = cast(Serializer, JsonPlusSerializer())
        return self._serde

    @abstractmethod
    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """The values of those keys that are there."""

    @abstractmethod
    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        """The values of those keys that are there."""

    @abstractmethod
    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Keep values, each with the seconds it lives, or None for good."""

    @abstractmethod
    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        """Keep values, each with the seconds it lives, or None for good."""

    @abstractmethod
    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget everything in these very namespaces, not below them; in all of them if none are named."""

    @abstractmethod
    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Forget everything in these very namespaces, not below them; in all of them if none are named."""


def checked_keys(keys: Iterable[FullKey]) -> list[FullKey]:
    """The keys as a list, each of them a namespace and a text."""
    listed = _listed("keys", keys, "(('node',), 'k')")
    for key in listed:
        if not isinstance(key, tuple) or len(key) != 2 or not isinstance(key[1], str):
            raise InvalidInput(f"The cache key {key!r} is not a (namespace, key) pair, such as (('node',), 'k').")
        _check_namespace(key[0])
    return listed


def checked_pairs(
    pairs: Mapping[FullKey, tuple[ValueT, float | None]],
) -> Mapping[FullKey, tuple[ValueT, float | None]]:
    """The pairs as they are: a value and its seconds to live for each key."""
    if not isinstance(pairs, Mapping):
        raise InvalidInput(
            f"pairs={pairs!r}: give a dict from keys to values and seconds, {{(('node',), 'k'): (1, 60)}}."
        )
    checked_keys(pairs)
    for key, pair in pairs.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not _is_lifetime(pair[1]):
            raise InvalidInput(f"The cache needs (value, seconds to live or None) for {key!r}, not {pair!r}.")
    return pairs


def checked_namespaces(namespaces: Iterable[Namespace] | None) -> list[Namespace] | None:
    """The namespaces as a list, each of them a tuple of texts; None for all."""
    if namespaces is None:
        return None
    if isinstance(namespaces, str):
        raise InvalidInput(f"namespaces={namespaces!r}: give a list of tuples, such as [({namespaces!r},)].")
    listed = _listed("namespaces", namespaces, "('node',)")
    for namespace in listed:
        _check_namespace(namespace)
    return listed


def _listed(name: str, given: Iterable[T], example: str) -> list[T]:
    if not isinstance(given, Iterable):
        raise InvalidInput(f"{name}={given!r}: give a list, such as [{example}].")
    return list(given)


def _is_lifetime(seconds: object) -> bool:
    try:
        return seconds is None or (isinstance(seconds, int | float) and not math.isnan(seconds))
    except OverflowError:  # too large for any clock
        return False


def _check_namespace(namespace: object) -> None:
    if not isinstance(namespace, tuple) or not all(isinstance(label, str) for label in namespace):
        raise InvalidInput(f"The cache namespace {namespace!r} is not a tuple of strings, such as ('node',).")
