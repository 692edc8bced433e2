"""Where a value is: in the row itself, once for all under its digest, or item by item.

    (tag, data)                      in the row
    (tag, digest, size)              kept by its digest
    ((lineage, first, end), ...)     a list, out of slices of lineages
    {key: any of these}              a dict, value by value

A lineage is a list that is only ever appended to. A list that loses items at its front, or has one replaced, is
made of other slices; nothing is written again. Whoever appends to an old checkpoint begins a lineage of its own.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any, TypeGuard

from signoff.checkpoint.encoding import Blob, decoded, packed, unpacked
from signoff.checkpoint.serde import lists
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.checkpoint.serde.wire import FORMAT
from signoff.errors import Undecodable

__all__ = [
    "Kept",
    "LARGE",
    "Part",
    "Span",
    "Spans",
    "Stored",
    "check_stored",
    "decoded_items",
    "digest_of",
    "is_blob",
    "is_span",
    "is_usual_row",
    "kept",
    "laid_out",
    "packed_items",
    "size_of",
    "sliced",
    "unpacked_items",
]

LARGE = 4096
"""A value of more bytes is kept by its digest."""

Span = tuple[int, int, int]
"""(lineage, first, end): some items of a lineage."""

Spans = tuple[Span, ...]


Kept = tuple[str, bytes, int]
"""(tag, digest, size): a value that is kept by its digest."""

Whole = Blob | Kept | Spans

Stored = Whole | dict[str, Whole]
"""A value, as a row has it."""

Part = tuple[int, int] | list[Blob]
"""Of a new list: a slice of the old one, or items that are new."""

NewItems = tuple[int, int, list[Blob]]
"""(lineage, start, items): what is appended to a lineage."""


def digest_of(blob: Blob) -> bytes:
    """What two blobs have in common only if they are equal."""
    return blake2b(blob[1], digest_size=16, person=blob[0].encode()[:16]).digest()


def kept(blob: Blob) -> Kept:
    """How a row names a large value."""
    return blob[0], digest_of(blob), len(blob[1])


def size_of(spans: Iterable[Span]) -> int:
    """How many items a list has."""
    return sum(end - first for _, first, end in spans)


def sliced(spans: Iterable[Span], first: int, end: int) -> list[Span]:
    """Where the items of a list are, from one up to another."""
    found, at = [], 0
    for lineage, low, high in spans:
        start, stop = max(first, at), min(end, at + high - low)
        if start < stop:
            found.append((lineage, low + start - at, low + stop - at))
        at += high - low
    return found


def laid_out(
    base: Spans, parts: Iterable[Part], new_lineage: Callable[[], int], *, may_append: bool = True
) -> tuple[Spans, list[NewItems]]:
    """Where the items of a new list are, and those of them that have to be written.

    may_append: whether items at the end may be appended to the last lineage of the old list, which fails if another
        list has been made out of it meanwhile.
    """
    size = size_of(base)
    spans: list[Span] = []
    news: list[NewItems] = []
    is_at_end = False
    for part in parts:
        if isinstance(part, tuple):
            spans += sliced(base, *part)
            is_at_end = part[1] == size
            continue
        appends = bool(spans) and is_at_end and may_append
        lineage, start = (spans[-1][0], spans[-1][2]) if appends else (new_lineage(), 0)
        news.append((lineage, start, part))
        spans.append((lineage, start, start + len(part)))
        is_at_end, may_append = False, may_append and not appends  # the old list may be in the new one twice
    return _joined(spans), news


def _joined(spans: Iterable[Span]) -> Spans:
    joined: list[Span] = []
    for lineage, first, end in spans:
        if joined and joined[-1][0] == lineage and joined[-1][2] == first:
            joined[-1] = (lineage, joined[-1][1], end)
        else:
            joined.append((lineage, first, end))
    return tuple(joined)


_USUAL_TAG = "msgpack"


def packed_items(items: Iterable[Blob], *, is_usual: bool) -> bytes:
    """Items as bytes: one encoded list if all are encoded in the usual way, else those of one tag behind it.

    is_usual: whether JsonPlusSerializer has made them, and nobody else, whose bytes may look like anything.
    """
    many = list(items)
    if is_usual and all(tag == _USUAL_TAG for tag, _ in many):
        return lists.joined([data for _, data in many])
    parts: list[str | bytes] = []
    current = None
    for tag, data in many:
        if tag != current:
            parts.append(tag)
            current = tag
        parts.append(data)
    return packed(parts)


def unpacked_items(rows: Iterable[Any]) -> list[list[Blob]]:
    """The items in the bytes of rows."""
    try:
        return [_unpacked_row(row) for row in rows]
    except Exception as error:
        raise Undecodable(f"Stored items are broken or were changed ({type(error).__name__}: {error}).") from error


def _unpacked_row(row: Any) -> list[Blob]:
    if is_usual_row(row):
        return [(_USUAL_TAG, data) for data in lists.split(row)]
    items, tag = [], ""
    for part in unpacked(row):
        if type(part) is bytes:
            items.append((tag, part))
        elif type(part) is str:
            tag = part
        else:
            raise TypeError(f"{part!r} is neither a tag nor bytes")
    return items


def is_usual_row(row: Any) -> bool:
    """Whether the items in the bytes of a row are encoded in the usual way, all of them."""
    return row[:1] == FORMAT  # type: ignore[no-any-return]


def decoded_items(serde: Any, rows: Sequence[Any]) -> list[list[Any]]:
    """The values of the items in the bytes of rows."""
    if type(serde) is not JsonPlusSerializer:
        return [[decoded(serde, blob) for blob in items] for items in unpacked_items(rows)]
    try:
        return serde.loads_lists(rows)
    except Exception:
        # A row is no encoded list, or broken: slower, but it says what is wrong.
        return [[decoded(serde, blob) for blob in items] for items in unpacked_items(rows)]


def check_stored(name: object, stored: Any) -> None:
    """See to it that whatever was in a row is one of the ways to store a value."""
    for value in stored.values() if type(stored) is dict else [stored]:
        if not _is_whole(value):
            raise Undecodable(f"The stored changes of a checkpoint are broken or were changed: {name!r} has no value.")


def is_blob(stored: Any) -> TypeGuard[Blob]:
    """Whether a value is in the row itself, as most are."""
    return type(stored) is tuple and len(stored) == 2 and type(stored[0]) is str and type(stored[1]) is bytes


def _is_whole(stored: Any) -> bool:
    if type(stored) is not tuple or not stored:
        return False
    if type(stored[0]) is tuple:
        return all(type(part) is tuple and is_span(part) for part in stored)
    return [type(part) for part in stored] in ([str, bytes], [str, bytes, int])


def is_span(span: Any) -> bool:
    """Whether this is a span that a database can be asked for."""
    return (
        [type(part) for part in span] == [int, int, int] and 0 <= span[0] < 1 << 63 and 0 <= span[1] < span[2] < 1 << 31
    )
