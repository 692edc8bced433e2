"""Policies: what a node is to do about errors, and about what it did before, checked when it is described."""

from collections.abc import Sequence
from typing import Any

from signoff._annotations import refuse_async
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
    for name in ("initial_interval", "backoff_factor", "max_interval"):
        if not _is_amount(getattr(policy, name)):
            raise InvalidGraph(f"{name} of a RetryPolicy must be 0 or more, not {getattr(policy, name)!r}.")
    if not (isinstance(policy.max_attempts, int) and policy.max_attempts >= 1):
        raise InvalidGraph(
            f"max_attempts counts the first one, too: it must be 1 or more, not {policy.max_attempts!r}."
        )
    if not _is_wanted(policy.retry_on):
        raise InvalidGraph(f"retry_on must be an exception class, several, or a function, not {policy.retry_on!r}.")
    refuse_async("retry_on of a RetryPolicy", policy.retry_on, InvalidGraph)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and value >= 0  # which NaN is not


def _is_wanted(retry_on: Any) -> bool:
    if isinstance(retry_on, type):
        return issubclass(retry_on, BaseException)
    if isinstance(retry_on, Sequence) and not isinstance(retry_on, str):
        return all(isinstance(one, type) and issubclass(one, BaseException) for one in retry_on)
    return callable(retry_on)


def checked_policy(policy: CachePolicy | None) -> CachePolicy | None:
    """A cache policy, or none; anything else is refused."""
    if policy is None:
        return None
    if isinstance(policy, CachePolicy):
        if policy.key_func is not None and not callable(policy.key_func):
            raise InvalidGraph(
                f"key_func of a CachePolicy is {policy.key_func!r}. Give a function from an input to a key."
            )
        refuse_async("key_func of a CachePolicy", policy.key_func, InvalidGraph)
        if policy.ttl is not None and not _is_amount(policy.ttl):
            raise InvalidGraph(f"ttl of a CachePolicy is {policy.ttl!r}. Give seconds, or None for good.")
        return policy
    refuse_theirs(policy, "cache_policy is", InvalidGraph)
    raise InvalidGraph(
        f"cache_policy is {policy!r}. Give a CachePolicy (from signoff.types), such as CachePolicy(ttl=60)."
    )


def checked_trace(policy: TracePolicy | None) -> TracePolicy | None:
    """A trace policy, or none; anything else is refused."""
    if policy is None:
        return None
    if isinstance(policy, TracePolicy):
        refuse_async("process_inputs of a TracePolicy", policy.process_inputs, InvalidGraph)
        refuse_async("process_outputs of a TracePolicy", policy.process_outputs, InvalidGraph)
        return policy
    refuse_theirs(policy, "trace_policy is", InvalidGraph)
    raise InvalidGraph(
        f"trace_policy is {policy!r}. Give a TracePolicy (from signoff.types), such as "
        "TracePolicy(process_inputs=omit_payload)."
    )
