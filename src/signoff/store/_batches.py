"""Batches: every operation is checked before the first one is performed, and of two puts the last counts."""

from collections.abc import Iterable, Mapping
from typing import Any

from signoff._reprs import repr_of
from signoff.errors import InvalidInput
from signoff.store._filters import check_filter
from signoff.store._lifetimes import check_minutes
from signoff.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
)
from signoff.store.base.matching import check_conditions, is_match
from signoff.store.base.namespaces import check_place, validate_labels
from signoff.store.base.paths import are_paths

__all__ = ["bounds", "check", "check_put", "checked", "final_puts", "listed"]

_FAR = 2**60


def checked(ops: Iterable[Op]) -> list[Op]:
    """The operations as a list, none of them with a mistake."""
    if not isinstance(ops, Iterable):
        raise InvalidInput(f"A batch is a list of operations, not {repr_of(ops)}.")
    listed = list(ops)
    for op in listed:
        check(op)
    return listed


def check(op: Op) -> None:
    """Refuse an operation that has a mistake in it."""
    match op:
        case GetOp():
            check_place(op.namespace, op.key)
        case PutOp():
            check_place(op.namespace, op.key)
            check_put(op)
        case SearchOp():
            validate_labels(op.namespace_prefix)
            _check_search(op)
        case ListNamespacesOp():
            _check_listing(op)
        case _:
            raise InvalidInput(
                f"A batch takes GetOp, PutOp, SearchOp and ListNamespacesOp; {repr_of(op)} is none of them."
            )


def bounds(op: SearchOp) -> tuple[int, int]:
    """Its limit and offset, no greater than a database can count."""
    return min(op.limit, _FAR), min(op.offset, _FAR)


def final_puts(ops: Iterable[Op]) -> list[PutOp]:
    """The puts that count: the last one for each item."""
    last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
    return list(last.values())


def listed(namespaces: Iterable[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """The namespaces an operation asks for, sorted, each of them once."""
    for condition in op.match_conditions or ():
        namespaces = [one for one in namespaces if is_match(one, condition)]
    distinct = {one[: op.max_depth] for one in namespaces}
    return sorted(distinct)[op.offset : op.offset + op.limit]


def check_put(op: PutOp) -> None:
    """Refuse a put that has a mistake in it; the labels of its place, and its key, are good."""
    if not op.namespace:
        raise InvalidNamespaceError("The namespace is empty: give at least one label, such as ('users',).")
    if op.value is not None and not isinstance(op.value, dict | Mapping):  # a dict is told apart much quicker
        raise InvalidInput(
            f"The value of {op.key!r} is {repr_of(op.value)}: a value is a dict, such as {{'text': ...}}."
        )
    if op.index is not None and op.index is not False and not are_paths(op.index):
        raise InvalidInput(f"index={op.index!r} for {op.key!r}: give a list of paths, False for none, or None.")
    if op.ttl is not None:
        check_minutes("ttl", op.ttl)


def _check_search(op: SearchOp) -> None:
    check_filter(op.filter)
    _check_count("limit", op.limit)
    _check_count("offset", op.offset)
    if op.query is not None and not isinstance(op.query, str):
        raise InvalidInput(f"query is the text to look for, not {op.query!r}.")


def _check_listing(op: ListNamespacesOp) -> None:
    check_conditions(op.match_conditions)
    for condition in op.match_conditions or ():
        if condition.match_type not in ("prefix", "suffix"):
            raise InvalidInput(
                f"A namespace cannot be matched by its {condition.match_type!r}: use 'prefix' or 'suffix'."
            )
        validate_labels(condition.path)
    _check_count("limit", op.limit)
    _check_count("offset", op.offset)
    if op.max_depth is not None:
        _check_count("max_depth", op.max_depth)


def _check_count(name: str, count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidInput(f"{name}={count!r}: give a whole number, 0 or more.")
