"""BaseStore: the shape of a store. A backend writes `batch` and `abatch`; everything else is here."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from signoff.errors import InvalidInput
from signoff.store.base.items import Item, SearchItem
from signoff.store.base.namespaces import NamespacePath, as_namespace, validate_namespace
from signoff.store.base.ops import (
    NOT_PROVIDED,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
)

__all__ = ["BaseStore", "TTLNotSupported"]


class TTLNotSupported(InvalidInput, NotImplementedError):
    """A put asked for a time to live from a store that keeps items for good; nothing was written."""


class BaseStore(ABC):
    """Values kept by namespace and key, found again by field or by meaning, for as long as wanted."""

    supports_ttl: bool = False
    ttl_config: TTLConfig | None = None

    __slots__ = ("__weakref__",)

    @abstractmethod
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""

    @abstractmethod
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""

    def get(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item with this key, or None. `refresh_ttl` says whether its time to live starts anew."""
        return cast(Item | None, self.batch([self._get_op(namespace, key, refresh_ttl)])[0])

    def search(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Items in a namespace and below it: those the filter lets pass, the nearest to the query first."""
        op = self._search_op(namespace_prefix, filter, limit, offset, query, refresh_ttl)
        return cast(list[SearchItem], self.batch([op])[0])

    def put(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Write an item over what was there.

        index: the paths to embed for this item; False for none; None for those of the store's index.
        ttl: minutes the item lives; None for good; the store's default if left out.
        """
        self.batch([self._put_op(namespace, key, value, index, ttl)])

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        """Remove an item; nothing happens if it is not there."""
        self.batch([PutOp(as_namespace(namespace), _as_key(key), None)])

    def list_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """The namespaces that hold items, sorted, cut to `max_depth` labels; "*" in a path is any label."""
        op = ListNamespacesOp(_conditions(prefix, suffix), max_depth, limit, offset)
        return cast(list[tuple[str, ...]], self.batch([op])[0])

    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item with this key, or None. `refresh_ttl` says whether its time to live starts anew."""
        return cast(Item | None, (await self.abatch([self._get_op(namespace, key, refresh_ttl)]))[0])

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Items in a namespace and below it: those the filter lets pass, the nearest to the query first."""
        op = self._search_op(namespace_prefix, filter, limit, offset, query, refresh_ttl)
        return cast(list[SearchItem], (await self.abatch([op]))[0])

    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Write an item over what was there; the arguments are those of `put`."""
        await self.abatch([self._put_op(namespace, key, value, index, ttl)])

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """Remove an item; nothing happens if it is not there."""
        await self.abatch([PutOp(as_namespace(namespace), _as_key(key), None)])

    async def alist_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """The namespaces that hold items, sorted, cut to `max_depth` labels; "*" in a path is any label."""
        op = ListNamespacesOp(_conditions(prefix, suffix), max_depth, limit, offset)
        return cast(list[tuple[str, ...]], (await self.abatch([op]))[0])

    def _get_op(self, namespace: tuple[str, ...], key: str, refresh_ttl: bool | None) -> GetOp:
        return GetOp(as_namespace(namespace), _as_key(key), self._refreshes(refresh_ttl))

    def _search_op(
        self,
        namespace_prefix: tuple[str, ...],
        filter: dict[str, Any] | None,
        limit: int,
        offset: int,
        query: str | None,
        refresh_ttl: bool | None,
    ) -> SearchOp:
        refresh = self._refreshes(refresh_ttl)
        return SearchOp(as_namespace(namespace_prefix), filter, limit, offset, query, refresh)

    def _put_op(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None,
        ttl: float | NotProvided | None,
    ) -> PutOp:
        namespace = as_namespace(namespace)
        validate_namespace(namespace)
        if not isinstance(ttl, NotProvided) and ttl is not None and not self.supports_ttl:
            raise TTLNotSupported(
                f"{type(self).__name__} keeps items for good, so ttl={ttl!r} cannot be kept: "
                "leave ttl out, or use a store that has supports_ttl."
            )
        return PutOp(namespace, _as_key(key), value, index, self._minutes(ttl))

    def _minutes(self, ttl: float | NotProvided | None) -> float | None:
        if isinstance(ttl, NotProvided):
            return (self.ttl_config or {}).get("default_ttl")
        return ttl

    def _refreshes(self, refresh_ttl: bool | None) -> bool:
        if refresh_ttl is not None:
            return refresh_ttl
        return (self.ttl_config or {}).get("refresh_on_read", True)


def _conditions(prefix: NamespacePath | None, suffix: NamespacePath | None) -> tuple[MatchCondition, ...]:
    conditions = []
    if prefix:
        conditions.append(MatchCondition("prefix", as_namespace(prefix)))
    if suffix:
        conditions.append(MatchCondition("suffix", as_namespace(suffix)))
    return tuple(conditions)


def _as_key(key: object) -> str:
    """The key as text: ids are often numbers or UUIDs. None is a forgotten key, not a name."""
    if key is None:
        raise InvalidInput("The key is None: give the item a key, such as str(uuid.uuid4()).")
    return str(key)
