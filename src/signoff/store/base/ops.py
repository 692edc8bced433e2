"""The operations a store performs, as values that can be batched, and how a store is configured."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypedDict

from signoff.store.base.embed import AEmbeddingsFunc, Embeddings, EmbeddingsFunc
from signoff.store.base.items import Item, SearchItem
from signoff.store.base.namespaces import NamespaceMatchType, NamespacePath

__all__ = [
    "GetOp",
    "IndexConfig",
    "ListNamespacesOp",
    "MatchCondition",
    "NOT_PROVIDED",
    "NotProvided",
    "Op",
    "PutOp",
    "Result",
    "SearchOp",
    "TTLConfig",
]


class NotProvided:
    """The type of NOT_PROVIDED: an argument that was left out, where None means something else."""

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_PROVIDED = NotProvided()


class TTLConfig(TypedDict, total=False):
    """How long items live.

    refresh_on_read: whether a read starts an item's time anew; True if not said.
    omit_expired: whether an expired item is invisible before it is swept; True if not said.
    default_ttl: minutes an item lives if its put does not say; None keeps it for good.
    sweep_interval_minutes: how often the sweeper removes what expired.
    """

    refresh_on_read: bool
    omit_expired: bool
    default_ttl: float | None
    sweep_interval_minutes: int | float | None


class IndexConfig(TypedDict, total=False):
    """How items are made searchable by meaning.

    dims: how long the vectors are; a vector of another length is refused.
    embed: what turns texts into vectors: an embeddings object, a function, or "provider:model".
    fields: the paths whose text is embedded; ["$"], the whole value, if not said.
    """

    dims: int
    embed: Embeddings | EmbeddingsFunc | AEmbeddingsFunc | str
    fields: list[str] | None


class MatchCondition(NamedTuple):
    """How a namespace has to begin or end; "*" in the path stands for any one label."""

    match_type: NamespaceMatchType
    path: NamespacePath


class GetOp(NamedTuple):
    """Read one item."""

    namespace: tuple[str, ...]
    key: str
    refresh_ttl: bool = True


class SearchOp(NamedTuple):
    """Find items in a namespace and below it, by the fields of their value, by meaning, or both."""

    namespace_prefix: tuple[str, ...]
    filter: dict[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh_ttl: bool = True


class PutOp(NamedTuple):
    """Write one item, or delete it where the value is None; `ttl` is in minutes."""

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any] | None
    index: Literal[False] | list[str] | None = None  # type: ignore[assignment]
    ttl: float | None = None


class ListNamespacesOp(NamedTuple):
    """List the namespaces that hold items."""

    match_conditions: tuple[MatchCondition, ...] | None = None
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


Op = GetOp | SearchOp | PutOp | ListNamespacesOp
"""Anything a batch may hold."""

Result = Item | list[Item] | list[SearchItem] | list[tuple[str, ...]] | None
"""What a batch answers to an operation; None to a put, and to a get that found nothing."""
