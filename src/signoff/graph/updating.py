"""Updates: from what a node returns to the writes that it stands for."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from inspect import iscoroutine
from typing import Any

from signoff._elsewhere import refuse_theirs
from signoff._reprs import repr_of, short_repr
from signoff._words.commands import Command, Send
from signoff._words.questions import Interrupt
from signoff.channels.base import BaseChannel
from signoff.constants import INPUT, INTERRUPT, MISSING
from signoff.engine.attempts.completion import completing
from signoff.engine.program import HandedOver, Write
from signoff.errors import InvalidUpdateError, ParentCommand
from signoff.graph.routing import tell_of_both, writes_to
from signoff.graph.schema import ROOT, is_root, writes_of_object

Updates = Callable[[Any], list[Write]]
Keep = Callable[[Iterable[Write], frozenset[str]], list[Write]]


def updates_of(
    name: str,
    channels: Mapping[str, BaseChannel],
    nodes: Collection[str],
    *,
    given: Collection[str],
    follows: frozenset[str] = frozenset(),
    is_graph: bool = False,
) -> Updates:
    """What turns the result of a node into writes. Keys that the state does not have are dropped: see `known_only`.

    given: managed values. A node that returns all that it was given returns them, too.
    follows: the nodes that its edges lead to, whatever it returns.
    """
    known = frozenset(channels)
    is_bare = is_root(known)
    keep: Keep = _silently_known_only if is_graph else partial(known_only, name, given=given)

    def updates(output: Any) -> list[Write]:
        if type(output) is dict and not is_bare:
            return [*output.items()] if known.issuperset(output) else keep(output.items(), known)
        if output is None:
            return []
        if isinstance(output, Command):
            return _commanded(output)
        if isinstance(output, Send):
            return writes_to(output, nodes, f"Node {name!r}")
        if isinstance(output, list | tuple) and any(isinstance(item, Command | Send) for item in output):
            _check_commands(name, [item for item in output if isinstance(item, Command)])
            return [write for item in output for write in updates(item)]
        for item in output if isinstance(output, list | tuple) else [output]:
            refuse_theirs(item, f"Node {name!r} returned", InvalidUpdateError)
        if is_bare:
            return [(ROOT, output)]
        writes = None if isinstance(output, Interrupt) else writes_of_object(output)
        if writes is None:
            raise InvalidUpdateError(f"Node {name!r} returned {shown(output)}. {_mend_of(output)}.")
        return keep(writes, known)

    def _commanded(command: Command[Any]) -> list[Write]:
        _check_commands(name, [command])
        targets = targets_of(command)
        routed = [write for target in targets for write in writes_to(target, nodes, f"Node {name!r}")]
        if follows and targets:
            tell_of_both(name, targets, follows)
        kept = _silently_known_only if type(command) is HandedOver else keep
        return [*_updates_in(name, command.update, known, kept), *routed]

    return completing(channels, updates)


def _mend_of(output: Any) -> str:
    """What to do about a result that is no update."""
    if isinstance(output, Interrupt):
        return f"Nothing was asked by that: call interrupt({output.value!r}), which returns the answer"
    if iscoroutine(output):
        return "Await it"
    if hasattr(output, "add_done_callback"):
        return "Wait for the call, and return what `.result()`, or `await`, gives"
    return "Return a dict with the keys to update, a Command, or None"


def _check_commands(name: str, commands: Sequence[Command[Any]]) -> None:
    """Refuse a node's Command that answers: nobody would get to see the answer. Hand those over that lead out."""
    for command in commands:
        if command.resume is not MISSING:
            raise InvalidUpdateError(
                f"Node {name!r} returned {shown(command)}, with an answer in it. Questions are answered by whoever "
                "calls the graph: invoke(Command(resume=...), config). Leave `resume` out."
            )
    if led := [command for command in commands if command.graph is not None]:
        raise ParentCommand(*led)


def command_updates(update: Any, known: frozenset[str]) -> list[Write]:
    """The writes of the update in a caller's Command."""
    return _updates_in(None, update, known, partial(known_only, INPUT))


def _updates_in(name: str | None, update: Any, known: frozenset[str], keep: Keep) -> list[Write]:
    """The writes of the update in a Command: a dict, (key, value) pairs, or an object of the state.

    name: the node that returned it; None if it is the caller's.
    keep: what leaves out keys that the state does not have.
    """
    if update is None:
        return []
    if is_root(known):
        return [(ROOT, update)]
    writes = _writes_in(update)
    if writes is None:
        whose = "This is" if name is None else f"Node {name!r} returned"
        raise InvalidUpdateError(f"{whose} a Command whose update is {shown(update)}. Give it a dict.")
    return keep(writes, known)


def targets_of(command: Command[Any]) -> Collection[Any]:
    """Where a Command goes: to one node, or to several."""
    goto: Any = command.goto
    return goto if isinstance(goto, list | tuple | set | frozenset) else [goto]


def _writes_in(update: Any) -> list[Write] | None:
    """The writes in a dict, in (key, value) pairs, or in an object of the state; None if it is none of them."""
    if isinstance(update, list | tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in update):
        return list(update)
    return writes_of_object(update)


def known_only(name: str, writes: Iterable[Write], known: frozenset[str], given: Collection[str] = ()) -> list[Write]:
    """The writes to keys that the state has. What is left out may be a typo: a warning in the log says so, once."""
    kept: list[Write] = []
    for key, value in writes:
        if key in known:
            kept.append((key, value))
        elif key not in given:
            _warn_of(name, key, known)
    return kept


def _silently_known_only(writes: Iterable[Write], known: frozenset[str]) -> list[Write]:
    """The same for a nested graph, which has a state of its own: what it returns, and what it hands to its parent."""
    return [(key, value) for key, value in writes if key in known]


@lru_cache(maxsize=1024)
def _warn_of(name: str, key: Any, known: frozenset[str]) -> None:
    import logging

    words = "Node %r returned the key %s, which the state does not have: it was dropped. %s"
    logging.getLogger("signoff.graph").warning(words, name, repr_of(key), _hint(key, known))


def _hint(key: Any, known: Collection[str]) -> str:
    if key == INTERRUPT:
        return "A graph that ran in the node, as a run of its own, has asked something there, and nobody is asked here."
    guess = get_close_matches(key if isinstance(key, str) else "", known, 1)
    return f"Did you mean {guess[0]!r}?" if guess else f"The keys are: {', '.join(map(repr, sorted(known)))}."


def shown(value: Any) -> str:
    """A value, and its kind, as errors show them."""
    return f"{short_repr(value, 80)} (a {type(value).__name__})"


# What people and callers give


def update_check(known: frozenset[str]) -> Callable[[Any], None]:
    """What refuses an update by a person, or in a caller's Command, that has a key which the state does not have."""

    def check(values: Any) -> None:
        update = values.update if isinstance(values, Command) else values
        if is_root(known):
            return
        writes = _writes_in(update)
        if writes is None and not _is_led(values):
            raise InvalidUpdateError(f"The update is {shown(update)}. Give a dict of the keys to update.")
        for key, _ in writes or []:
            if key not in known:
                raise InvalidUpdateError(
                    f"The update has the key {repr_of(key)}, which the state does not have. {_hint(key, known)}"
                )

    return check


def _is_led(values: Any) -> bool:
    """Whether values are what a node may return beside an update: nothing, or where to go."""
    several = values if isinstance(values, list | tuple) else [values]
    return values is None or any(isinstance(one, Command | Send) for one in several)
