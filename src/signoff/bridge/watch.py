"""The watch over a task: callbacks hear of each attempt, and of the conditional edges behind it, as chains."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from signoff import bridge
from signoff._annotations import signature_of
from signoff.bridge.messages import is_message_handler, note_input, show_result
from signoff.bridge.recording import follows_output, parted, recorded
from signoff.constants import TAG_HIDDEN
from signoff.engine.effects import Call, Sleep, Tell
from signoff.engine.program import Branch
from signoff.engine.task import Outcome, Task
from signoff.errors import GraphInterrupt, OutsideOfRun
from signoff.steps import Steps, through

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


class Watch:
    """Tells LangChain's callbacks what happens in one task."""

    def __init__(self, around: Any, tools: Any, scope: "Scope", is_async: bool) -> None:
        self.around = around
        """The run of the graph, as they know it."""
        self.tools = tools
        """What knows which tools have begun and not ended."""
        self.scope = scope
        self.is_async = is_async
        self.attempt: Any = None
        """The attempt under way, as they know it."""

    def followed(self, steps: Steps[Outcome]) -> Steps[Outcome]:
        """A task, told from its start to its end; what it calls reports to the same handlers."""
        scope = self.scope
        shows_messages = scope.host.is_read("messages") and not scope.task.node.is_hidden
        if shows_messages:
            note_input(scope)
        try:
            outcome = yield from through(steps, self._performed)
        except GeneratorExit:
            raise
        except BaseException as error:  # it is called off, by itself or with its run
            called_off = error
            if self.attempt is not None:
                yield from self._tell(lambda: self.attempt.on_chain_error(called_off))
            raise
        if shows_messages:
            show_result(scope, outcome)
        try:
            yield from self._end(outcome)
        except Exception as error:
            if not outcome.is_done:
                raise
            outcome.untold = error
        return outcome

    def _end(self, outcome: Outcome) -> Steps[None]:
        if self.tools.begun and (self.scope.led_by is not None or not outcome.is_done):
            yield from self._end_tools(outcome)
        policy = self.scope.task.node.trace
        if policy is not None and policy.process_outputs is not None and outcome.is_done:
            with self._unasked("The process_outputs"):
                told = recorded(self.scope.output, policy.process_outputs)
            self.attempt, tracers = parted(self.attempt)
            yield from self._tell(lambda: tracers.on_chain_end(told), concludes=True)
        if self.attempt is not None:
            yield from self._tell(lambda: self._tell_end(outcome), concludes=True)

    def _tell(self, tell: Callable[[], Any], *, concludes: bool = False) -> Steps[Any]:
        with self._unasked("A callback"):
            return (yield Tell(tell, concludes=concludes))

    @contextmanager
    def _unasked(self, who: str) -> Iterator[None]:
        """While this lasts, nobody can be asked: what traces record, and who hears of it, is none of the work."""
        try:
            yield
        except GraphInterrupt as pause:
            asked = {question.id for question in pause.interrupts}
            self.scope.pause = None
            # LangChain calls some in threads of its own, beside the task.
            self.scope.beside = tuple(one for one in self.scope.beside if one.id not in asked)
            raise OutsideOfRun(
                f"{who} of node {self.scope.task.name!r} asked {pause.interrupts[0].value!r}, and it cannot: it is "
                "told what the node does, and does not do it. Ask in the node itself."
            ) from None

    def _performed(self, effect: Any) -> Steps[Any]:
        if type(effect) is Sleep:
            failed, self.attempt = self.attempt, None
            if failed is not None:  # else it has failed since it could not be told
                yield from self._tell(lambda: failed.on_chain_error(effect.after))
        if type(effect) is not Call:
            return (yield effect)
        if effect.action is self.scope.task.node.action:
            yield from self._begin()
            return (yield from self._called(effect))
        return (yield from self._chosen(effect))

    def _begin(self) -> Steps[None]:
        """An attempt begins."""
        task = self.scope.task
        child, policy, given = self._child(), task.node.trace, shown_input(task)
        if policy is None or policy.process_inputs is None:
            self.attempt = yield from self._tell(lambda: child.on_chain_start(None, given, name=task.name))
        else:
            handlers, tracers = parted(child)
            with self._unasked("The process_inputs"):
                told = recorded(given, policy.process_inputs)
            run = yield from self._tell(lambda: handlers.on_chain_start(None, given, name=task.name))
            yield from self._tell(lambda: tracers.on_chain_start(None, told, name=task.name, run_id=run.run_id))
            self.attempt, run.handlers = run, child.handlers
        self.scope.tell_to(self.attempt.get_child("seq:step:1"))

    def _called(self, effect: Call) -> Steps[Any]:
        """A function of the user's, called so that runnables inside find the task's config."""
        with as_ambient(self.scope), _as_parent(self.scope.callbacks):
            return (yield effect)

    def _chosen(self, effect: Call) -> Steps[Any]:
        """Where a conditional edge leads: a chain inside of the task's."""
        place, branch = self._edge(effect)
        if not branch.is_told:
            return (yield from self._called(effect))
        outside = self.scope.callbacks
        child = self.attempt.get_child(f"seq:step:{place}")
        try:
            if not _tells_itself(effect):
                return (yield from self._told(effect, child))
            self.scope.tell_to(child)
            return (yield from self._called(effect))
        finally:
            self.scope.tell_to(outside)

    def _told(self, effect: Call, child: Any) -> Steps[Any]:
        path = yield from self._tell(
            lambda: child.on_chain_start(None, effect.input, name=effect.action.name), concludes=True
        )
        if path is None:  # the run is called off: the edge is asked all the same, and nobody hears of it
            return (yield from self._called(effect))
        self.scope.tell_to(path.get_child())
        try:
            chosen = yield from self._called(effect)
        except GraphInterrupt:  # a pause is no failure
            yield from self._tell(lambda: path.on_chain_end({}), concludes=True)
            raise
        except Exception as error:
            failure = error
            yield from self._tell(lambda: path.on_chain_error(failure), concludes=True)
            raise
        yield from self._tell(lambda: path.on_chain_end(chosen), concludes=True)
        return chosen

    def _edge(self, effect: Call) -> tuple[int, Branch]:
        """A conditional edge, and its number among the parts of its node, as LangChain counts those of a chain."""
        node = self.scope.task.node
        parts = enumerate(node.branches, 2 if node.is_hidden else 3)
        return next((place, branch) for place, branch in parts if branch.path is effect.action)

    def _end_tools(self, outcome: Outcome) -> Steps[None]:
        """End the tools that the task has left, since it asks, or hands over to the graph around."""
        from langchain_core.callbacks.manager import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun

        scope = self.scope
        signal = scope.led_by or outcome.signal or GraphInterrupt(outcome.questions or ())
        reason = signal if outcome.error is None else outcome.error
        kind: Any = AsyncCallbackManagerForToolRun if self.is_async else CallbackManagerForToolRun
        handlers = self.attempt.inheritable_handlers
        for id, around in self.tools.left_in(scope.task.shown_ns):
            tool = kind(run_id=id, handlers=handlers, inheritable_handlers=handlers, parent_run_id=around)
            yield from self._tell(partial(tool.on_tool_error, reason), concludes=True)

    def _child(self) -> Any:
        task = self.scope.task
        around = bridge.ambient_config() if task.is_call else None
        # A call belongs to the task that makes it: its config is the one that is found here.
        child = self._copied(around["callbacks"]) if around else self.around.get_child(f"graph:step:{task.step}")
        child.add_metadata({**self.scope.metadata, **(task.node.metadata or {})})
        child.add_tags([TAG_HIDDEN] if task.node.is_hidden else list(task.node.tags))
        return child

    def _copied(self, manager: Any) -> Any:
        """A manager of the kind that this run tells: a sync runnable has a sync one, in an async run, too."""
        from langchain_core.callbacks import AsyncCallbackManager, CallbackManager

        kind: Any = AsyncCallbackManager if self.is_async else CallbackManager
        return manager.copy() if isinstance(manager, kind) else kind.configure(inheritable_callbacks=manager)

    def _tell_end(self, outcome: Outcome) -> Any:
        run, output = self.attempt, self.scope.output
        if outcome.error is not None:
            return run.on_chain_error(outcome.error)
        if not outcome.is_done:  # a pause is no failure
            return run.on_chain_end({})
        if self.is_async:
            return _atell_output(run, output)
        for handler in streaming_handlers(run):
            list(handler.tap_output_iter(run.run_id, iter([output])))
        return run.on_chain_end(output)


