"""Notes for the page: for rows that miss a mark, what was seen, what was tried, and why it is as it is.

A note is shown only while one of its rows misses a mark. Put figures that change with every run into rows, not here.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Note(NamedTuple):
    """What there is to say about some rows."""

    rows: Sequence[str]
    evidence: str
    tried: str = ""


NOTES: Sequence[Note] = (
    Note(
        rows=(
            "step, SQLite FULL, async",
            "step, SQLite FULL, async, async nodes",
            "step, SQLite NORMAL, async",
            "step, SQLite NORMAL, async, async nodes",
            "step, Postgres, async",
            "step, Postgres, async, async nodes",
        ),
        evidence="Steps share transactions, so that to store them is a fifth of it: a row costs about 8 µs in SQLite. "
        "The step itself is a quarter, and the rest to tell, encode and pack what it changed. Beside the thread that "
        "stores, the same calls take up to twice as long as without one, as if the processor's caches were cold.",
        tried="What tasks wrote is in the row of the next checkpoint; the row is made when the step is prepared, so "
        "that little is kept until it is stored; one statement for all rows; no snapshot before it is due.",
    ),
    Note(
        rows=(
            "step, SQLite FULL, sync, wall",
            "step, SQLite FULL, sync, async nodes, wall",
            "step, SQLite FULL, sync, in bare INSERTs, wall",
        ),
        evidence="A step is one INSERT, with the fence of the lease and the look for the parent in it. Two thirds of "
        "it are the disk; the rest is Python's.",
        tried="No transaction around the one statement; no plan for a step in the middle of a run.",
    ),
    Note(
        rows=(
            "step, Postgres, sync, wall",
            "step, Postgres, sync, async nodes, wall",
            "question and answer, Postgres",
            "thread of 1,000 waiting, Postgres, wall",
        ),
        evidence="A step is one trip to the server, and so is a look at a thread. The row *step, Postgres, sync, in "
        "bare INSERTs* has what is above a bare INSERT: the work of the driver and of the server's function, which "
        "waits for other writers of the thread, checks the lease and looks for the parent. A question and its answer "
        "are four commits, LangGraph's seven: no more than that can be gained where the disk is waited for.",
        tried="One function with a dozen values for a step, instead of lists of everything; one query for a look.",
    ),
    Note(
        rows=("bytes per turn, in raw bytes, Postgres",),
        evidence="Five rows a turn: three checkpoints, as LangGraph has them, and two messages. Each has a head of 28 "
        "bytes, and its key once more in an index.",
        tried="Ids as bytes, parents as the bytes in which they differ, no repeated names, no padding.",
    ),
    Note(
        rows=(
            "question and answer, memory",
            "question and answer, SQLite FULL",
            "thread of 1,000 waiting, SQLite FULL, wall",
        ),
        evidence="Two whole calls, each of which looks at the thread, takes it, plans, runs, folds and stores; and one "
        "goes on from what the other has stored: some 500 Python calls, of which no function has a tenth; "
        "`python -m bench.parts` has the rooms that make them, decision 34 why they are there. With SQLite it is four "
        "commits; in the row of waiting threads each of them waits for the disk, one thread after the other. Threads "
        "that come at once share these waits: see the row *at once*. The rows *in bare commits* show what no engine "
        "can beat: the same commits and reads by hand, and nothing else.",
        tried="To translate the engine to C with mypyc: 15 % less (decision 15). "
        "What a call asks for is checked once; the input and what it leads to are one move; what a checkpoint "
        "knows is sorted out once; a lone task that asks goes the short way; an answered question is closed once; "
        "nothing is left to the garbage collector; what every run looks at is in slots; in SQLite no statement takes a "
        "table in between, and no parameter is looked at twice.",
    ),
    Note(
        rows=("100 parallel questions, one by one",),
        evidence="Every answer looks at all hundred tasks: what each has written, that it still waits, and for what. "
        "That is three quarters of it, and nearly all of that is the engine's.",
        tried="One pass over what was saved instead of seven; tasks that need not run are not made, and those that "
        "have to are told by their ids. The passes by itertools and operator instead of comprehensions: a third fewer "
        "bytecodes, and 3 % more instructions.",
    ),
    Note(
        rows=("@task call, memory", "@task call, SQLite FULL, async, in parallel"),
        evidence="A call has a future that other threads may wait for, an id that is the same after a crash, and is "
        "stored before its result is used. A quarter of it is that a call is known by its arguments and by where it "
        "is made (decision 20): without that, calls of coroutines side by side are mixed up, or made twice.",
        tried="Plain arguments stand for themselves, all else is encoded once. Calls that are waited for at once run "
        "on the spot, and their futures have no lock until somebody else "
        "asks; results that come together are stored together.",
    ),
    Note(
        rows=("turn 1,000, SQLite", "turn 1,000, SQLite, against DeltaChannel", "turn 1,000, against turn 10, SQLite"),
        evidence="What is stored does not grow with the history, and neither does anything else but one look: whether "
        "a node has changed a message in place. Without it a turn at 1,000 takes 1.05 times one at 10. It is a "
        "comparison in C, and still 2,000 messages long; a conversation that nobody may look at would be quicker.",
        tried="To watch in blocks, by tuples, by dicts; reference counts, which cannot tell.",
    ),
    Note(
        rows=(
            "cold read at turn 1,000, messages",
            "cold read at turn 1,000, plain list",
            "cold read at turn 10, messages",
        ),
        evidence="A list that grew is stored in rows of 256 items, LangGraph's is one blob that is written again every "
        "time. For messages, half of it is to make the objects, and a sixth the garbage collector, which looks at all "
        "that was made. For short lists it is the way to them: a query for the checkpoint, one for the items, and a "
        "dozen calls around each.",
        tried="A row is one encoded list; messages are stored field by field and made without validation; a checkpoint "
        "whose step wrote all there is stands alone; no recursive query. A larger cache and a mapped file: no gain.",
    ),
    Note(
        rows=("step among 1,000 nodes, against 10",),
        evidence="The same calls, and as many of them. What differs is how many objects they go through: a thousand "
        "nodes are more than the processor's fast caches hold.",
    ),
    Note(
        rows=("import graph",),
        evidence="118 modules, LangGraph's 1,066. More than half of the time is not ours: the standard library's "
        "dataclasses with what they import take about 12 ms, typing_extensions, hashlib and msgpack 4 to 7 ms each.",
        tried="Everything that not every graph needs is imported when it is needed.",
    ),
    Note(
        rows=(
            "one-node invoke",
            "step, no saver",
            "step, no saver, async",
            "Send of 100 tasks, async",
            "step, stream of updates",
            "step that is a nested graph",
        ),
        evidence="A step is 24 Python calls of some 0.4 µs each, and the stretch mark is 18 of them. The calls are: to "
        "read the node's input, to call it in its scope, to take its output apart, to fold it into the channels, to "
        "see what is due, to make the next task, and the loop around that. Each of the other rows is such steps, "
        "and a few calls more for what it adds.",
        tried="A lone task runs in place; what a graph is known to need is worked out once; no copies, no callbacks.",
    ),
    Note(
        rows=tuple(
            f"step, memory, {durability}{nodes}"
            for durability in ("exit", "async", "sync")
            for nodes in ("", ", async nodes")
        ),
        evidence="Sixty times less than LangGraph is about what a step takes here that nobody saves. To save it takes "
        "23 calls more: an id that grows, what has changed, and the lease that is checked. Of these, the saver's own "
        "part takes 3 to 4 µs.",
        tried="A saver is told what has changed, and keeps plain values as they are.",
    ),
)
