"""Sync parts of LangChain's in async runs: LangChain has threads of its own for them, which no run would wait for."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from signoff import _scope
from signoff.bridge.beside import beside
from signoff.drivers.tasks.aio_threads import in_thread

__all__ = ["in_run", "is_sync", "is_sync_tool", "is_threaded", "is_tool", "runs_beside_loop", "threaded"]


def is_sync_tool(tool: Any) -> bool:
    """Whether something is a tool that LangChain calls in a thread as a whole, where there is an event loop."""
    from langchain_core.tools import StructuredTool, Tool

    is_known = getattr(type(tool), "ainvoke", None) in (StructuredTool.ainvoke, Tool.ainvoke)
    return is_known and tool.coroutine is None


def runs_beside_loop(tool: Any) -> bool:
    """Whether something is a tool of another class, of which LangChain calls only the function in a thread."""
    from langchain_core.tools import BaseTool

    return is_tool(tool) and type(tool)._arun is BaseTool._arun


def is_threaded(tool: Any) -> bool:
    """Whether something is a tool whose function an async run calls in a thread."""
    from langchain_core.tools import BaseTool

    of = type(tool)
    return is_sync_tool(tool) or (runs_beside_loop(tool) and (of.arun, of.ainvoke) == (BaseTool.arun, BaseTool.ainvoke))


def threaded(tool: Any, **place: bool) -> Callable[..., Any]:
    """How to await the function of such a tool, in a thread that the run waits for."""
    run = tool._run

    async def _arun(*args: Any, **kwargs: Any) -> Any:
        if (manager := kwargs.get("run_manager")) is not None:
            kwargs["run_manager"] = manager.get_sync()
        return await in_run(partial(run, *args, **kwargs), **place)

    return _arun


def is_tool(thing: Any) -> bool:
    """Whether something is a tool of LangChain's."""
    from langchain_core.tools import BaseTool

    return isinstance(thing, BaseTool)


def is_sync(thing: Any) -> bool:
    """Whether LangChain would call a runnable in a thread as a whole: it says only how to invoke it."""
    from langchain_core.runnables import Runnable

    return is_sync_tool(thing) or getattr(type(thing), "ainvoke", None) is Runnable.ainvoke


async def in_run(call: Callable[[], Any], *, is_last: bool = True, is_beside: bool = False) -> Any:
    """The result of a sync function, called in a thread that the run waits for.

    Something may come behind it (`is_last`), or others may run beside it (`is_beside`).
    """
    scope = _scope.running.get()
    if scope is None:
        return await asyncio.to_thread(call)
    result = await in_thread(partial(beside, call) if is_beside else call, scope.host, concludes=scope.is_at_edges)
    if scope.host.is_stopping and not is_last:
        raise asyncio.CancelledError  # the function has ended; what comes behind it need not begin any more
    return result
