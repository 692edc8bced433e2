"""Ask a person before a tool runs: the shapes of the question and the answer, and a wrapper for any tool."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial
from typing import Any, Literal, cast

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from signoff import _scope
from signoff._annotations import refuse_async
from signoff._words.questions import Interrupt, interrupt
from signoff.bridge.threads import is_threaded
from signoff.errors import InvalidInput, ReplayMismatch
from signoff.prebuilt._invoking import called_in_loop, check_sync
from signoff.prebuilt.argument_classes import Misfit, details_of
from signoff.prebuilt.asked_before import own_questions
from signoff.prebuilt.carrying import carrying, uncarried
from signoff.prebuilt.injection import injections_of
from signoff.prebuilt.tool_errors import listed
from signoff.prebuilt.toolbox import argument_defaults, call_schema, made_tool, takes_others
from signoff.prebuilt.ways_of_tools import way_to

__all__ = ["ActionRequest", "HumanInterrupt", "HumanInterruptConfig", "HumanResponse", "add_human_in_the_loop"]


class ActionRequest(TypedDict):
    """What is about to be done: the tool and its arguments."""

    action: str
    args: dict[str, Any]


class HumanInterruptConfig(TypedDict):
    """What the person may do. What is not mentioned is not allowed."""

    allow_ignore: bool
    allow_respond: bool
    allow_edit: bool
    allow_accept: bool


class HumanInterrupt(TypedDict):
    """The question. It is asked as a list with one of these."""

    action_request: ActionRequest
    config: HumanInterruptConfig
    description: str | None


class HumanResponse(TypedDict):
    """The answer: a list with one of these, or a bare one.

    accept runs the tool as asked; edit runs it with the arguments of the ActionRequest in `args`; response
    gives the text in `args` to the model as the tool's result; ignore tells the model that it was not run.
    """

    type: Literal["accept", "ignore", "response", "edit"]
    args: str | ActionRequest | None


DEFAULT = HumanInterruptConfig(allow_ignore=False, allow_respond=True, allow_edit=True, allow_accept=True)

_NEEDS = {"accept": "allow_accept", "edit": "allow_edit", "response": "allow_respond", "ignore": "allow_ignore"}
"""From a type of answer to the setting that allows it."""

IGNORED = "The person decided that this call is not to be made. It was not made."
"""What the model is told of a call that was ignored."""


def add_human_in_the_loop(
    tool: BaseTool | Callable[..., Any],
    *,
    interrupt_config: HumanInterruptConfig | Mapping[str, bool] | None = None,
    description: str | Callable[[ActionRequest], str] | None = None,
) -> BaseTool:
    """The same tool, but every call of it waits for a person: accept, edit, response, or ignore.

    An answer that does not fit is not lost and harms nothing: the question is asked again and says why.
    """
    inner = made_tool(tool)
    refuse_async("description", description, InvalidInput)
    config = _checked_config(cast(Mapping[str, bool], interrupt_config or DEFAULT), inner.name)
    return AskingTool(
        name=inner.name,
        description=inner.description,
        args_schema=inner.args_schema or call_schema(inner),
        return_direct=inner.return_direct,
        response_format=inner.response_format,
        tags=inner.tags,
        metadata=inner.metadata,
        extras=inner.extras,
        tool=inner,
        interrupt_config=config,
        question=description,
    )


def _checked_config(config: Mapping[str, bool], name: str) -> dict[str, bool]:
    if unknown := set(config) - set(_NEEDS.values()):
        raise InvalidInput(
            f"interrupt_config for {name!r} has {', '.join(map(repr, sorted(unknown)))}. It knows: "
            f"{', '.join(sorted(_NEEDS.values()))}."
        )
    if not any(config.values()):
        raise InvalidInput(f"interrupt_config for {name!r} allows nothing, so nobody could answer. Allow something.")
    return {setting: bool(config.get(setting)) for setting in HumanInterruptConfig.__annotations__}


class AskingTool(BaseTool):
    """A tool that asks before it runs."""

    tool: BaseTool
    interrupt_config: dict[str, bool]
    question: Any = None

    @property
    def _injected_args_keys(self) -> frozenset[str]:
        return self.tool._injected_args_keys

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("run() asks, and hands on to the tool inside")

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        """Ask, then run the tool inside, or answer in its place."""
        check_sync(self.tool)  # later would be too late: a person had approved then what cannot be done
        decided = self._decide(tool_input, tool_call_id)
        if isinstance(decided, str):
            return self._reply(decided, tool_call_id)
        return uncarried(way_to(carrying(self.tool), "run", decided, *args, tool_call_id=tool_call_id, **kwargs)())

    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:
        """Ask, then run the tool inside, or answer in its place."""
        decided = self._decide(tool_input, tool_call_id)
        if isinstance(decided, str):
            return self._reply(decided, tool_call_id)
        inner, given = carrying(self.tool), {**kwargs, "tool_call_id": tool_call_id}
        run, arun = (way_to(inner, method, decided, *args, **given) for method in ("run", "arun"))
        result = await called_in_loop(inner, _scope.running.get(), run, arun, partial(arun, callbacks=[]))
        return uncarried(result)

    def _reply(self, text: str, tool_call_id: str | None) -> Any:
        return text if tool_call_id is None else ToolMessage(text, name=self.name, tool_call_id=tool_call_id)

    def _decide(self, tool_input: Any, tool_call_id: str | None) -> dict[str, Any] | str:
        """The arguments to run with, or what to answer instead."""
        given = tool_input if isinstance(tool_input, dict) else {"__arg1": tool_input}
        # A call that the tool would refuse anyway is not worth anybody's time.
        taken = self.tool._parse_input(dict(given), tool_call_id)
        hidden = {name: value for name, value in given.items() if name in self._injected}
        shown = {
            name: value
            for name, value in given.items()
            if name not in hidden and not self._is_dropped(name, given, taken, tool_call_id)
        }
        problem = None
        while True:
            answer = interrupt([self._ask(shown, problem)])
            try:
                return self._understood(answer, given, shown, hidden, tool_call_id)
            except _NotUnderstood as error:
                problem = str(error)

    @cached_property
    def _injected(self) -> frozenset[str]:
        """The arguments that are none of the model's business, nor of a person's."""
        wants = injections_of(self.tool)
        return frozenset({*wants.names, *wants.call_id, *self._injected_args_keys})

    def _is_dropped(self, name: str, given: dict[str, Any], taken: Any, tool_call_id: str | None) -> bool:
        """Whether the tool gets the same without an argument: who sees it would approve something else."""
        if name in argument_defaults(self.tool):
            return False
        rest = {other: value for other, value in given.items() if other != name}
        try:
            return bool(self.tool._parse_input(rest, tool_call_id) == taken)
        except Exception:  # it is missed then, or cannot be compared
            return False

    def _ask(self, args: dict[str, Any], problem: str | None) -> HumanInterrupt:
        plain = TypeAdapter(dict[str, Any]).dump_python(args, mode="json", fallback=str)
        request = ActionRequest(action=self.name, args=plain)
        text = self.question(request) if callable(self.question) else self.question
        text = text or f"May {self.name} run with these arguments?"
        return {
            "action_request": request,
            "config": self.interrupt_config,  # type: ignore[typeddict-item]
            "description": f"{text}\n\nThe last answer was not taken: {problem}" if problem else text,
        }

    def _understood(
        self,
        answer: Any,
        given: dict[str, Any],
        shown: Collection[str],
        hidden: dict[str, Any],
        tool_call_id: str | None,
    ) -> dict[str, Any] | str:
        kind, args = self._read(answer)
        match kind:
            case "accept":
                return given
            case "edit":
                return {**self._edited(args, shown, hidden, tool_call_id), **hidden}
            case "response" if isinstance(args, str):
                return args
            case "response":
                raise _NotUnderstood(f"a response needs its text in args, not {args!r}.")
        return IGNORED

    def _read(self, answer: Any) -> tuple[str, Any]:
        allowed = [kind for kind, setting in _NEEDS.items() if self.interrupt_config[setting]]
        one = answer[0] if isinstance(answer, list | tuple) and len(answer) == 1 else answer
        if not isinstance(one, Mapping) or one.get("type") not in allowed:
            raise _NotUnderstood(
                f"{answer!r} is not one of {', '.join(allowed)}. Answer with {{'type': ..., 'args': ...}}."
            )
        return one["type"], one.get("args")

    def _edited(
        self, args: Any, shown: Collection[str], hidden: dict[str, Any], tool_call_id: str | None
    ) -> dict[str, Any]:
        edited = args.get("args") if isinstance(args, Mapping) else None
        if not isinstance(edited, Mapping):
            raise _NotUnderstood(f"an edit needs {{'action': {self.name!r}, 'args': {{...}}}} in args, not {args!r}.")
        if args.get("action", self.name) != self.name:
            raise _NotUnderstood(
                f"an edit cannot turn {self.name!r} into {args['action']!r}. Respond in words instead."
            )
        told = {name: value for name, value in edited.items() if name not in self._injected}
        known = {*argument_defaults(self.tool), *shown}
        if (unknown := set(told) - known) and not takes_others(self.tool):
            raise _NotUnderstood(f"the tool has no argument {', '.join(map(repr, sorted(unknown)))}.")
        try:
            self.tool._parse_input({**told, **hidden}, tool_call_id)
        except Misfit as error:
            raise _NotUnderstood(f"the arguments do not fit: {listed(details_of(error))}.") from error
        return told


def in_thread(tool: BaseTool | None) -> bool:
    """Whether an async run, too, calls a sync function for a tool, or for the one that it asks about."""
    return is_threaded(tool.tool if isinstance(tool, AskingTool) else tool)


def check_asking(tools: Mapping[str, BaseTool], scope: Any) -> None:
    """Refuse to run with an answer about a tool that asks nobody any more: it would run, whatever was answered."""
    for question in own_questions(scope):
        name = _asked_about(question) or ""
        if name in tools and not isinstance(tools[name], AskingTool):
            scope.refusal = ReplayMismatch(
                f"A person was asked about a call of {name!r}, and that tool asks nobody any more, so the answer would "
                f"reach nobody. It was not run, and question {question.id!r} is kept. Wrap the tool in "
                "add_human_in_the_loop() again; or drop the question: call the graph with new input and "
                'on_pending="discard".'
            )
            raise scope.refusal


def _asked_about(question: Interrupt[Any]) -> str | None:
    """The tool that an AskingTool has asked about: there is no code of the program's own on the way to its question."""
    if question.key is not None or (question.origin or {}).get("site"):
        return None
    match question.value:
        case [{"action_request": {"action": str(name)}, "config": {}}]:
            return name
    return None


class _NotUnderstood(Exception):
    """An answer that cannot be taken, and why."""
