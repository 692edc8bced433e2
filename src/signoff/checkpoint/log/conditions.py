"""Conditions in SQL: which rows are wanted. The same in each database, but for the mark of a parameter."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.checkpoint.questions import NOTE, Wanted

__all__ = ["where_asked", "where_selected"]

Where = tuple[str, list[Any]]
"""A condition, or nothing, and its parameters."""


def where_selected(selection: Sequence[Any], mark: str) -> Where:
    """The condition for checkpoints that a list is to have: by a `Selection`, as it is stored."""
    names = ("thread_id =", "ns =", "id =", "id <")
    return _where((f"{name} {mark}", value) for name, value in zip(names, selection, strict=True))


def where_asked(wanted: Wanted, mark: str, *, says: str) -> Where:
    """The condition for questions that are wanted.

    says: the one for a question that says a text.
    """
    where, params = _where(
        [
            (f"id = {mark}", wanted.id),
            (f"thread_id = {mark}", wanted.thread_id),
            (f"graph = {mark}", wanted.graph),
            (f"node = {mark}", wanted.node),
            (f"asked_at > {mark}", wanted.asked_after),
            (f"asked_at < {mark}", wanted.asked_before),
            (says, None if wanted.text is None else wanted.text.casefold()),
            (f"node {'=' if wanted.answered else '<>'} {mark}", None if wanted.answered is None else NOTE),
        ]
    )
    if wanted.after is None:
        return where, params
    return f"{where or 'WHERE TRUE'} AND (asked_at, id) > ({mark}, {mark})", [*params, *wanted.after]


def _where(conditions: Iterable[tuple[str, Any]]) -> Where:
    given = [(sql, value) for sql, value in conditions if value is not None]
    return f"WHERE {' AND '.join(sql for sql, _ in given)}" if given else "", [value for _, value in given]
