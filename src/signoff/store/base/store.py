"""BaseStore: the shape of a store. A backend writes `batch` and `abatch`; everything else is here."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from signoff.errors import InvalidInput
from signoff.store.base.items import Item, SearchItem
from signoff.store.base.namespaces import NamespacePath, as_namespace, check_root, place_of
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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Whoever performs batches in a way of their own gets single operations there, too.
        for many, ones in (("batch", ("get", "_perform_one")), ("abatch", ("aget", "_aperform_one"))):
            for one in ones:
                if _depth(cls, many) < _depth(cls, one):
                    setattr(cls, one, getattr(BaseStore, one))

    @abstractmethod
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""

    @abstractmethod
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""

    def get(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item with this key, or None. `refresh_ttl` says whether its time to live starts anew."""
        item: Item | None = self._perform_one(self._get_op(namespace, key, refresh_ttl))
        return item

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
        found: list[SearchItem] = self._perform_one(op)
        return found

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
        self._perform_one(self._put_op(namespace, key, value, index, ttl))

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        """Remove an item; nothing happens if it is not there."""
        self._perform_one(PutOp(*place_of(namespace, key), None))

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
        namespaces: list[tuple[str, ...]] = self._perform_one(op)
        return namespaces

    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item with this key, or None. `refresh_ttl` says whether its time to live starts anew."""
        item: Item | None = await self._aperform_one(self._get_op(namespace, key, refresh_ttl))
        return item

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
        found: list[SearchItem] = await self._aperform_one(op)
        return found

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
        await self._aperform_one(self._put_op(namespace, key, value, index, ttl))

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """Remove an item; nothing happens if it is not there."""
        await self._aperform_one(PutOp(*place_of(namespace, key), None))

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
        namespaces: list[tuple[str, ...]] = await self._aperform_one(op)
        return namespaces

    def _perform_one(self, op: Op) -> Any:
        """The answer to an operation whose place was checked. A backend may have a shorter way than a batch."""
        return self.batch([op])[0]

    async def _aperform_one(self, op: Op) -> Any:
        return (await self.abatch([op]))[0]

    def _get_op(self, namespace: tuple[str, ...], key: str, refresh_ttl: bool | None) -> GetOp:
        return GetOp(*place_of(namespace, key), self._refreshes(refresh_ttl))

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
        namespace, key = place_of(namespace, key)
        check_root(namespace)
        return PutOp(namespace, key, value, index, self._minutes(ttl))

    def _minutes(self, ttl: float | NotProvided | None) -> float | None:
        if isinstance(ttl, NotProvided):
            return None if self.ttl_config is None else self.ttl_config.get("default_ttl")
        if ttl is not None and not self.supports_ttl:
            raise TTLNotSupported(
                f"{type(self).__name__} keeps items for good, so ttl={ttl!r} cannot be kept: "
                "leave ttl out, or use a store that has supports_ttl."
            )
        return ttl

    def _refreshes(self, refresh_ttl: bool | None) -> bool:
        if refresh_ttl is not None:
            return refresh_ttl
        return True if self.ttl_config is None else self.ttl_config.get("refresh_on_read", True)


def _conditions(prefix: NamespacePath | None, suffix: NamespacePath | None) -> tuple[MatchCondition, ...]:
    conditions = []
    if prefix:
        conditions.append(MatchCondition("prefix", as_namespace(prefix)))
    if suffix:
        conditions.append(MatchCondition("suffix", as_namespace(suffix)))
    return tuple(conditions)


def _depth(cls: type, name: str) -> int:
    """How far up a class has something from."""
    return next(depth for depth, base in enumerate(cls.__mro__) if name in vars(base))
