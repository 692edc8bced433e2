"""Signs of life: a run that takes long keeps its thread, whatever else its process does."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TypedDict

import pytest

from signoff.checkpoint.lease import Lease
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.drivers.saving import holding
from signoff.graph import START, StateGraph

SHORT_S, PATIENCE_S = 0.03, 20


class Seen(TypedDict):
    seen: bool


class Renewed(SqliteSaver):
    """Notes that a run has given a sign of life."""

    lease_s = SHORT_S

    def __init__(self, conn, **options):
        super().__init__(conn, **options)
        self.was_renewed = threading.Event()

    def renew(self, lease):
        super().renew(lease)
        self.was_renewed.set()


@pytest.fixture
def saver(tmp_path):
    with Renewed.from_conn_string(tmp_path / "runs.db") as saver:
        yield saver


def waiting(saver):
    """A graph whose node is done when its run has given a sign of life."""

    def wait(state):
        return {"seen": saver.was_renewed.wait(PATIENCE_S)}

    return StateGraph(Seen).add_node("wait", wait).add_edge(START, "wait").compile(checkpointer=saver)


def on(name):
    return {"configurable": {"thread_id": name}}


def test_an_event_loop_that_stands_still_does_not_silence_the_other_runs_of_its_process(saver, tmp_path):
    async def program():
        async with AsyncSqliteSaver.from_conn_string(tmp_path / "others.db") as other:
            other.lease_s = SHORT_S

            async def block(state):
                run = asyncio.get_running_loop().run_in_executor(None, waiting(saver).invoke, {}, on("1"))
                was_renewed = saver.was_renewed.wait(PATIENCE_S)  # and the loop with it
                await run
                return {"seen": was_renewed}

            graph = StateGraph(Seen).add_node("block", block).add_edge(START, "block").compile(checkpointer=other)
            return await graph.ainvoke({}, on("1"))

    assert asyncio.run(program()) == {"seen": True}


def test_a_short_lease_beside_a_long_one_is_renewed_in_time(saver, tmp_path):
    with SqliteSaver.from_conn_string(tmp_path / "others.db") as other:
        other.lease_s = 3600.0

        def inside(state):
            with ThreadPoolExecutor(1) as others:
                return others.submit(waiting(saver).invoke, {}, on("1")).result()

        graph = StateGraph(Seen).add_node("inside", inside).add_edge(START, "inside").compile(checkpointer=other)
        assert graph.invoke({}, on("1")) == {"seen": True}


class Noting:
    """Notes whose signs of life it was given."""

    lease_s = SHORT_S

    def __init__(self):
        self.renewed = []
        self.was_renewed = threading.Event()

    def renew(self, lease):
        self.renewed.append(lease.thread_id)
        self.was_renewed.set()


def test_only_runs_that_have_their_thread_and_go_on_give_signs_of_life():
    loop, saver = asyncio.new_event_loop(), Noting()
    loop.close()
    taken = {"epoch": 1}
    others = [("not taken yet", {}), ("given back", {**taken, "is_over": True}), ("on a closed loop", taken)]
    leases = [Lease(name, holding.new_holder(), None, **how) for name, how in [*others, ("goes on", taken)]]
    try:
        for lease in leases:
            holding.hold(lease, saver, loop if lease.thread_id == "on a closed loop" else None)
        assert saver.was_renewed.wait(PATIENCE_S)
    finally:
        for lease in leases:
            holding.let_go(lease.holder)
    assert set(saver.renewed) == {"goes on"}


def test_a_run_that_begins_while_it_is_found_out_how_long_to_sleep_is_not_slept_over(monkeypatch):
    slow, quick = Noting(), Noting()
    slow.lease_s = 3600.0
    first, second = (Lease(name, holding.new_holder(), None, epoch=1) for name in ("first", "second"))

    class Held(dict):
        def values(self):
            found = [*super().values()]
            if len(found) == 1 and not quick.renewed:
                while holding._keeper is None:  # it has just begun
                    time.sleep(0)
                holding.hold(second, quick)
            return found

    while (keeper := holding._keeper) is not None:  # of another test
        holding._wake.set()
        keeper.join(PATIENCE_S)
        assert not keeper.is_alive(), f"{[*holding._held]} of other tests have not ended"
    monkeypatch.setattr(holding, "_held", Held())
    monkeypatch.setattr(holding, "_sleeps_s", 0.0)
    monkeypatch.setattr(holding, "_wake", threading.Event())
    try:
        holding.hold(first, slow)
        assert quick.was_renewed.wait(PATIENCE_S)
    finally:
        for lease in (first, second):
            holding.let_go(lease.holder)
        holding._wake.set()
