"""Batches: every operation is checked before the first one is performed, and of two puts the last counts."""

from collections.abc import Iterable, Mapping
from typing import Any

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
    validate_op_namespace,
)
from signoff.store.base.namespaces import is_match

__all__ = ["checked", "final_puts", "listed"]


def checked(ops: Iterable[Op]) -> list[Op]:
    """The operations as a list, none of them with a mistake."""
    listed = list(ops)
    for op in listed:
        _check(op)
    return listed


def final_puts(ops: Iterable[Op]) -> list[PutOp]:
    """The puts that count: the last one for each item."""
    last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
    return list(last.values())


def listed(namespaces: Iterable[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """The namespaces an operation asks for, sorted, each of them once."""
    conditions = op.match_conditions or ()
    matching = (one for one in namespaces if all(is_match(one, condition) for condition in conditions))
    distinct = sorted({one[: op.max_depth] for one in matching})
    return distinct[op.offset : op.offset + op.limit]


def _check(op: Op) -> None:
    if not isinstance(op, GetOp | SearchOp | PutOp | ListNamespacesOp):
        raise InvalidInput(f"A batch takes GetOp, PutOp, SearchOp and ListNamespacesOp; {op!r} is none of them.")
    if not isinstance(op, ListNamespacesOp):
        validate_op_namespace(op)
    match op:
        case GetOp():
            _check_key(op.key)
        case PutOp():
            _check_put(op)
        case SearchOp():
            _check_search(op)
        case ListNamespacesOp():
            _check_listing(op)


def _check_put(op: PutOp) -> None:
    if not op.namespace:
        raise InvalidNamespaceError("The namespace is empty: give at least one label, such as ('users',).")
    _check_key(op.key)
    if op.value is not None and not isinstance(op.value, Mapping):
        raise InvalidInput(f"The value of {op.key!r} is {op.value!r}: a value is a dict, such as {{'text': ...}}.")
    if op.index is not None and op.index is not False and not _is_texts(op.index):
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
    for condition in op.match_conditions or ():
        if condition.match_type not in ("prefix", "suffix"):
            raise InvalidInput(
                f"A namespace cannot be matched by its {condition.match_type!r}: use 'prefix' or 'suffix'."
            )
    validate_op_namespace(op)
    _check_count("limit", op.limit)
    _check_count("offset", op.offset)
    if op.max_depth is not None:
        _check_count("max_depth", op.max_depth)


def _check_key(key: object) -> None:
    if not isinstance(key, str):
        raise InvalidInput(f"The key {key!r} is not a string: name items with texts, such as str({key!r}).")
    try:
        key.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"The key {key!r} is not valid text: it has half of a surrogate pair.") from error


def _check_count(name: str, count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidInput(f"{name}={count!r}: give a whole number, 0 or more.")


def _is_texts(paths: object) -> bool:
    return isinstance(paths, list | tuple) and all(isinstance(path, str) for path in paths)
