"""What a tool returned, past LangChain: it makes a text of what it does not know, and loses what is cancelled."""

from functools import wraps
from typing import Any

from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.tools import BaseTool

from signoff._words.commands import Command
from signoff.bridge.threads import runs_beside_loop, threaded

__all__ = ["carrying", "has_returned", "uncarried"]

_RETURNED = "__signoff_returned__"


class Carried(ToolOutputMixin):
    """Something that LangChain hands on as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def carrying(tool: BaseTool) -> BaseTool:
    """The same tool for one call, with Commands in its result carried."""
    run, arun = tool._run, threaded(tool) if runs_beside_loop(tool) else tool._arun
    returned: list[Any] = []

    @wraps(run)
    def _run(*args: Any, **kwargs: Any) -> Any:
        return _carried(run(*args, **kwargs))

    @wraps(arun)
    async def _arun(*args: Any, **kwargs: Any) -> Any:
        if not returned:
            returned.append(_carried(await arun(*args, **kwargs)))
        return returned[0]

    copy = tool.model_copy()
    # In the instance itself, where it goes before the method of the class, whatever class the tool is of.
    copy.__dict__.update({"_run": _run, "_arun": _arun, _RETURNED: returned})
    return copy


def has_returned(tool: Any) -> bool:
    """Whether the coroutine of a tool that carries has returned: it is not run again, whoever calls the tool."""
    return bool(getattr(tool, "__dict__", {}).get(_RETURNED))


def _carried(result: Any) -> Any:
    is_several = isinstance(result, list) and any(isinstance(item, Command) for item in result)
    return Carried(result) if is_several or isinstance(result, Command) else result


def uncarried(result: Any) -> Any:
    """What a tool returned, after LangChain handed it on."""
    return result.value if isinstance(result, Carried) else result
