"""Threads whose answers are stored, but were not handed over yet: find them and continue them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from signoff.checkpoint.answered import noted
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.places import checked_threads
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.serde.own import reading_for
from signoff.checkpoint.serde.unread import showing
from signoff.config import ConfigLike, RunnableConfig, merge_configs
from signoff.constants import CHECKPOINT_NS, CONF, THREAD_ID
from signoff.engine import pending
from signoff.engine.storing.stored_answers import marks_of, undelivered
from signoff.errors import InvalidInput, ThreadBusy
from signoff.pregel.base import Base
from signoff.pregel.hosting import saved_host

AT_A_TIME = 16
"""How many threads are continued at the same time."""


class Answered(Base):
    """The part of a compiled graph that goes on with answers that were stored without a run."""

    def resume_answered(
        self: Any,
        thread_ids: Sequence[str] | None = None,
        config: ConfigLike | None = None,
        *,
        return_exceptions: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        """Continue threads whose answers are stored already, as `Inbox.answer` does. Returns their results by thread.

        Threads that another run has just now are left out: that run has the answer.

        Args:
            thread_ids: Which threads; those among them that have no such answer are left out, and one that is not
                there is refused. None means all that have answers to a graph of this name. A saver without an index
                of open questions is looked through.
            config: Settings for the runs, as for `invoke`.
            return_exceptions: Whether the error of a run that fails, or of a thread that is not there, is its result;
                else the first one is raised, once all threads were tried.
            settings: The other arguments of `invoke`.
        """
        thread_ids = _checked_list(thread_ids)
        host = saved_host(self, config or {})
        saver = host.the_saver
        ready = _Ready(self.program.name, config, thread_ids)
        # A thread that cannot be read is found, too: its run says why, and the others go on.
        with reading_for(self.program.types), showing():
            if thread_ids is None and getattr(saver, "has_questions", False):
                thread_ids = _threads([one for wanted in ready.wanted for one in saver.find_questions(wanted)])
            if thread_ids is None:
                heads: Iterable[Any] = saver.list(None)
            else:
                heads = (saver.get_tuple(host.told(checkpoint_config(id, ""))) for id in thread_ids)
            for saved in heads:
                ready.see(saved)
        unknown = ready.refuse_unknown(return_exceptions)
        results: list[Any] = []
        for part in ready.parts:
            results += self.batch([None] * len(part), part, return_exceptions=True, **settings)
        return {**ready.results(results, return_exceptions), **unknown}

    async def aresume_answered(
        self: Any,
        thread_ids: Sequence[str] | None = None,
        config: ConfigLike | None = None,
        *,
        return_exceptions: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        """Like resume_answered, on an event loop."""
        thread_ids = _checked_list(thread_ids)
        host = saved_host(self, config or {})
        saver = host.the_saver
        ready = _Ready(self.program.name, config, thread_ids)
        with reading_for(self.program.types), showing():
            if thread_ids is None and getattr(saver, "has_questions", False):
                thread_ids = _threads([one for wanted in ready.wanted for one in await saver.afind_questions(wanted)])
            if thread_ids is None:
                async for saved in saver.alist(None):
                    ready.see(saved)
            else:
                for id in thread_ids:
                    ready.see(await saver.aget_tuple(host.told(checkpoint_config(id, ""))))
        unknown = ready.refuse_unknown(return_exceptions)
        results: list[Any] = []
        for part in ready.parts:
            results += await self.abatch([None] * len(part), part, return_exceptions=True, **settings)
        return {**ready.results(results, return_exceptions), **unknown}


def _checked_list(thread_ids: Any) -> list[str] | None:
    if isinstance(thread_ids, str):
        raise InvalidInput(f"resume_answered takes a list of threads: [{thread_ids!r}].")
    if isinstance(thread_ids, Mapping):
        raise InvalidInput(
            f"resume_answered takes a list of threads, and settings as config=..., and here is {thread_ids!r}."
        )
    return None if thread_ids is None else checked_threads(thread_ids)


def _unknown(thread_id: str) -> InvalidInput:
    return InvalidInput(
        f"Thread {thread_id!r} has not begun here, so no answer waits for it. See whether it is the right thread_id, "
        "and the right database."
    )


def _threads(notes: Sequence[Question]) -> list[str]:
    return list(dict.fromkeys(note.thread_id for note in notes))


class _Ready:
    """The threads that can go on, each with the config to do it with."""

    def __init__(self, graph: str, config: ConfigLike | None, named: Sequence[str] | None) -> None:
        self.configs: dict[str, RunnableConfig] = {}
        self._graph, self._config, self._named = graph, config, named
        self._seen: set[str] = set()

    @property
    def wanted(self) -> list[Wanted]:
        """What to look for in an index: answers to a graph of this name, and to one whose name nobody knew."""
        return [noted(name) for name in dict.fromkeys((self._graph, ""))]

    @property
    def parts(self) -> list[list[RunnableConfig]]:
        """The configs, as many at a time as are worked on together."""
        configs = list(self.configs.values())
        return [configs[start : start + AT_A_TIME] for start in range(0, len(configs), AT_A_TIME)]

    def see(self, saved: CheckpointTuple | None) -> None:
        """Look at the newest checkpoint of a thread; older ones of the same are passed over."""
        if saved is None or saved.config[CONF].get(CHECKPOINT_NS) or saved.config[CONF][THREAD_ID] in self._seen:
            return
        thread_id = saved.config[CONF][THREAD_ID]
        self._seen.add(thread_id)
        known = pending.by_task(saved.pending_writes)
        graphs = {answer.get("graph") for answer in undelivered(known).values()}
        if graphs and (self._named is not None or graphs & {self._graph, "", None}):
            own: RunnableConfig = {CONF: {THREAD_ID: thread_id}, "metadata": marks_of(known)}
            self.configs[thread_id] = merge_configs(self._config, own)

    def refuse_unknown(self, return_exceptions: bool) -> dict[str, Any]:
        """Refuse threads that were named and are not there, before any of the others goes on."""
        unknown = {id: _unknown(id) for id in self._named or () if id not in self._seen}
        if unknown and not return_exceptions:
            raise next(iter(unknown.values()))
        return unknown

    def results(self, results: Sequence[Any], return_exceptions: bool) -> dict[str, Any]:
        """The results by thread, without those of threads that were busy."""
        by_thread = dict(zip(self.configs, results, strict=True))
        kept = {id: result for id, result in by_thread.items() if not isinstance(result, ThreadBusy)}
        errors = [result for result in kept.values() if isinstance(result, BaseException)]
        if errors and not return_exceptions:
            raise errors[0]
        return kept
