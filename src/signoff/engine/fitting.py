"""What another program has stored, as this one can take it: a deploy may have changed the graph while a thread waits.

Keys that the state does not have any more are left out. Ways that the graph does not have any more lead somewhere that
would never be reached; they are told apart, so that a run can refuse to go on without them.
"""

from typing import Any

from signoff.channels.named_barrier_value import NamedBarrierValue, seen
from signoff.constants import JOIN, TASKS, TRIGGER
from signoff.engine.program import Program, Values, Write

_WAYS = (TRIGGER, JOIN)

Results = dict[str, list[Write]]


def fit_values(program: Program, stored: Values) -> tuple[Values, dict[str, str], Values]:
    """The values that the program has a place for; joins that are called otherwise now, and those that are gone."""
    here = {name: value for name, value in stored.items() if name in program.channels}
    joins = [name for name in stored if name not in here and name.startswith(JOIN)]
    moved = {name: now for name in joins if (now := _same_join(program, name)) is not None}
    here.update({now: stored[name] for name, now in moved.items()})
    return here, moved, {name: stored[name] for name in joins if name not in moved}


def fit_results(program: Program, results: Results) -> tuple[Results, Values]:
    """Finished work, by task, without what the program has no place for; and the ways in it that are gone."""
    written = {name for writes in results.values() for name, _ in writes}
    unknown = {name for name in written - program.channels.keys() if not name.startswith("__")}  # not the engine's own
    sent = _sent_nowhere(program, results) if TASKS in written else set()
    if not unknown and not sent:
        return results, {}
    moved = {name: _same_join(program, name) for name in unknown}
    ways = {name for name in unknown if moved[name] is None and name.startswith(_WAYS)}
    gone: Values = dict.fromkeys(sorted({*ways, *(f"{TRIGGER}{name}" for name in sent)}))
    return {id: _fitted(writes, moved, sent) for id, writes in results.items()}, gone


def _sent_nowhere(program: Program, results: Results) -> set[str]:
    """The nodes that Sends name, and that are gone."""
    sends = (value for writes in results.values() for name, value in writes if name == TASKS)
    return {send.node for send in sends} - program.nodes.keys()


def _fitted(writes: list[Write], moved: dict[str, str | None], sent: set[str]) -> list[Write]:
    places = ((moved.get(name, name), value) for name, value in writes)
    here = [(place, value) for place, value in places if place is not None]
    return [(place, value) for place, value in here if place != TASKS or value.node not in sent] if sent else here


def _same_join(program: Program, name: str) -> str | None:
    """What a join is called if the nodes in front of it are listed in another order."""
    if not name.startswith(JOIN):
        return None
    starts, end = parts_of_join(name)
    channels = ((now, channel) for now, channel in program.channels.items() if isinstance(channel, NamedBarrierValue))
    same = (now for now, channel in channels if channel.names == set(starts))
    return next((now for now in same if end in program.listeners.get(now, ())), None)


def has_opened(name: str, stored: Any) -> bool:
    """Whether all have come to a join, whether the program has it or not."""
    return seen(stored) == set(parts_of_join(name)[0])


def parts_of_join(name: str) -> tuple[list[str], str]:
    """The nodes in front of a join, and the one behind it."""
    starts, _, end = name.removeprefix(JOIN).rpartition(":")
    return [name.replace("%2B", "+").replace("%25", "%") for name in starts.split("+")], end
