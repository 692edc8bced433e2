"""Rows of runs: compiling, calling, steps in a row, fan-out, wide states, streams, nested graphs."""

from functools import partial

from bench.cases import Case, Comparison, Growth
from bench.programs import saved, sends, steps, streams
from bench.storage import KINDS, MEMORY, POSTGRES, SQLITE_FULL, SQLITE_NORMAL


def compile_rows() -> list[Case]:
    """Describing and compiling graphs."""
    return [
        Comparison(
            f"compile {nodes:,} node{'s' * (nodes > 1)}",
            partial(steps.compiling, nodes=nodes),
            rounds=rounds,
            is_counted=False,
        )
        for nodes, rounds in ((1, None), (10, None), (100, None), (1000, 5))
    ]


def invoke_rows() -> list[Case]:
    """A whole call of the smallest graph."""
    savers = (SQLITE_FULL, SQLITE_NORMAL, POSTGRES)
    return [
        Comparison("one-node invoke", steps.one_node, must=20, stretch=40),
        Comparison("one-node invoke, async", steps.async_one_node),
        Comparison("one-node invoke, memory", partial(saved.saved_one_node, kind=MEMORY)),
        *(Comparison(f"one-node invoke, {kind.name}", partial(saved.saved_one_node, kind=kind)) for kind in savers),
    ]


def sequence_rows() -> list[Case]:
    """Steps in a row."""
    return [
        Comparison("step, no saver", steps.step, must=25, stretch=50),
        Comparison("step, no saver, async", steps.async_step, must=30, stretch=60),
        Comparison("step of a loop (conditional edge)", steps.looping_step),
        *(
            Comparison(f"invoke of {nodes:,} nodes in a row", partial(steps.whole_chain, nodes=nodes), rounds=rounds)
            for nodes, rounds in ((10, None), (100, None), (1000, 5))
        ),
        Growth(
            "step among 1,000 nodes, against 10",
            partial(steps.step_among, nodes=10),
            partial(steps.step_among, nodes=1000),
            must=1.2,
        ),
    ]


def send_rows() -> list[Case]:
    """Many tasks in one step."""
    budgets = {(100, "sync"): (20, 40), (100, "async"): (12, 20)}
    compared = [
        Comparison(
            f"Send of {tasks:,} tasks" + ", async" * (way == "async"),
            partial(program, tasks=tasks),
            must=budgets.get((tasks, way), (None, None))[0],
            stretch=budgets.get((tasks, way), (None, None))[1],
            rounds=5 if tasks == 1000 else None,
        )
        for way, program in (("sync", sends.sends), ("async", sends.async_sends))
        for tasks in (10, 100, 1000)
    ]
    stored = [
        Comparison(f"Send of 100 tasks, {kind.name}", partial(sends.saved_sends, tasks=100, kind=kind), rounds=5)
        for kind in KINDS
    ]
    small, large = (partial(sends.one_send, tasks=tasks) for tasks in (100, 1000))
    return [
        *compared,
        *stored,
        Growth("a task of 1,000, against one of 100", small, large, must=1.2),
        Comparison("Send of 100 tasks that wait 5 ms, wall", sends.waiting_sends, is_counted=False),
    ]


def channels_rows() -> list[Case]:
    """Steps beside many keys that do not change."""
    return [
        Comparison(
            f"step, {keys:,} key{'s' * (keys > 1)} in the state",
            partial(steps.step_with_keys, keys=keys),
            must=60 if keys == 1000 else None,
        )
        for keys in (1, 100, 1000)
    ]


def stream_rows() -> list[Case]:
    """What is seen of a run while it runs."""
    return [
        Comparison("step, stream of updates", streams.streamed_step, must=15, stretch=30),
        Comparison("step, stream of updates, async", streams.async_streamed_step),
        Comparison("first chunk of a stream", streams.first_chunk),
        Comparison("custom chunk of a stream", streams.custom_chunk),
    ]


def nested_rows() -> list[Case]:
    """Graphs as nodes of graphs."""
    return [
        Comparison("step that is a nested graph", steps.nested_call, must=25, stretch=50),
        Comparison("step that is a nested graph, async", steps.async_nested_call),
    ]
