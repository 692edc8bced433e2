"""Many tools: a model chooses those that the next turn is told of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from signoff._annotations import refuse_async
from signoff.agents.middleware.base import AgentMiddleware, AsyncModelHandler, ModelHandler, ModelRequest
from signoff.agents.middleware.calling import unheard
from signoff.agents.middleware.checks import check_count, check_text
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.config import RunnableConfig
from signoff.errors import InvalidInput
from signoff.prebuilt.models import as_model
from signoff.pregel.typing import are_texts
from signoff.steps import Steps, adrive, drive
from signoff.typing import ContextT

__all__ = ["LLMToolSelectorMiddleware"]

OnParsingFailure = Literal["error", "none", "all"] | list[str] | Callable[[Any], list[str]]

PROMPT = (
    "You choose the tools that an assistant needs to do what the user wants. Name those that may be of use, the most "
    "useful first, and no others."
)


class LLMToolSelectorMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Before each turn a model chooses the tools for it, by what the user said last.

    model: the one that chooses; the agent's own, if not given.
    max_tools: how many it may choose; what is more is left out.
    always_include: tools that are there whatever it chooses.
    max_retries: how often it is asked again if it names no tools, or tools that there are not.
    on_parsing_failure: what then: "error" raises, "none" chooses none, "all" chooses all, a list has the names, a
        function makes them of what the model said.
    """

    def __init__(
        self,
        *,
        model: Any = None,
        system_prompt: str = PROMPT,
        max_tools: int | None = None,
        always_include: Sequence[str] | None = None,
        max_retries: int = 1,
        on_parsing_failure: OnParsingFailure = "error",
    ) -> None:
        check_count("max_retries", max_retries)
        if max_tools is not None:
            check_count("max_tools", max_tools)
        check_text("system_prompt", system_prompt)
        if not are_texts(always_include or ()) or isinstance(always_include, str):
            raise InvalidInput(f"always_include is {always_include!r}. Give a list of names of tools.")
        is_list = are_texts(on_parsing_failure) and not isinstance(on_parsing_failure, str)
        if on_parsing_failure not in ("error", "none", "all") and not (is_list or callable(on_parsing_failure)):
            raise InvalidInput(
                f'on_parsing_failure is {on_parsing_failure!r}. It is "error", "none", "all", a list of tools, or a '
                "function."
            )
        refuse_async("on_parsing_failure", on_parsing_failure, InvalidInput)
        if not isinstance(model, str | Runnable | None):
            raise InvalidInput(f"The model is {model!r}. Give a chat model, or its name.")
        self.model = as_model(model)
        self.system_prompt = system_prompt
        self.max_tools = max_tools
        self.always_include = list(always_include or ())
        self.max_retries = max_retries
        self.on_parsing_failure = on_parsing_failure

    def wrap_model_call(self, request: ModelRequest[Any], handler: ModelHandler) -> Any:
        return handler(drive(self._selected(request), lambda ask: ask[0].invoke(ask[1], _call())))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncModelHandler) -> Any:
        return await handler(await adrive(self._selected(request), lambda ask: ask[0].ainvoke(ask[1], _call())))

    def _selected(self, request: ModelRequest[Any]) -> Steps[ModelRequest[Any]]:
        """The request with fewer tools; the model is asked with (model, messages)."""
        tools = {tool.name: tool for tool in request.tools if isinstance(tool, BaseTool)}
        if unknown := sorted(set(self.always_include) - tools.keys()):
            raise InvalidInput(
                f"always_include has {', '.join(map(repr, unknown))}. The tools are: {', '.join(tools)}."
            )
        choice = {name: tool for name, tool in tools.items() if name not in self.always_include}
        said = next((one for one in reversed(request.messages) if isinstance(one, HumanMessage)), None)
        if not choice or said is None:
            return request
        chosen = yield from self._chosen(request, choice, said)
        wanted = {*chosen, *self.always_include}
        return request.override(tools=[one for one in request.tools if isinstance(one, dict) or one.name in wanted])

    def _chosen(
        self, request: ModelRequest[Any], choice: Mapping[str, BaseTool], said: AnyMessage
    ) -> Steps[Sequence[str]]:
        model = (self.model or request.model).with_structured_output(_form(choice))
        answer: Any = None
        for _ in range(self.max_retries + 1):
            answer = yield model, [SystemMessage(self._prompt(choice)), said]
            names = answer.get("tools") if isinstance(answer, dict) else None
            if isinstance(names, list) and all(isinstance(name, str) and name in choice for name in names):
                return list(dict.fromkeys(names))[: self.max_tools]
        return self._instead(answer, choice)

    def _instead(self, answer: Any, choice: Mapping[str, BaseTool]) -> Sequence[str]:
        match self.on_parsing_failure:
            case "error":
                raise InvalidInput(
                    f"The model was to choose among the tools {', '.join(choice)}, and answered {answer!r}. Choose "
                    "another model, or say what is to happen with on_parsing_failure."
                )
            case "none":
                return []
            case "all":
                return list(choice)
        given = self.on_parsing_failure
        return given(answer) if callable(given) else list(given)

    def _prompt(self, choice: Mapping[str, BaseTool]) -> str:
        most = f" Name at most {self.max_tools}." if self.max_tools is not None else ""
        tools = "\n".join(f"- {name}: {tool.description}" for name, tool in choice.items())
        return f"{self.system_prompt}{most}\n\n{tools}"


def _form(choice: Mapping[str, BaseTool]) -> dict[str, Any]:
    """The form of the answer: names of tools."""
    return {
        "title": "tools_to_use",
        "description": "The tools to use, the most useful first.",
        "type": "object",
        "properties": {"tools": {"type": "array", "items": {"type": "string", "enum": list(choice)}}},
        "required": ["tools"],
    }


def _call() -> RunnableConfig:
    return unheard("tool_selection")
