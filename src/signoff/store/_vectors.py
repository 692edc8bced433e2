"""Vectors: how they are kept, and how near they are to each other."""

import math
import struct
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

from signoff._reprs import short_repr
from signoff.errors import InvalidInput

__all__ = ["cosines", "dims_of", "packed", "ranked"]

Id = TypeVar("Id", bound=Hashable)

_BYTES_PER_NUMBER = 4


def packed(vector: Sequence[float]) -> bytes:
    """A vector as float32 numbers, little-endian."""
    try:
        numbers = [float(number) for number in vector]
        blob = struct.pack(f"<{len(numbers)}f", *numbers)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"The embedding {_short(vector)} is not a vector of numbers ({error}).") from error
    if not numbers:
        raise InvalidInput("An embedding has no numbers in it: a text needs a vector, such as [0.1, 0.7].")
    if not all(map(math.isfinite, numbers)):
        raise InvalidInput(f"The embedding {_short(vector)} has a number in it that is not finite.")
    return blob


def dims_of(blob: bytes) -> int:
    """How many numbers a packed vector has."""
    return len(blob) // _BYTES_PER_NUMBER


def ranked(ids: Iterable[Id], vectors: Iterable[tuple[Id, bytes]], query: bytes) -> list[tuple[Id, float | None]]:
    """The ids, the nearest to the query first; those without a vector last, with no score."""
    owners, blobs = _columns(vectors)
    best: dict[Id, float] = {}
    for owner, score in zip(owners, cosines(query, blobs), strict=True):
        best[owner] = max(score, best.get(owner, -math.inf))
    scored = [(one, best.get(one)) for one in ids]
    return sorted(scored, key=lambda pair: math.inf if pair[1] is None else -pair[1])


def cosines(query: bytes, blobs: Sequence[bytes]) -> list[float]:
    """The cosine similarity of each vector to the query; 0 where either has no direction."""
    for blob in blobs:
        if len(blob) != len(query):
            raise InvalidInput(
                f"The query has {dims_of(query)} dimensions, but an item was indexed with {dims_of(blob)}: "
                "put the items again to index them with the embeddings in use now."
            )
    if not blobs:
        return []
    numpy = _numpy()
    return _numpy_cosines(numpy, query, blobs) if numpy else _python_cosines(query, blobs)


def _numpy_cosines(numpy: Any, query: bytes, blobs: Sequence[bytes]) -> list[float]:
    wanted = numpy.frombuffer(query, dtype="<f4").astype("f8")
    matrix = numpy.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1).astype("f8")
    lengths = numpy.linalg.norm(matrix, axis=1) * numpy.linalg.norm(wanted)
    lengths[lengths == 0] = math.inf  # anything over infinity is the 0 we want
    scores: list[float] = (matrix @ wanted / lengths).tolist()
    return scores


def _python_cosines(query: bytes, blobs: Sequence[bytes]) -> list[float]:
    wanted = _unpacked(query)
    return [_cosine(wanted, _unpacked(blob)) for blob in blobs]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _unpacked(blob: bytes) -> Sequence[float]:
    return struct.unpack(f"<{dims_of(blob)}f", blob)


def _numpy() -> Any:
    """numpy if it is installed: many vectors are scored faster with it, none need it."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _columns(vectors: Iterable[tuple[Id, bytes]]) -> tuple[list[Id], list[bytes]]:
    pairs = list(vectors)
    return [owner for owner, _ in pairs], [blob for _, blob in pairs]


def _short(vector: object) -> str:
    return short_repr(vector, 60)
