"""Embeddings: what turns texts into vectors, whatever shape it comes in."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast, runtime_checkable

from signoff._reprs import repr_of
from signoff.errors import InvalidInput
from signoff.store.base.paths import get_text_at_path, tokenize_path

__all__ = [
    "AEmbeddingsFunc",
    "Embeddings",
    "EmbeddingsFunc",
    "ensure_embeddings",
    "get_text_at_path",
    "tokenize_path",
    "vectors_for",
]

Vector = list[float]

EmbeddingsFunc = Callable[[Sequence[str]], list[Vector]]
"""A function from texts to their vectors."""

AEmbeddingsFunc = Callable[[Sequence[str]], Awaitable[list[Vector]]]
"""An async function from texts to their vectors."""


@runtime_checkable
class Embeddings(Protocol):
    """An object that embeds documents and queries. LangChain's embeddings are such objects."""

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        """The vectors of texts that are to be found."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a text to look for."""
        ...

    async def aembed_documents(self, texts: list[str]) -> list[Vector]:
        """The vectors of texts that are to be found."""
        ...

    async def aembed_query(self, text: str) -> Vector:
        """The vector of a text to look for."""
        ...


def ensure_embeddings(embed: Embeddings | EmbeddingsFunc | AEmbeddingsFunc | str | None) -> Embeddings:
    """Embeddings from an embeddings object, a function, an async function, or a "provider:model" name."""
    if isinstance(embed, str):
        return _by_name(embed)
    if isinstance(embed, type) and hasattr(embed, "embed_documents"):
        raise InvalidInput(f"embed={embed.__name__} is a class: make the embeddings, such as {embed.__name__}().")
    if isinstance(embed, Embeddings):
        return embed
    if hasattr(embed, "embed_documents") and hasattr(embed, "embed_query"):
        return _SyncOnly(embed)
    if callable(embed):
        return _from_function(embed)
    raise InvalidInput(
        f"An index needs embed=: an embeddings object, a function from texts to vectors, or a "
        f"'provider:model' name; got {embed!r}."
    )


def _by_name(name: str) -> Embeddings:
    try:
        from langchain.embeddings import init_embeddings
    except ImportError as error:
        raise InvalidInput(
            f"embed={name!r} names a model, which needs langchain: run `pip install langchain`, "
            "or give a function from texts to vectors."
        ) from error
    try:
        return cast(Embeddings, init_embeddings(name))
    except (ImportError, ValueError) as error:
        raise InvalidInput(f"embed={name!r} leads to no model. LangChain says: {error}") from error


def vectors_for(texts: Sequence[str], returned: Any) -> list[Vector]:
    """What embeddings returned for texts, which has to be a vector for each."""
    try:
        vectors = list(returned)
    except TypeError as error:
        raise InvalidInput(
            f"The embeddings returned {repr_of(returned)}: return a list of vectors, one for each text."
        ) from error
    if len(vectors) != len(texts):
        raise InvalidInput(f"The embeddings returned {len(vectors)} vectors for {len(texts)} texts.")
    return vectors


def _from_function(function: Callable[[Sequence[str]], Any]) -> Embeddings:
    return _AsyncFunction(function) if _is_async(function) else _SyncOnly(_Function(function))


def _is_async(function: Callable[..., Any]) -> bool:
    import inspect

    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 an object with an async __call__ counts
    )


class _Function:
    """A plain function as the sync half of embeddings."""

    def __init__(self, function: EmbeddingsFunc) -> None:
        self._function = function

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        return self._function(texts)

    def embed_query(self, text: str) -> Vector:
        return vectors_for([text], self._function([text]))[0]


class _SyncOnly:
    """Embeddings from an object that has the sync half only; the async half runs it in a thread."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        return cast(list[Vector], self._inner.embed_documents(texts))

    def embed_query(self, text: str) -> Vector:
        return cast(Vector, self._inner.embed_query(text))

    async def aembed_documents(self, texts: list[str]) -> list[Vector]:
        import asyncio

        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> Vector:
        import asyncio

        return await asyncio.to_thread(self.embed_query, text)


class _AsyncFunction:
    """Embeddings from an async function; it cannot be called from sync code."""

    def __init__(self, function: AEmbeddingsFunc) -> None:
        self._function = function

    def embed_documents(self, texts: list[str]) -> list[Vector]:
        raise self._needs_async()

    def embed_query(self, text: str) -> Vector:
        raise self._needs_async()

    async def aembed_documents(self, texts: list[str]) -> list[Vector]:
        return await self._function(texts)

    async def aembed_query(self, text: str) -> Vector:
        return vectors_for([text], await self._function([text]))[0]

    def _needs_async(self) -> InvalidInput:
        return InvalidInput(
            f"The embedding function {self._function!r} is async and was needed by a sync call: use the "
            "async methods (aput, asearch), or give the index a sync function."
        )
