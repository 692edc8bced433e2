"""What a tool returned, past LangChain: it makes a text of what it does not know, and loses what is cancelled."""

from functools import wraps
from typing import Any

from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.tools import BaseTool

from signoff._words.commands import Command
from signoff.bridge.keeping import arun_of

__all__ = ["carrying", "has_returned", "uncarried"]

_RETURNED = "__signoff_returned__"


class CarriedCommand(Command[Any], ToolOutputMixin):
    """A Command that LangChain hands on as it is. To callbacks, which hear of it, it is a Command like any other."""

    original: Command[Any]

    @classmethod
    def of(cls, command: Command[Any]) -> "CarriedCommand":
        """The Command, ready to be handed on."""
        one = cls(graph=command.graph, update=command.update, resume=command.resume, goto=command.goto, by=command.by)
        object.__setattr__(one, "original", command)
        return one


class CarriedList(list[Any], ToolOutputMixin):
    """A list with Commands in it."""


def carrying(tool: BaseTool) -> BaseTool:
    """The same tool for one call, with Commands in its result carried."""
    run, arun = tool._run, arun_of(tool)
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
    if isinstance(result, Command):
        return CarriedCommand.of(result)
    is_several = isinstance(result, list) and any(isinstance(item, Command) for item in result)
    return CarriedList(result) if is_several else result


def uncarried(result: Any) -> Any:
    """What a tool returned, after LangChain handed it on."""
    if isinstance(result, CarriedCommand):
        return result.original
    return list(result) if isinstance(result, CarriedList) else result
