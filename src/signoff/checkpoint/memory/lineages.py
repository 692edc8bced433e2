"""Lineages: the items of lists that grow, so that many checkpoints share what their lists have in common.

A stored list is made of slices of lineages, as in the savers with a log.
"""

from collections.abc import Iterable
from typing import Any

from signoff.checkpoint.encoding import Blob
from signoff.checkpoint.log.values import Part, laid_out

__all__ = ["Lineage", "Spans", "blobs_of", "spans_of"]

SPARE = 64
"""A list on lineages that have more than twice its items, and these, begins one of its own."""

Spans = tuple[tuple["Lineage", int, int], ...]
"""A stored list: slices of lineages, each from one item up to another."""


class Lineage:
    """Encoded items that are only ever appended to. It goes when no list has a part of it any more."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Blob] = []


def blobs_of(spans: Spans) -> list[Blob]:
    """The items of a stored list."""
    return [blob for lineage, first, end in spans for blob in lineage.items[first:end]]


def spans_of(parts: Iterable[Part], before: Spans = ()) -> Spans:
    """Store a list that is made of parts of another one, and of new items."""
    may_append = bool(before) and before[-1][2] == len(before[-1][0].items)
    found: Any = laid_out(before, parts, Lineage, may_append=may_append)  # type: ignore[arg-type]
    spans, news = found
    for lineage, start, blobs in news:
        assert start == len(lineage.items), "what is appended stands at the end"
        lineage.items += blobs
    return _apart(spans)


def _apart(spans: Spans) -> Spans:
    """The same list; on its own, if it has become a small part of what it stands on."""
    size = sum(end - first for _, first, end in spans)
    if sum(len(lineage.items) for lineage in {lineage for lineage, _, _ in spans}) <= 2 * size + SPARE:
        return spans
    own = Lineage()
    own.items = blobs_of(spans)
    return ((own, 0, size),)
