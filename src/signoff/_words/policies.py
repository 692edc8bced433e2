"""Policies: how a task is tried again, how long it may take, when its result is reused, what is recorded of it."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, NamedTuple

from typing_extensions import TypeVar

from signoff._elsewhere import refuse_theirs
from signoff._words.naming import public
from signoff.errors import InvalidInput, NodeTimeoutError, SignoffError

__all__ = ["CachePolicy", "RetryPolicy", "TimeoutPolicy", "TracePolicy", "default_retry_on", "omit_payload"]

KeyFuncT = TypeVar("KeyFuncT", bound=Callable[..., str | bytes], default=Any)


@public
def default_retry_on(error: Exception) -> bool:
    """Whether an error may go away by itself: broken connections and 5xx answers, not mistakes in the code."""
    if isinstance(error, ConnectionError | NodeTimeoutError) or _is_any(error, _BROKEN):
        return True
    if _is_any(error, _REFUSED):
        answer = getattr(error, "response", None)
        return answer is None or 500 <= answer.status_code < 600
    return not isinstance(error, _MISTAKES)


def _is_any(error: Exception, names: Sequence[tuple[str, str]]) -> bool:
    """Whether an error is of a class of some library, if the program uses that."""
    kinds = (getattr(sys.modules.get(library), name, None) for library, name in names)
    return any(kind is not None and isinstance(error, kind) for kind in kinds)


_REFUSED = (("httpx", "HTTPStatusError"), ("requests", "HTTPError"))
"""A server has answered, and said no."""

_BROKEN = (("requests", "ConnectionError"), ("requests", "Timeout"))
"""No answer came; for Python these are an OSError, as a file that is not there. Those of httpx are not."""

_MISTAKES = (
    ValueError, TypeError, ArithmeticError, ImportError, LookupError, NameError, SyntaxError, RuntimeError,
    ReferenceError, StopIteration, StopAsyncIteration, OSError, SignoffError,
)  # fmt: skip


@public
class RetryPolicy(NamedTuple):
    """How often, how long after, and for which errors a failed task is tried again."""

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] = default_retry_on


@public
@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutPolicy:
    """How long an async node may run, or be silent, before it is cancelled."""

    run_timeout: float | timedelta | None = None
    idle_timeout: float | timedelta | None = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"

    def __post_init__(self) -> None:
        for name in ("run_timeout", "idle_timeout"):
            seconds = as_seconds(getattr(self, name))
            if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
                raise InvalidInput(f"{name} must be more than 0 seconds, not {seconds!r}.")
            object.__setattr__(self, name, seconds)

    @classmethod
    def coerce(cls, value: "float | timedelta | TimeoutPolicy | None") -> "TimeoutPolicy | None":
        """A plain number of seconds is a run timeout."""
        if value is None or isinstance(value, TimeoutPolicy):
            return value
        refuse_theirs(value, "The timeout is", InvalidInput)
        return cls(run_timeout=value)


def as_seconds(value: float | timedelta | None) -> float | None:
    """A length of time as a number of seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else value


@public
@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy(Generic[KeyFuncT]):
    """When a task's result may be taken from an earlier run with the same input."""

    key_func: KeyFuncT | None = None
    """From the task's input to its key; by default a digest of the input's stored form."""
    ttl: int | None = None
    """Seconds until a result is forgotten; None keeps it."""


@public
@dataclass(frozen=True, slots=True, kw_only=True)
class TracePolicy:
    """What traces record of a node. What it calls is recorded as ever, and so is the graph around it."""

    process_inputs: Callable[[Any], Any] | None = None
    """From what the node is given to what is recorded of it."""
    process_outputs: Callable[[Any], Any] | None = None
    """From what the node returns to what is recorded of it."""


@public
def omit_payload(value: Any) -> dict[str, Any]:
    """For a TracePolicy: nothing is recorded."""
    return {}
