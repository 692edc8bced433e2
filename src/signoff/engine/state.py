"""The state of a run between two steps."""

from collections.abc import Collection, Iterable
from typing import Any

from signoff._words.commands import Send
from signoff.checkpoint.base import SHAPE_VERSION, ChannelVersions, Checkpoint, CheckpointTuple, as_text
from signoff.constants import CHECKPOINT_ID, CONF, MISSING, TASKS
from signoff.engine.fitting import fit_values
from signoff.engine.program import Program, Values

Stand = tuple[Any, ...]
"""All that a step changes of a state."""


class State:
    """The values, where they came from, and which channels the last step wrote."""

    __slots__ = ("at", "changed", "checkpoint_id", "fleeting", "gone", "is_saved", "newest", "ns", "parent_id", "place",
                 "step", "stopped", "updated", "values", "versions", "writers")  # fmt: skip

    def __init__(self, values: Values, ns: str, checkpoint_id: str, is_saved: bool, step: int = -2) -> None:
        self.values = values
        self.versions: ChannelVersions = {}
        self.newest: str | int | float | None = None
        """The greatest version; the next step's is the one after."""
        self.updated: Collection[str] = ()
        """The channels that the last step wrote: whoever listens to them is due."""
        self.fleeting: Collection[str] = ()
        """The channels that hold a value for this step only."""
        self.changed: Values = {}
        """What is not as in the checkpoint before, where there are checkpoints: MISSING for what is there no more."""
        self.gone: Values = _NONE
        """Ways that the last steps have led along, and the program does not have any more."""
        self.ns = ns
        self.step = step
        self.checkpoint_id = checkpoint_id
        self.is_saved = is_saved
        """Whether each step has a checkpoint of its own; else `checkpoint_id` stands for the whole run."""
        self.place = checkpoint_id[:24] if is_saved and len(checkpoint_id) == 36 else ""
        """How the ids of tasks begin that are planned from here.

        A node that an edge leads to runs once from a checkpoint, so the two together are the id of its task; and so
        are a checkpoint and the place of a Send in it.
        """
        self.at = 0
        """When the checkpoint was made, in ns."""
        self.parent_id: str | None = None
        self.writers: Collection[str] = ()
        """The nodes that ran in the last step: whom an update without `as_node` is taken to come from."""
        self.stopped: Collection[str] = ()
        """The nodes that a breakpoint stopped at, before or after this checkpoint."""

    def stand(self) -> Stand:
        """How it stands before the next step is folded in."""
        return (
            self.values.copy(), self.changed.copy(), self.updated, self.fleeting, self.step, self.checkpoint_id,
            self.place, self.at, self.parent_id, self.writers, self.stopped,
        )  # fmt: skip

    def go_back(self, stand: Stand) -> None:
        """Take back what a step has changed since, perhaps in part."""
        (
            self.values, self.changed, self.updated, self.fleeting, self.step, self.checkpoint_id,
            self.place, self.at, self.parent_id, self.writers, self.stopped,
        ) = stand  # fmt: skip

    def lose(self, names: Iterable[str]) -> None:
        """Note that channels of the checkpoint before are not there any more."""
        self.changed.update(dict.fromkeys(names, MISSING))


_NONE: Values = {}
_SAME: dict[str, str] = {}


def new_state(program: Program, ns: str, checkpoint_id: str, *, is_saved: bool) -> State:
    """The state of a thread that has not begun."""
    return State(program.first_values(), ns, checkpoint_id, is_saved)


def restored(program: Program, saved: CheckpointTuple, ns: str) -> State:
    """The state at a checkpoint, without what its tasks wrote since."""
    checkpoint = saved.checkpoint
    known = checkpoint["channel_values"]
    moved, gone = _SAME, _NONE
    if not known.keys() <= program.channels.keys():
        known, moved, gone = fit_values(program, known)
    values = {**program.first_values(), **known}
    state = State(values, ns, checkpoint["id"], True, saved.metadata.get("step", -1))
    state.parent_id = saved.parent_config[CONF][CHECKPOINT_ID] if saved.parent_config else None
    state.versions = dict(checkpoint["channel_versions"])
    state.newest = max(state.versions.values(), default=None)
    state.gone = gone
    if moved:
        state.lose(moved)
        state.changed.update((name, known[name]) for name in moved.values())
    updated = checkpoint.get("updated_channels") or ()
    state.updated = [moved.get(name, name) for name in updated] if moved else updated
    state.fleeting = known.keys() & program.fleeting
    state.writers = checkpoint.get("writers") or ()  # type: ignore[assignment]
    state.stopped = checkpoint.get("stopped") or ()  # type: ignore[assignment]
    return state


_NOTHING_SEEN: dict[str, ChannelVersions] = {}
"""Which versions a node has seen is LangGraph's way to tell what is due; here the last step's writes tell."""


def saved_values(program: Program, values: Values) -> Values:
    """A copy of the values without those that are never stored, on their own or inside a Send."""
    unsaved = program.unsaved
    kept = {name: value for name, value in values.items() if name not in unsaved}
    if TASKS in kept:
        kept[TASKS] = [without_unsaved(send, unsaved) for send in kept[TASKS]]
    return kept


def without_unsaved(value: Any, unsaved: frozenset[str]) -> Any:
    """A written value as it may be stored: a Send is stripped of the keys that are never saved."""
    if not isinstance(value, Send) or not isinstance(value.arg, dict):
        return value
    kept = {key: item for key, item in value.arg.items() if key not in unsaved}
    return Send(value.node, kept, timeout=value.timeout)


def checkpoint_of(program: Program, state: State) -> Checkpoint:
    """The record of a state. What nobody has written yet is not in it: the program knows what it begins with."""
    values = saved_values(program, state.values) if program.unsaved else state.values
    checkpoint: Checkpoint = {
        "v": SHAPE_VERSION,
        "id": state.checkpoint_id,
        "ts": as_text(state.at),
        "channel_values": {name: value for name, value in values.items() if name in state.versions},
        "channel_versions": state.versions.copy(),
        "versions_seen": _NOTHING_SEEN,
        "updated_channels": list(state.updated),
        "writers": state.writers,  # type: ignore[typeddict-unknown-key]
    }
    if state.stopped:
        checkpoint["stopped"] = list(state.stopped)  # type: ignore[typeddict-unknown-key]
    return checkpoint
