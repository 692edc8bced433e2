"""What failed is tried again: which errors, how often, after how long, and what comes then."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from signoff._annotations import refuse_async
from signoff._words.policies import RetryPolicy
from signoff.agents.middleware.base import AgentMiddleware
from signoff.agents.middleware.checks import check_count, check_errors, check_number
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.engine.attempts.retries import pause_before
from signoff.errors import InvalidInput
from signoff.steps import Steps
from signoff.typing import ContextT

__all__ = ["Retrying", "aperforming", "performing"]

RetryOn = type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool]
OnFailure = Literal["continue", "error"] | Callable[[Exception], str]


def may_pass(error: Exception) -> bool:
    """Whether an error may be gone the next time; those of LangChain's models say if not, as that of a wrong key."""
    return getattr(error, "is_retryable", True) is not False


_SPREAD = 0.25
"""How much of a pause is left to chance, so that many who failed at once do not come back at once."""


_OLD = {"raise": "error", "return_message": "continue"}
"""What LangChain calls deprecated, and what to write instead."""


def _meant(written: Any) -> str:
    return f' Write "{_OLD[written]}".' if isinstance(written, str) and written in _OLD else ""


class Retrying(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Middleware that tries again, around the model or around tools."""

    def __init__(
        self,
        *,
        max_retries: int = 2,
        retry_on: RetryOn = may_pass,
        on_failure: OnFailure = "continue",
        backoff_factor: float = 2.0,
        initial_delay: float = 1.0,
        max_delay: float = 60.0,
        jitter: bool = True,
    ) -> None:
        check_count("max_retries", max_retries)
        check_number("backoff_factor", backoff_factor)
        check_number("initial_delay", initial_delay)
        check_number("max_delay", max_delay)
        check_errors("retry_on", retry_on)
        if on_failure not in ("continue", "error") and not callable(on_failure):
            raise InvalidInput(
                f'on_failure must be "continue", "error" or a function, not {on_failure!r}.{_meant(on_failure)}'
            )
        refuse_async("on_failure", on_failure, InvalidInput)
        self.max_retries = max_retries
        self.retry_on = retry_on
        self.on_failure = on_failure
        self.backoff_factor = backoff_factor
        self.initial_delay = initial_delay
        self.max_delay = max_delay
        self.jitter = jitter

    def tried(self, failed: Callable[[str], Any]) -> Steps[Any]:
        """Ask for the call, with None, until it succeeds; and for pauses in between, with their seconds.

        failed: what a text makes of it when all was in vain.
        """
        for retry in range(self.max_retries + 1):
            try:
                return (yield None)
            except Exception as error:
                if not self._is_retried(error):
                    raise
                if retry == self.max_retries:
                    if self.on_failure == "error":
                        raise
                    return failed(self._told(error))
            yield self._pause(retry)
        raise AssertionError("the last try returns, or raises")

    def _is_retried(self, error: Exception) -> bool:
        wanted = self.retry_on
        if isinstance(wanted, type):
            return isinstance(error, wanted)
        return wanted(error) if callable(wanted) else isinstance(error, tuple(wanted))

    def _told(self, error: Exception) -> str:
        if callable(self.on_failure):
            return self.on_failure(error)
        times = "once" if self.max_retries == 0 else f"{self.max_retries + 1} times"
        return f"it was tried {times}, and failed with {type(error).__name__}: {error}"

    def _pause(self, retry: int) -> float:
        policy = RetryPolicy(self.initial_delay, self.backoff_factor or 1, self.max_delay)
        pause = pause_before(policy, retry + 1)
        return pause * random.uniform(1 - _SPREAD, 1 + _SPREAD) if self.jitter else pause


def performing(call: Callable[[], Any]) -> Callable[[float | None], Any]:
    """What does, in a sync run, what trying asks for: a pause, or the call."""
    return lambda pause: call() if pause is None else time.sleep(pause)


def aperforming(call: Callable[[], Awaitable[Any]]) -> Callable[[float | None], Awaitable[Any]]:
    """The same, on an event loop."""
    return lambda pause: call() if pause is None else asyncio.sleep(pause)
