"""What goes by name: the checkpoints of runs, and all but the newest of threads."""

from collections.abc import Collection, Mapping

from signoff.checkpoint import metadata
from signoff.checkpoint.memory import reading
from signoff.checkpoint.memory.packing import Packing
from signoff.checkpoint.memory.shelf import Shelf
from signoff.checkpoint.memory.spaces import Space
from signoff.checkpoint.memory.threads import Thread, made_of, rebase, tasks_of
from signoff.checkpoint.questions import Filing
from signoff.checkpoint.remembered import not_newest
from signoff.checkpoint.reopening import asked_again, graph_of

__all__ = ["forget_runs", "keep_newest"]


def forget_runs(threads: Shelf, runs: Collection[str], packing: Packing) -> None:
    """Forget the checkpoints that runs made, by the run_id in their metadata."""
    for thread_id in threads.ids():
        thread = threads.get(thread_id) or Thread()
        made_by = {
            ns: {id for id, moment in space.moments.items() if metadata.run_id_of(moment.metadata()) in runs}
            for ns, space in thread.spaces.items()
        }
        rebase(thread.spaces, made_by.get("", set()))
        for ns, space in thread.spaces.items():
            going = made_by[ns]
            has_head = not ns and space.newest in going
            space.drop(going)
            if has_head:
                thread.take_away()
                _reopen(thread, space, packing)


def _reopen(thread: Thread, space: Space, packing: Packing) -> None:
    """A thread has lost its newest checkpoint, and what it asked there: it asks what it asked before."""
    graph = graph_of([question for question, _ in thread.questions.values()])
    thread.questions.clear()
    if space.newest:
        head = reading.tuple_of(packing.serde, space, space.newest)
        asked = asked_again(space.thread_id, graph, head.checkpoint["ts"], head.pending_writes or ())
        thread.file(Filing(asked), [packing.question(one.interrupt) for one in asked])


def keep_newest(spaces: Mapping[str, Space]) -> None:
    """Forget all but the newest checkpoint of each namespace."""
    going = not_newest(made_of(spaces), tasks_of(spaces))
    rebase(spaces, {id for ns, id in going if not ns})
    for ns, space in spaces.items():
        space.begin_with({id for id in space.moments if (ns, id) not in going})
