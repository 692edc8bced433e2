"""Policies: what a node is to do about errors, and about what it did before, checked when it is described."""

from collections.abc import Sequence
from typing import Any

from signoff._elsewhere import refuse_theirs
from signoff._words.policies import CachePolicy, RetryPolicy, TracePolicy
from signoff.errors import InvalidGraph


def as_policies(retry: RetryPolicy | Sequence[RetryPolicy] | None) -> tuple[RetryPolicy, ...]:
    """One policy, several or none, as a tuple."""
    refuse_theirs(retry, "retry_policy is", InvalidGraph)  # it is a tuple itself
    several = (retry,) if isinstance(retry, RetryPolicy) else () if retry is None else _listed(retry)
    for policy in several:
        _check(policy)
    return several


def _listed(retry: Any) -> tuple[Any, ...]:
    return tuple(retry) if isinstance(retry, list | tuple) else (retry,)


def _check(policy: Any) -> None:
    refuse_theirs(policy, "retry_policy has", InvalidGraph)
    if not isinstance(policy, RetryPolicy):
        raise InvalidGraph(f"retry_policy has {policy!r}. Give a RetryPolicy (from signoff.types), or a list of them.")
    wanted = policy.retry_on
    if isinstance(wanted, str) or not (callable(wanted) or isinstance(wanted, Sequence)):
        raise InvalidGraph(f"retry_on must be an exception class, several, or a function, not {wanted!r}.")


def checked_policy(policy: CachePolicy | None) -> CachePolicy | None:
    """A cache policy, or none; anything else is refused."""
    if policy is None or isinstance(policy, CachePolicy):
        return policy
    refuse_theirs(policy, "cache_policy is", InvalidGraph)
    raise InvalidGraph(
        f"cache_policy is {policy!r}. Give a CachePolicy (from signoff.types), such as CachePolicy(ttl=60)."
    )


def checked_trace(policy: TracePolicy | None) -> TracePolicy | None:
    """A trace policy, or none; anything else is refused."""
    if policy is None or isinstance(policy, TracePolicy):
        return policy
    refuse_theirs(policy, "trace_policy is", InvalidGraph)
    raise InvalidGraph(
        f"trace_policy is {policy!r}. Give a TracePolicy (from signoff.types), such as "
        "TracePolicy(process_inputs=omit_payload)."
    )
