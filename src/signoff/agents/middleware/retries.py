"""What failed is tried again: calls of the model, and calls of tools."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool

from signoff.agents.middleware.base import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from signoff.agents.middleware.checks import check_count, check_errors, check_number
from signoff.agents.middleware.tool_errors import chooser, failed_call
from signoff.errors import InvalidInput
from signoff.steps import Steps, adrive, drive

__all__ = ["ModelRetryMiddleware", "ToolRetryMiddleware"]

RetryOn = type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool]
OnFailure = Literal["continue", "error"] | Callable[[Exception], str]


def may_pass(error: Exception) -> bool:
    """Whether an error may be gone the next time; those of LangChain's models say if not, as that of a wrong key."""
    return getattr(error, "is_retryable", True) is not False


_SPREAD = 0.25
"""How much of a pause is left to chance, so that many who failed at once do not come back at once."""


class _Retrying(AgentMiddleware[Any, Any]):
    """What both have in common: which errors are tried again, how often, after how long, and what comes then."""

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
            raise InvalidInput(f'on_failure must be "continue", "error" or a function, not {on_failure!r}.')
        self.max_retries = max_retries
        self.retry_on = retry_on
        self.on_failure = on_failure
        self.backoff_factor = backoff_factor
        self.initial_delay = initial_delay
        self.max_delay = max_delay
        self.jitter = jitter

    def _tried(self, failed: Callable[[str], Any]) -> Steps[Any]:
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
        pause = self.initial_delay * (self.backoff_factor**retry if self.backoff_factor else 1)
        pause = min(pause, self.max_delay)
        return pause * random.uniform(1 - _SPREAD, 1 + _SPREAD) if self.jitter else pause


def _performing(call: Callable[[], Any]) -> Callable[[float | None], Any]:
    return lambda pause: call() if pause is None else time.sleep(pause)


def _aperforming(call: Callable[[], Awaitable[Any]]) -> Callable[[float | None], Awaitable[Any]]:
    return lambda pause: call() if pause is None else asyncio.sleep(pause)


class ModelRetryMiddleware(_Retrying):
    """Calls the model again when that failed.

    retry_on: the errors after which it does, or a function that tells; others are raised at once. If not given, all
        but those that say of themselves that they will not pass.
    on_failure: what the last failure leads to. "continue" ends the turn with a message that says what went wrong, a
        function makes the text of it, "error" raises the error.
    backoff_factor: by how much each pause is longer than the one before; with 0 they are all the same.
    """

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        return drive(self._tried(self._failed), _performing(lambda: handler(request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Any:
        return await adrive(self._tried(self._failed), _aperforming(lambda: handler(request)))

    def _failed(self, told: str) -> AIMessage:
        return AIMessage(told if callable(self.on_failure) else f"I could not be reached: {told}")


class ToolRetryMiddleware(_Retrying):
    """Calls a tool again when that failed. The decision of a person on the call holds until it has succeeded.

    tools: those that are tried again, or their names; all, if not given. The rest as in ModelRetryMiddleware; what the
    last failure leads to is the result of the call, as an error that the model is told.
    """

    calls_unknown_tools = False

    def __init__(self, *, tools: Sequence[BaseTool | str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._is_for = chooser(tools)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        if not self._is_for(request):
            return handler(request)
        return drive(self._tried(self._failed(request)), _performing(lambda: handler(request)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:
        if not self._is_for(request):
            return await handler(request)
        return await adrive(self._tried(self._failed(request)), _aperforming(lambda: handler(request)))

    def _failed(self, request: ToolCallRequest) -> Callable[[str], ToolMessage]:
        name = request.tool_call["name"]
        return lambda told: failed_call(
            request, told if callable(self.on_failure) else f"The call of {name} failed: {told}"
        )
