"""Names with a meaning of their own: the ends of a graph, reserved keys and tags."""

from dataclasses import dataclass
from typing import Any, Final, NoReturn

from signoff._elsewhere import OF_CONSTANTS, tell_where

__all__ = ["START", "END", "TAG_HIDDEN", "TAG_NOSTREAM", "CONF", "TASKS"]

START: Final = "__start__"
"""Where every run begins: the virtual node that takes the input."""

END: Final = "__end__"
"""Where a path ends: the virtual node behind the last one."""

TAG_NOSTREAM: Final = "nostream"
"""A chat model with this tag is left out of the messages stream."""

TAG_HIDDEN: Final = "langsmith:hidden"
"""A run with this tag is left out of traces and of the updates stream."""

CONF: Final = "configurable"
"""The part of a config that names the thread and carries the caller's own settings."""

TASKS: Final = "__pregel_tasks"
"""The channel that holds the Sends of the last step."""

WAITING: Final = "__waiting__"
"""The channel that holds the tasks that wait while others go on."""

# Reserved channels of a task's saved writes.
INPUT: Final = "__input__"
ERROR: Final = "__error__"
ERROR_SOURCE: Final = "__error_source_node__"
INTERRUPT: Final = "__interrupt__"
RESUME: Final = "__resume__"
ASKS: Final = "__asks__"
ASKS_AS: Final = "__asks_as__"
HAD_ASKED: Final = "__had_asked__"
CALLED: Final = "__called__"
PASSED: Final = "__passed__"
RETURN: Final = "__return__"
PREVIOUS: Final = "__previous__"
NO_WRITES: Final = "__no_writes__"
LEADS: Final = "__leads__"
TAKEN_BACK: Final = "__taken_back__"
STOPPED: Final = "__stopped__"
JOINS: Final = "__joins__"
COPY: Final = "__copy__"
OVERWRITE: Final = "__overwrite__"

# The first element of a task's path: reached by an edge, or by a Send.
PULL: Final = "__pregel_pull"
PUSH: Final = "__pregel_push"

# Keys of `configurable` that signoff itself understands; the rest belongs to the caller.
THREAD_ID: Final = "thread_id"
CHECKPOINT_NS: Final = "checkpoint_ns"
CHECKPOINT_ID: Final = "checkpoint_id"
CHECKPOINT_MAP: Final = "checkpoint_map"
SCOPE: Final = "__pregel_scope"
RUNTIME: Final = "__pregel_runtime"

TRIGGER: Final = "branch:to:"
JOIN: Final = "join:"
"""How the channels begin that make a node due."""

NS_SEP: Final = "|"
"""Between the levels of a namespace: `parent:task|child:task`."""

NS_END: Final = ":"
"""Between a node's name and its task id, in one level of a namespace."""

ATOMS: Final = frozenset({type(None), bool, int, float, str, bytes})
"""The types of values that nobody can change."""

RESERVED: Final = frozenset({
    ASKS, ASKS_AS, CALLED, COPY, END, ERROR, ERROR_SOURCE, HAD_ASKED, INPUT, INTERRUPT, JOINS, LEADS, NO_WRITES,
    OVERWRITE, PASSED, PREVIOUS, RESUME, RETURN, START, STOPPED, TAKEN_BACK, TASKS, WAITING,
})  # fmt: skip
"""Names that a state key cannot have."""


@dataclass(frozen=True, eq=False)
class Missing:
    """The type of MISSING: nothing there, where None would be a value."""

    def __new__(cls) -> "Missing":
        there = globals().get("MISSING")
        return super().__new__(cls) if there is None else there  # also where another serializer makes it again

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"  # there is one, copies included


MISSING: Any = Missing()


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_CONSTANTS)
