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
        rows=("step, SQLite FULL, async", "step, SQLite FULL, async, async nodes"),
        evidence="Waiting for the disk takes CPU, too: the system's own. The row *step, SQLite FULL, async, in bare "
        "INSERTs* has LangGraph's step in INSERTs by hand; that is the most that can be gained with one commit a step. "
        "With NORMAL, where a commit does not wait, the limit is higher.",
    ),
    Note(
        rows=(
            "step, SQLite NORMAL, async",
            "step, SQLite NORMAL, async, async nodes",
            "step, SQLite FULL, sync, wall",
            "step, SQLite FULL, sync, async nodes, wall",
            "step, SQLite FULL, sync, in bare INSERTs, wall",
            "Python calls of a step, SQLite, sync",
            "Python calls of a step, SQLite, async",
        ),
        evidence="Above the INSERT stand the fence of the lease, the index of open questions and the rows of what "
        "changed: five statements, and the Python calls that find out what changed and encode it.",
        tried="One statement for a read, UPDATE or INSERT to take a thread, shorter ids and bodies. Next: the writes "
        "of a step inside of its checkpoint's row, so that a plain step is one INSERT.",
    ),
    Note(
        rows=(
            "step, Postgres, async",
            "step, Postgres, async, async nodes",
            "step, Postgres, sync, wall",
            "step, Postgres, sync, async nodes, wall",
            "question and answer, Postgres",
            "thread of 1,000 waiting, Postgres, wall",
            "get_state, Postgres",
            "bytes per turn, in raw bytes, Postgres",
        ),
        evidence="A step is one trip to the server already. What is left is the work of the driver, most of the Python "
        "calls, and of the server: seven rows a turn, each with its head and its place in an index.",
        tried="Short ids, no repeated names. Next: two rows a turn, with writes and items inside of the checkpoint's.",
    ),
    Note(
        rows=(
            "question and answer, memory",
            "question and answer, SQLite FULL",
            "thread of 1,000 waiting, SQLite FULL, wall",
        ),
        evidence="Two whole calls, each of which looks at the thread, takes it, plans, runs, folds and stores; and one "
        "goes on from what the other has stored. No single function takes a tenth of it.",
        tried="What a call asks for is checked once; the input and what it leads to are one move; what a checkpoint "
        "knows is sorted out once; a lone task that asks goes the short way; nothing is left to the garbage collector.",
    ),
    Note(
        rows=("100 parallel questions, one by one",),
        evidence="Every answer reads what the hundred tasks have come to, and plans them again, to run one of them.",
        tried="One pass over what was saved instead of seven; tasks and Sends that are cheaper to make. Next: not to "
        "make the tasks that need not run.",
    ),
    Note(
        rows=("@task call, memory", "@task call, SQLite FULL, async, in parallel"),
        evidence="A call has a future that other threads may wait for, an id that is the same after a crash, and is "
        "stored before its result is used. Python's own future is about a sixth of it.",
        tried="Calls that are waited for at once run on the spot; the path and the place of a call are made of its "
        "caller's.",
    ),
    Note(
        rows=("turn 1,000, SQLite", "turn 1,000, SQLite, against DeltaChannel", "turn 1,000, against turn 10, SQLite"),
        evidence="What is stored does not grow with the history, but three things walk along it: the check that nobody "
        "has changed a message in place, and what the reducer and the saver know by the objects in the list. They are "
        "loops in C, and still 2,000 objects long.",
        tried="No copies, no comparison of contents, ids learned once.",
    ),
    Note(
        rows=(
            "cold read at turn 1,000, messages",
            "cold read at turn 1,000, plain list",
            "cold read at turn 10, messages",
        ),
        evidence="A list that grew is stored item by item, and read item by item; LangGraph's is one blob. For "
        "messages both have to make the objects, which takes most of the time.",
        tried="64 short items are joined into one row; messages of one class are made together. Next: a joined row as "
        "one encoded list.",
    ),
)
