"""Retries: which errors are tried again, and how long after."""

from collections.abc import Sequence

from signoff._words.policies import RetryPolicy


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
    try:
        return min(policy.max_interval, policy.initial_interval * float(policy.backoff_factor) ** (tries - 1))
    except OverflowError:  # after a thousand tries, or so
        return policy.max_interval if policy.initial_interval else 0.0
