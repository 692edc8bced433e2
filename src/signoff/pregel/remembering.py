"""What a graph remembers: read it, walk through its history, change it."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from signoff._elsewhere import refuse_theirs
from signoff._reprs import repr_of
from signoff._snapshots import StateSnapshot, StateUpdate
from signoff.checkpoint.places import checked_filter, checked_limit, place_of, reading_of, selection_of
from signoff.checkpoint.serde.own import reading_for
from signoff.checkpoint.serde.unread import showing
from signoff.config import CONFIG_KEYS, ConfigLike, RunnableConfig, gathered, merge_configs
from signoff.constants import CHECKPOINT_NS, CONF
from signoff.drivers.sync import Driver
from signoff.errors import InvalidInput
from signoff.pregel.base import Base
from signoff.pregel.changing import update_nested
from signoff.pregel.hosting import saved_host, update_host
from signoff.pregel.reading import graph_at, history_config, read_state, shown_at
from signoff.steps import adrive, drive


class Remembering(Base):
    """The part of a compiled graph that reads and changes what is saved."""

    def get_state(self, config: ConfigLike, *, subgraphs: bool = False) -> StateSnapshot:
        """The state of a thread now, or at the checkpoint that the config names."""
        whole = self._whole(config)
        with showing():
            return drive(read_state(self, whole, subgraphs), Driver(saved_host(self, whole)).perform)

    async def aget_state(self, config: ConfigLike, *, subgraphs: bool = False) -> StateSnapshot:
        """Like get_state, on an event loop."""
        from signoff.drivers.aio import Driver

        whole = self._whole(config)
        with showing():
            return await adrive(read_state(self, whole, subgraphs), Driver(saved_host(self, whole)).perform)

    def get_state_history(
        self,
        config: ConfigLike,
        *,
        filter: dict[str, Any] | None = None,
        before: ConfigLike | None = None,
        limit: int | None = None,
    ) -> Iterator[StateSnapshot]:
        """The checkpoints of a thread, newest first."""
        whole = self._whole(config)
        host = saved_host(self, whole)
        driver, listed = Driver(host), history_config(self, whole)
        graph = graph_at(self, listed[CONF][CHECKPOINT_NS])
        query = _query(listed, filter, before, limit)
        with reading_for(graph.program.types), showing(), reading_of(*place_of(listed)[:2]):
            found = list(host.the_saver.list(host.told(listed), **query))
        for saved in found:
            with showing():
                shown = drive(shown_at(graph, saved, False, is_head=False), driver.perform)
            yield shown

    async def aget_state_history(
        self,
        config: ConfigLike,
        *,
        filter: dict[str, Any] | None = None,
        before: ConfigLike | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[StateSnapshot]:
        """Like get_state_history, on an event loop."""
        from signoff.drivers.aio import Driver

        whole = self._whole(config)
        host = saved_host(self, whole)
        driver, listed = Driver(host), history_config(self, whole)
        graph = graph_at(self, listed[CONF][CHECKPOINT_NS])
        query = _query(listed, filter, before, limit)
        with reading_for(graph.program.types), showing(), reading_of(*place_of(listed)[:2]):
            found = [saved async for saved in host.the_saver.alist(host.told(listed), **query)]
        for saved in found:
            with showing():
                shown = await adrive(shown_at(graph, saved, False, is_head=False), driver.perform)
            yield shown

    def update_state(
        self, config: ConfigLike, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> RunnableConfig:
        """Change the state as if a node had returned the values. Returns the config of the new checkpoint."""
        return self.bulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    async def aupdate_state(
        self, config: ConfigLike, values: Any, as_node: str | None = None, task_id: str | None = None
    ) -> RunnableConfig:
        """Like update_state, on an event loop."""
        return await self.abulk_update_state(config, [[StateUpdate(values, as_node, task_id)]])

    def bulk_update_state(self, config: ConfigLike, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """Apply updates step by step, one checkpoint each; all of them or none."""
        _check_updates(supersteps)
        host = update_host(self, self._whole(config))
        driver = Driver(host)
        try:
            return drive(update_nested(self, host.run, supersteps), driver.perform)
        finally:
            driver.close()

    async def abulk_update_state(
        self, config: ConfigLike, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Like bulk_update_state, on an event loop."""
        from signoff.drivers.aio import Driver

        _check_updates(supersteps)
        host = update_host(self, self._whole(config))
        driver = Driver(host)
        try:
            return await adrive(update_nested(self, host.run, supersteps), driver.perform)
        finally:
            await driver.close()

    def _whole(self, config: ConfigLike) -> RunnableConfig:
        whole: Any = merge_configs(self.config, config) if self.config else config
        return gathered(whole) if isinstance(whole, Mapping) and not whole.keys() <= CONFIG_KEYS else whole


def _query(listed: RunnableConfig, filter: Any, before: Any, limit: Any) -> dict[str, Any]:
    """What a history is asked for, checked here: a saver of another kind may not."""
    selection_of(listed, before)
    checked_filter(filter)
    checked_limit(limit)
    return {"filter": filter, "before": before, "limit": limit}


def _check_updates(supersteps: Sequence[Sequence[StateUpdate]]) -> None:
    for updates in supersteps if isinstance(supersteps, Iterable) else (supersteps,):
        if isinstance(updates, str) or not isinstance(updates, Iterable):
            updates = (updates,)  # which is wrong, and told below
        wrong = [one for one in updates if not isinstance(one, StateUpdate)]
        if wrong:
            refuse_theirs(wrong[0], "bulk_update_state has", InvalidInput)
            raise InvalidInput(
                f"bulk_update_state has {repr_of(wrong[0])}. Give it a list of steps, and each step a list of "
                "StateUpdate(values, as_node) (from signoff.types)."
            )
