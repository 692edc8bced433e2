"""Retries: which errors are tried again, and how long after."""

from collections.abc import Sequence
from typing import Any

from signoff.errors import InvalidGraph
from signoff.types import RetryPolicy


def as_policies(retry: RetryPolicy | Sequence[RetryPolicy] | None) -> tuple[RetryPolicy, ...]:
    """One policy, several or none, as a tuple."""
    several = (retry,) if isinstance(retry, RetryPolicy) else () if retry is None else _listed(retry)
    for policy in several:
        _check(policy)
    return several


def _listed(retry: Any) -> tuple[Any, ...]:
    return tuple(retry) if isinstance(retry, list | tuple) else (retry,)


def _check(policy: Any) -> None:
    if not isinstance(policy, RetryPolicy):
        raise InvalidGraph(f"retry_policy has {policy!r}. Give a RetryPolicy (from signoff.types), or a list of them.")
    wanted = policy.retry_on
    if isinstance(wanted, str) or not (callable(wanted) or isinstance(wanted, Sequence)):
        raise InvalidGraph(f"retry_on must be an exception class, several, or a function, not {wanted!r}.")


def matching_policy(policies: Sequence[RetryPolicy], error: Exception) -> RetryPolicy | None:
    """The first policy that wants this error tried again."""
    return next((policy for policy in policies if _retries(policy, error)), None)


def _retries(policy: RetryPolicy, error: Exception) -> bool:
    wanted = policy.retry_on
    if isinstance(wanted, type):
        return isinstance(error, wanted)
    if isinstance(wanted, Sequence):
        return isinstance(error, tuple(wanted))
    return wanted(error)


def pause_before(policy: RetryPolicy, tries: int) -> float:
    """Seconds between the given try and the next one."""
    return min(policy.max_interval, policy.initial_interval * policy.backoff_factor ** (tries - 1))
