"""What stores do before they talk to their database: check, write values down, ask for vectors."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from signoff.errors import Undecodable
from signoff.steps import Steps
from signoff.store._batches import checked, final_puts
from signoff.store._indexing import Index, embed_puts, embed_queries
from signoff.store._values import encoded
from signoff.store.base import Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp, TTLConfig

__all__ = ["Answer", "Found", "Load", "Prepared", "Put", "Settings", "answer", "literal_prefix", "loaded", "prepare"]


Load = Callable[[str], dict[str, Any]]
"""What reads a stored value."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the procedures need to know of a store."""

    index: Index | None
    ttl: TTLConfig | None
    load: Load


class Put(NamedTuple):
    """A put, ready to be written: all that could be refused in it was looked at. No text is a deletion."""

    op: PutOp
    text: str | None
    vectors: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch, ready to be performed."""

    ops: Sequence[Op]
    queries: Mapping[str, bytes]
    puts: Sequence[Put]

    def query_of(self, op: SearchOp) -> bytes | None:
        """The vector that a search compares with, if it does."""
        return self.queries.get(op.query or "")


class Found(NamedTuple):
    """A stored item as it was read; `id` is how the store names it."""

    id: Any
    namespace: tuple[str, ...]
    key: str
    text: str
    created_at: float
    updated_at: float
    has_ttl: bool

    def item(self, load: Load) -> Item:
        """As `get` hands it out."""
        return Item(**self._parts(load))

    def search_item(self, load: Load, score: float | None) -> SearchItem:
        """As `search` hands it out."""
        return SearchItem(**self._parts(load), score=score)

    def _parts(self, load: Load) -> dict[str, Any]:
        try:
            return {
                "value": load(self.text),
                "key": self.key,
                "namespace": self.namespace,
                "created_at": datetime.fromtimestamp(self.created_at, UTC),
                "updated_at": datetime.fromtimestamp(self.updated_at, UTC),
            }
        except Exception as error:
            raise Undecodable(
                f"Item {self.key!r} of {self.namespace} cannot be read ({type(error).__name__}: {error!s:.200}): it is "
                "broken or was changed. Delete it; then it can be put again."
            ) from error


Answer = tuple[Result, list[Found]]
"""A result, and the items in it as they are stored."""


def answer(op: Op, found: list[Found], load: Load) -> Answer:
    """The answer to a get, or to a search that compares nothing, out of what was found."""
    if isinstance(op, SearchOp):
        return [one.search_item(load, None) for one in found], found
    return found[0].item(load) if found else None, found


def loaded(load: Load, text: str) -> dict[str, Any]:
    """A stored value, for a filter."""
    try:
        return load(text)
    except Exception as error:
        raise Undecodable(
            f"An item cannot be read ({type(error).__name__}: {error!s:.200}): it is broken or was changed. "
            "Search without a filter to see which it is."
        ) from error


def prepare(settings: Settings, ops: Iterable[Op]) -> Steps[Prepared]:
    """Everything that may fail, or take long, and needs no database."""
    known = checked(ops)
    puts = final_puts(known)
    texts = [None if op.value is None else encoded(op.value, op.key) for op in puts]
    # Embedding may take long, so it comes before any transaction.
    queries = yield from embed_queries(settings.index, (op for op in known if isinstance(op, SearchOp)))
    vectors = yield from embed_puts(settings.index, puts)
    return Prepared(known, queries, [Put(*parts) for parts in zip(puts, texts, vectors, strict=True)])


def literal_prefix(op: ListNamespacesOp) -> tuple[str, ...]:
    """A beginning that all namespaces asked for share, up to a wildcard: less to read."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            wild = condition.path.index("*") if "*" in condition.path else len(condition.path)
            return condition.path[:wild]
    return ()
