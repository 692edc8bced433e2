"""What every store can do, and the records that go in and come out."""

from signoff.store.base.embed import AEmbeddingsFunc, Embeddings, EmbeddingsFunc, ensure_embeddings
from signoff.store.base.items import Item, SearchItem
from signoff.store.base.matching import validate_op_namespace
from signoff.store.base.namespaces import (
    InvalidNamespaceError,
    NamespaceMatchType,
    NamespacePath,
    validate_namespace,
)
from signoff.store.base.ops import (
    NOT_PROVIDED,
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    MatchCondition,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
)
from signoff.store.base.paths import get_text_at_path, tokenize_path
from signoff.store.base.store import BaseStore, TTLNotSupported

__all__ = [
    "BaseStore",
    "Item",
    "SearchItem",
    "Op",
    "GetOp",
    "PutOp",
    "SearchOp",
    "ListNamespacesOp",
    "MatchCondition",
    "Result",
    "NamespacePath",
    "NamespaceMatchType",
    "TTLConfig",
    "IndexConfig",
    "NotProvided",
    "NOT_PROVIDED",
    "InvalidNamespaceError",
    "TTLNotSupported",
    "Embeddings",
    "EmbeddingsFunc",
    "AEmbeddingsFunc",
    "ensure_embeddings",
    "tokenize_path",
    "get_text_at_path",
    "validate_namespace",
    "validate_op_namespace",
]
