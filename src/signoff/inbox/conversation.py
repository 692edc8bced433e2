"""Conversations, request by request: one call decides from the thread itself what a message is for."""

import time
from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from signoff.checkpoint.serde.own import reading_for
from signoff.config import ConfigLike, RunnableConfig, merge_configs
from signoff.constants import CONF, THREAD_ID
from signoff.errors import InvalidInput
from signoff.inbox.asking import aperform, perform
from signoff.inbox.outcomes import Outcome
from signoff.inbox.turns import POLL_S, Message, Pause, RunIf, talk
from signoff.pregel.guarding import arun_guarded, run_guarded
from signoff.pregel.hosting import saved_host
from signoff.pregel.terms import Options
from signoff.steps import adrive, drive

__all__ = ["aconverse", "converse"]

WAIT_S = 30.0
"""How long a message waits for a run that has its thread."""


def converse(
    graph: Any,
    message: Any,
    *,
    thread_id: str,
    question_id: str | None = None,
    request_id: str | None = None,
    by: str | None = None,
    as_input: Callable[[Any], Any] | None = None,
    config: ConfigLike | None = None,
    wait_s: float = WAIT_S,
    **settings: Any,
) -> Outcome:
    """Give a thread a message: as its input if it has not begun or has ended, as the answer if it waits for one.

    A message that cannot be taken is refused with an error (InvalidAnswer, AlreadyAnswered, ThreadBusy, ...) and
    changes nothing. What goes wrong after it was taken is `Failed`.

    Args:
        graph: A compiled graph with a saver.
        message: The input or the answer.
        thread_id: Which conversation.
        question_id: Which question it answers; needed if several are open.
        request_id: The same for every delivery of the same request. It is stored with the message, in the same
            transaction; a message with an id that the thread has seen is not taken again.
        by: Who answers, for the history.
        as_input: Makes the graph's input of a message that is not an answer.
        config: Further settings for the run.
        wait_s: How long to wait for another run that has the thread, before ThreadBusy.
        settings: Further arguments of `invoke`: context, durability, ...
    """
    call = _Call(graph, config, settings, wait_s)
    told = Message(message, thread_id, question_id, request_id, by, as_input)
    return drive(talk(graph.program, call.saver, told), call.perform)


async def aconverse(
    graph: Any,
    message: Any,
    *,
    thread_id: str,
    question_id: str | None = None,
    request_id: str | None = None,
    by: str | None = None,
    as_input: Callable[[Any], Any] | None = None,
    config: ConfigLike | None = None,
    wait_s: float = WAIT_S,
    **settings: Any,
) -> Outcome:
    """Like converse, on an event loop."""
    call = _Call(graph, config, settings, wait_s)
    told = Message(message, thread_id, question_id, request_id, by, as_input)
    return await adrive(talk(graph.program, call.saver, told), call.aperform)


_OWN = ("thread_id", "question_id", "request_id", "by", "as_input", "config", "wait_s")


def _options(settings: dict[str, Any]) -> Options:
    """The further arguments of `invoke`. A name that it does not have is refused as Python does it."""
    known = [field.name for field in fields(Options) if field.name != "streams"]
    for name in settings:
        if name not in known:
            guess = get_close_matches(name, [*known, *_OWN], 1)
            raise TypeError(
                f"converse() got an unexpected keyword argument {name!r}. "
                + (f"Did you mean {guess[0]!r}?" if guess else f"Of invoke, it takes: {', '.join(known)}.")
            )
    return Options(**settings)


class _Call:
    """Performs what a conversation asks for."""

    def __init__(self, graph: Any, config: ConfigLike | None, settings: dict[str, Any], wait_s: float) -> None:
        if not hasattr(graph, "program"):
            raise InvalidInput(f"converse() needs a compiled graph, not {graph!r}.")
        self.graph, self.config = graph, config
        self.options = _options(settings)
        self.saver = saved_host(graph, config or {}).the_saver
        self.deadline = time.monotonic() + wait_s

    def perform(self, effect: Any) -> Any:
        if isinstance(effect, RunIf):
            return run_guarded(self.graph, effect.input, self._config(effect), self.options, effect.check)
        if isinstance(effect, Pause):
            return time.sleep(self._seconds(effect))
        with reading_for(self.graph.program.types):
            return perform(self.saver, effect)

    async def aperform(self, effect: Any) -> Any:
        if isinstance(effect, RunIf):
            return await arun_guarded(self.graph, effect.input, self._config(effect), self.options, effect.check)
        if isinstance(effect, Pause):
            import asyncio

            return await asyncio.sleep(self._seconds(effect))
        with reading_for(self.graph.program.types):
            return await aperform(self.saver, effect)

    def _config(self, effect: RunIf) -> RunnableConfig:
        own: RunnableConfig = {CONF: {THREAD_ID: effect.thread_id}, "metadata": effect.marks}
        return merge_configs(self.config, own)

    def _seconds(self, effect: Pause) -> float:
        """For how long to wait until the next try; after the last one, what was in the way is raised."""
        if time.monotonic() >= self.deadline:
            raise effect.cause
        return POLL_S
