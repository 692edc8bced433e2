"""A todo list that the model keeps: it plans, and everybody sees how far it is."""

from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, StructuredTool
from typing_extensions import TypedDict

from signoff._words.commands import Command
from signoff.agents.middleware.base import AgentMiddleware, AsyncModelHandler, ModelHandler, ModelRequest
from signoff.agents.middleware.checks import check_text
from signoff.agents.middleware.prompting import with_more
from signoff.agents.middleware.state import AgentState, OmitFromInput, ResponseT
from signoff.prebuilt.agent_routes import last_of_model
from signoff.prebuilt.injection import InjectedState
from signoff.typing import ContextT

__all__ = ["PlanningState", "Todo", "TodoListMiddleware"]

PROMPT = (
    "You have a todo list, which the user sees. Work that takes several steps: write the steps down first with "
    "write_todos, and keep their states true as you go. Work that takes one or two: just do it."
)
DESCRIPTION = "Write the todo list anew: all steps, each pending, in_progress or completed. Once in a turn."
SEVERAL = (
    "The list was not written: it was to be written several times in one turn, and each time anew. Write it once, with "
    "all steps."
)


class Todo(TypedDict):
    """One step of a plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


def _last(known: Any, written: Any) -> Any:
    """The newest one counts, where subagents and a person write beside each other, too."""
    return written


class PlanningState(AgentState[ResponseT]):
    """The state of an agent with a todo list."""

    todos: NotRequired[Annotated[list[Todo], _last, OmitFromInput]]


class TodoListMiddleware(AgentMiddleware[PlanningState[ResponseT], ContextT, ResponseT]):
    """Gives the model the tool write_todos, and tells it about it."""

    state_schema = PlanningState

    def __init__(self, *, system_prompt: str = PROMPT, tool_description: str = DESCRIPTION) -> None:
        check_text("system_prompt", system_prompt)
        check_text("tool_description", tool_description)
        self.system_prompt = system_prompt
        self.tool_description = tool_description
        self.tools = [_tool(tool_description)]

    def wrap_model_call(self, request: ModelRequest[Any], handler: ModelHandler) -> Any:
        return handler(self._told(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncModelHandler) -> Any:
        return await handler(self._told(request))

    def _told(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        return request.override(system_message=with_more(request.system_message, self.system_prompt))


@lru_cache(maxsize=16)
def _tool(description: str) -> StructuredTool:
    """The tool with a description; to read the form of its arguments takes a while, and subagents have it, too."""
    return StructuredTool.from_function(write_todos, description=description)


def write_todos(
    todos: list[Todo], tool_call_id: Annotated[str, InjectedToolCallId], state: Annotated[Any, InjectedState]
) -> Any:
    """Write the todo list."""
    if _times_wanted(state) > 1:
        return ToolMessage(SEVERAL, name="write_todos", tool_call_id=tool_call_id, status="error")
    left = sum(todo["status"] != "completed" for todo in todos)
    said = ToolMessage(f"The list has {len(todos)} steps, {left} of them open.", tool_call_id=tool_call_id)
    return Command(update={"todos": todos, "messages": [said]})


def _times_wanted(state: Any) -> int:
    """How often the model wants the list to be written in one turn."""
    said = last_of_model(state["messages"])
    return 0 if said is None else sum(call["name"] == "write_todos" for call in said.tool_calls)
