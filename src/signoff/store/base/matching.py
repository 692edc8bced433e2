"""Matching: the namespaces that operations are about, and which ones a condition fits."""

from collections.abc import Sequence

from signoff.errors import InvalidInput
from signoff.store.base.namespaces import validate_labels
from signoff.store.base.ops import MatchCondition, Op

__all__ = ["check_conditions", "is_match", "validate_op_namespace"]


def is_match(namespace: Sequence[str], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as the condition says."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def check_conditions(conditions: object) -> None:
    """Refuse what is no list of conditions."""
    is_list = isinstance(conditions, list | tuple) and all(isinstance(one, MatchCondition) for one in conditions)
    if conditions is not None and not is_list:
        raise InvalidInput(
            f"match_conditions={conditions!r}: give a tuple of conditions, such as (MatchCondition('prefix', ('a',)),)."
        )


def validate_op_namespace(op: Op) -> None:
    """Refuse an operation whose namespace, or path of a match condition, has bad labels."""
    for namespace in _namespaces_of(op):
        validate_labels(namespace)


def _namespaces_of(op: Op) -> list[tuple[str, ...]]:
    conditions = getattr(op, "match_conditions", None)
    check_conditions(conditions)
    own = [getattr(op, name) for name in ("namespace", "namespace_prefix") if hasattr(op, name)]
    return own + [condition.path for condition in conditions or ()]
