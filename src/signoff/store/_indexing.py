"""Indexing: which texts of which items are embedded, and asking for their vectors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signoff.errors import InvalidInput
from signoff.steps import Steps
from signoff.store._vectors import dims_of, packed
from signoff.store.base import (
    Embeddings,
    IndexConfig,
    PutOp,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)
from signoff.store.base.embed import vectors_for
from signoff.store.base.paths import are_paths

__all__ = ["EmbedQuery", "EmbedTexts", "Index", "embed_puts", "embed_queries", "perform", "aperform"]

WHOLE_VALUE = "$"

Path = str | list[str]


@dataclass(frozen=True, slots=True)
class EmbedTexts:
    """An effect: embed texts that are to be found. Its result is one vector for each."""

    texts: list[str]


@dataclass(frozen=True, slots=True)
class EmbedQuery:
    """An effect: embed a text to look for. Its result is one vector."""

    text: str


@dataclass(frozen=True, slots=True)
class Index:
    """An index config, made ready: the embeddings, the length of their vectors, the paths to embed."""

    embeddings: Embeddings
    dims: int | None
    paths: tuple[Path, ...]

    @classmethod
    def of(cls, config: IndexConfig | None) -> "Index | None":
        """The index a config describes; None for no config."""
        if config is None or not _checked(config):
            return None
        dims, fields = config.get("dims"), config.get("fields")
        if dims is not None and (not isinstance(dims, int) or isinstance(dims, bool) or dims < 1):
            raise InvalidInput(f"index has dims={dims!r}: give the length of the vectors, such as 1536.")
        if fields is not None and not are_paths(fields):
            example = [fields] if isinstance(fields, str) else ["text"]
            raise InvalidInput(f"index has fields={fields!r}: give a list of paths, such as {example!r}.")
        return cls(ensure_embeddings(config.get("embed")), dims, _paths(fields or [WHOLE_VALUE]))

    def texts_of(self, op: PutOp) -> list[str]:
        """The texts of an item that make it findable."""
        if op.value is None or op.index is False:
            return []
        paths = self.paths if op.index is None else _paths(op.index)
        value = dict(op.value)
        return [text for path in paths for text in get_text_at_path(value, path)]

    def packed(self, vector: Sequence[float]) -> bytes:
        """A vector as it is stored, of the right length."""
        blob = packed(vector)
        if self.dims is not None and dims_of(blob) != self.dims:
            raise InvalidInput(
                f"The embeddings returned a vector of {dims_of(blob)} numbers, but the index has "
                f"dims={self.dims}: make dims the length of your model's vectors."
            )
        return blob


TAKEN = frozenset({*IndexConfig.__optional_keys__, "ann_index_config", "distance_type"})
"""The settings of an index. The last two are LangGraph's: there is no index in the database to be built, and the
vectors are always compared by their cosine."""


def _checked(config: IndexConfig) -> IndexConfig:
    """The config as it is. Settings that are not there are refused: what is found would silently be something else."""
    if not isinstance(config, Mapping):
        raise InvalidInput(f"index={config!r}: give a dict, such as {{'dims': 1536, 'embed': ...}}, or None.")
    for name in config:
        if name not in TAKEN:
            meant = " Did you mean 'fields'?" if "fields" in str(name) else ""
            raise InvalidInput(f"index has no setting {name!r}; it has dims, embed and fields.{meant}")
    if (distance := config.get("distance_type", "cosine")) != "cosine":
        raise InvalidInput(
            f"index has distance_type={distance!r}, and vectors are compared by their cosine. Leave the setting out: "
            "with vectors of length 1, as most models make them, the order of what is found is the same."
        )
    return config


def embed_puts(index: Index | None, puts: Sequence[PutOp]) -> Steps[list[list[bytes]]]:
    """The vectors of each item to put, in order; every text is embedded once."""
    if index is None:
        return [[] for _ in puts]
    texts = [index.texts_of(op) for op in puts]
    distinct = list(dict.fromkeys(text for each in texts for text in each))
    vectors = vectors_for(distinct, (yield EmbedTexts(distinct)) if distinct else [])
    blobs = dict(zip(distinct, map(index.packed, vectors), strict=True))
    return [[blobs[text] for text in each] for each in texts]


def embed_queries(index: Index | None, searches: Iterable[SearchOp]) -> Steps[dict[str, bytes]]:
    """The vector of each query; none without an index, where a query is ignored."""
    if index is None:
        return {}
    blobs = {}
    for query in dict.fromkeys(op.query for op in searches if op.query):
        blobs[query] = index.packed((yield EmbedQuery(query)))
    return blobs


def perform(index: Index, effect: EmbedTexts | EmbedQuery) -> Any:
    """Embed, waiting for the result."""
    if isinstance(effect, EmbedTexts):
        return index.embeddings.embed_documents(effect.texts)
    return index.embeddings.embed_query(effect.text)


async def aperform(index: Index, effect: EmbedTexts | EmbedQuery) -> Any:
    """Embed, awaiting the result."""
    if isinstance(effect, EmbedTexts):
        return await index.embeddings.aembed_documents(effect.texts)
    return await index.embeddings.aembed_query(effect.text)


def _paths(fields: Sequence[str]) -> tuple[Path, ...]:
    return tuple(field if field == WHOLE_VALUE else tokenize_path(field) for field in fields)