async def _atell_output(run: Any, output: Any) -> None:
    for handler in streaming_handlers(run):
        async for _ in handler.tap_output_aiter(run.run_id, _once(output)):
            pass
    await run.on_chain_end(output)


async def _once(value: Any) -> Any:
    yield value


def _tells_itself(effect: Call) -> bool:
    """Whether what is called is a runnable, which reports to callbacks by itself: it can be called and awaited."""
    return effect.action.func is not None and effect.action.afunc is not None


def shown_input(task: Task) -> Any:
    """What a task is given, as traces show it: of a call, the arguments by their names."""
    if not task.is_call:
        return task.input
    action, (args, named) = task.node.action, task.input
    return signature_of(action.func or action.afunc).bind_partial(*args, **named).arguments


def streaming_handlers(run: Any) -> list[Any]:
    """The handlers that want to see chunks of output, as astream_events does."""
    return [handler for handler in run.handlers if follows_output(handler) and not is_message_handler(handler)]


@contextmanager
def as_ambient(scope: "Scope") -> Iterator[None]:
    """Make the task's config the one that LangChain runnables find when they are called without any."""
    from langchain_core.runnables.config import var_child_runnable_config

    token = var_child_runnable_config.set(scope.config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _as_parent(manager: Any) -> AbstractContextManager[None]:
    """Make a task's run the one that functions belong to which LangSmith traces by itself, where it traces the task."""
    helpers, tracers = sys.modules.get("langsmith.run_helpers"), sys.modules.get("langchain_core.tracers.langchain")
    if helpers is None or tracers is None:
        return nullcontext()
    # No other tracer: inside of a run, LangSmith takes itself to be turned on, and sends what it sees.
    own = (handler for handler in manager.handlers if isinstance(handler, tracers.LangChainTracer))
    run = next((run for tracer in own if (run := tracer.run_map.get(str(manager.parent_run_id))) is not None), None)
    if run is None:
        return nullcontext()
    told = {**helpers.get_tracing_context(), "parent": run, "distributed_parent_id": None}
    return helpers.tracing_context(**told)  # type: ignore[no-any-return]
