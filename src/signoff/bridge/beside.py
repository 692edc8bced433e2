"""What runs beside each other for one task. Here the stack of such a function ends, and the task waits for it."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from signoff import _scope
from signoff.drivers.scopes.callsite import branch


def beside(call: Callable[[], Any]) -> Any:
    """Call a function beside the task that it runs for."""
    return call()


async def abeside(call: Callable[[], Awaitable[Any]]) -> Any:
    """Await one."""
    return await call()


def awaited_at_last(runnable: Any, name: str = "") -> Any:
    """A runnable that runs beside others. If one of them asks or fails, LangChain leaves the rest to themselves.

    name: what it is called among these.
    """
    return _waiting_class()(runnable, name)


@cache
def _waiting_class() -> Any:
    from langchain_core.runnables import Runnable

    class AwaitedAtLast(Runnable[Any, Any]):
        """Hands every call on to another runnable; the task does not end before that."""

        def __init__(self, inner: Any, branch: str) -> None:
            self.name = inner.get_name()
            self.inner, self.branch = inner, branch

        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            raise NotImplementedError("made for async runs")

        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            scope = _scope.running.get()
            branch.set(self.branch)  # each is called in a context of its own
            ended = None if scope is None else scope.also_wait()
            try:
                return await self.inner.ainvoke(input, config, **kwargs)
            finally:
                if ended is not None and not ended.done():
                    ended.set_result(None)

    return AwaitedAtLast
