"""What the engine asks of a driver. Effects are plain values: a test can stop the world before or after any.

Look         read a checkpoint, see who has its thread -> (CheckpointTuple | None, Standing)
Load         read a checkpoint                         -> CheckpointTuple | None
Save         store commits, in one transaction each    -> None
Check        see whether something could be stored     -> None, or it raises NotStorable
Await        start tasks, wait for what happens next   -> list of events: Outcome or Chunk
Stop         call off what has not finished            -> list of Outcomes that finished meanwhile, or just before
Emit         hand chunks to whoever reads the stream   -> None
Recall       look results up in the cache              -> {key: writes}
Remember     put results into the cache                -> None
Call         run one function of the user's            -> its result
Settle       wait for the calls inside of a task       -> questions that they asked
Sleep        let time pass between two attempts        -> None
Tell         notify somebody who watches               -> what they return
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from signoff._words.policies import TimeoutPolicy
from signoff.checkpoint.base import Commit
from signoff.config import RunnableConfig
from signoff.engine.program import Action, Program, Write
from signoff.engine.task import Task

FullKey = tuple[tuple[str, ...], str]
"""(namespace, key) of a cached result"""

Chunk = tuple[tuple[str, ...], str, Any]
"""(namespace, stream mode, payload)"""


@dataclass(slots=True)
class Look:
    """Read the checkpoint that the config names, and see how its thread stands.

    A holder that is known to be dead, or whose lease has run out, does not count.
    """

    config: RunnableConfig


@dataclass(slots=True)
class Load:
    """Read the checkpoint that the config names, with what its tasks wrote since; or the newest before another."""

    config: RunnableConfig
    before: RunnableConfig | None = None
    program: Program | None = None
    """Whose checkpoint it is, if not that of the program that runs."""


@dataclass(slots=True)
class Save:
    """Store commits. With `wait`, go on when they are stored; else when they are on their way.

    The first one of a run takes the thread, the one with `ends` gives it back.
    """

    commits: Sequence[Commit]
    wait: bool = True
    ends: bool = False
    is_handed_over: bool = False
    """Whether the saver has stored it, or will, whatever becomes of the run. The driver says so."""


@dataclass(slots=True)
class Check:
    """See whether writes could be stored, if that is not done before the run ends."""

    writes: Sequence[Write]


@dataclass(slots=True)
class Await:
    """Start tasks; go on when something has happened in these or in earlier ones."""

    start: Sequence[Task]


@dataclass(slots=True)
class Stop:
    """Call off the tasks that have not started, cancel those that can be, wait for the rest.

    What the run has heard of already may be told once more.
    """


@dataclass(slots=True)
class Emit:
    """Hand chunks to the stream; go on when its reader has taken them."""

    chunks: Sequence[Chunk]
    is_from_inside: bool = False
    """Whether they arose inside of a task, so that the readers of the runs around have them already."""


@dataclass(slots=True)
class Recall:
    """Look up cached results."""

    keys: Sequence[FullKey]


@dataclass(slots=True)
class Remember:
    """Cache results, each for its number of seconds."""

    pairs: dict[FullKey, tuple[Any, int | None]]


@dataclass(slots=True)
class Call:
    """Run a function of the user's on an input."""

    action: Action
    input: Any
    timeout: TimeoutPolicy | None = None
    concludes: bool = False
    """Whether the task has done its work: then this is called, too, in a run that is being stopped."""


@dataclass(slots=True)
class Settle:
    """Wait until every call that a task has made is over."""

    concludes: bool = False
    """Whether the task has done its work: then that counts, though it may be called off once they are."""
    fails: bool = False
    """Whether the task has failed: then those whose turn has not come are not made."""


@dataclass(slots=True)
class Sleep:
    """Wait, with up to a second of luck added if there is to be jitter."""

    seconds: float
    jitter: bool = False
    after: Exception | None = None
    """What has failed, and is tried again then."""


@dataclass(slots=True)
class Tell:
    """Notify somebody who watches; awaited where that is possible and needed."""

    notify: Callable[[], Any]
    concludes: bool = False
    """Whether a task has come to its end: then that counts, though this may be broken off."""
