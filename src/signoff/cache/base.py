"""BaseCache: the shape of a cache, over keys that are a namespace and a name in it."""

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
    "check_keys",
    "check_namespaces",
    "check_pairs",
]

ValueT = TypeVar("ValueT")

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


def check_keys(keys: Iterable[FullKey]) -> None:
    """Refuse keys that are not a namespace and a text."""
    for key in keys:
        if not isinstance(key, tuple) or len(key) != 2 or not isinstance(key[1], str):
            raise InvalidInput(f"The cache key {key!r} is not a (namespace, key) pair, such as (('node',), 'k').")
        _check_namespace(key[0])


def check_pairs(pairs: Mapping[FullKey, tuple[Any, float | None]]) -> None:
    """Refuse what is not a value and its seconds to live for each key."""
    check_keys(pairs)
    for key, pair in pairs.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2
        if not is_pair or not isinstance(pair[1], int | float | None) or pair[1] != pair[1]:  # NaN is no time
            raise InvalidInput(f"The cache needs (value, seconds to live or None) for {key!r}, not {pair!r}.")


def check_namespaces(namespaces: Iterable[Namespace]) -> None:
    """Refuse namespaces that are not tuples of texts."""
    if isinstance(namespaces, str):
        raise InvalidInput(f"namespaces={namespaces!r}: give a list of tuples, such as [({namespaces!r},)].")
    for namespace in namespaces:
        _check_namespace(namespace)


def _check_namespace(namespace: object) -> None:
    if not isinstance(namespace, tuple) or not all(isinstance(label, str) for label in namespace):
        raise InvalidInput(f"The cache namespace {namespace!r} is not a tuple of strings, such as ('node',).")
