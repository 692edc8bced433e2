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
from signoff.channels.last_value import LastValue
from signoff.constants import INPUT, INTERRUPT, MISSING, START
from signoff.engine.completing import completing
from signoff.engine.program import HandedOver, Write, shown_as
from signoff.errors import InvalidInput, InvalidUpdateError, ParentCommand
from signoff.graph.routing import tell_of_both, writes_to
from signoff.graph.schema import ROOT, Schema, aliases_of, is_root, validator_of, writes_of_object
from signoff.pregel.typing import is_pydantic

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
            raise InvalidUpdateError(f"Node {name!r} returned {_short(output)}. {_mend_of(output)}.")
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
                f"Node {name!r} returned {_short(command)}, with an answer in it. Questions are answered by whoever "
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
        raise InvalidUpdateError(f"{whose} a Command whose update is {_short(update)}. Give it a dict.")
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


def _short(value: Any) -> str:
    return f"{short_repr(value, 80)} (a {type(value).__name__})"


# What people and callers give


class UnfitInput(InvalidInput, InvalidUpdateError):
    """The input is of a kind that no state is made of."""


def update_check(known: frozenset[str]) -> Callable[[Any], None]:
    """What refuses an update by a person, or in a caller's Command, that has a key which the state does not have."""

    def check(values: Any) -> None:
        update = values.update if isinstance(values, Command) else values
        if is_root(known):
            return
        writes = _writes_in(update)
        if writes is None and not _is_led(values):
            raise InvalidUpdateError(f"The update is {_short(update)}. Give a dict of the keys to update.")
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


def input_writes(schema: Schema, name: str) -> Updates:
    """What turns the caller's input into the write to START, or refuses it."""
    start = start_writes(schema, name)

    def writes(input: Any) -> list[Write]:
        start(input)
        return [(START, input)]

    return writes


def start_writes(schema: Schema, name: str) -> Updates:
    """What turns the input into writes to the state's keys. Keys that the input schema does not have are left out."""
    known, is_bare, is_model = frozenset(schema.keys), schema.is_root, is_pydantic(schema.type)

    def writes(input: Any) -> list[Write]:
        if is_bare:
            return [(ROOT, input)] if input is not None else []
        if type(input) is dict and not is_model and input.keys() <= known:
            return list(input.items())
        found = [] if input is None else _input_items(schema, name, input)
        return [(key, value) for key, value in found if key in known]

    return writes


def input_check(schema: Schema, name: str) -> Callable[[Any], None]:
    """What refuses an input that says nothing to the graph: none of its keys is one that it takes."""
    known, is_bare = frozenset(schema.keys), schema.is_root

    def check(input: Any) -> None:
        found = [] if input is None or is_bare else [key for key, _ in _input_items(schema, name, input)]
        if found and known.isdisjoint(found):
            raise InvalidInput(
                f"None of the input's keys ({', '.join(map(repr, found))}) is an input of the "
                f"{shown_as(name)}. It takes: {', '.join(map(repr, sorted(known)))}."
            )
        for key in found:
            if key not in known:
                _warn_of_input(name, key, known.difference(found))

    return check


@lru_cache(maxsize=1024)
def _warn_of_input(name: str, key: Any, missing: frozenset[str]) -> None:
    """Warn of a key that is left out of the input, if it looks like one that is missing there; once."""
    meant = get_close_matches(key if isinstance(key, str) else "", missing, 1, cutoff=0.75)
    if meant:
        import logging

        words = "The %s was called with the key %r, which it does not take: it was dropped. Did you mean %r?"
        logging.getLogger("signoff.graph").warning(words, shown_as(name), key, meant[0])


def _check_input(schema: Schema, input: dict[str, Any], names: Collection[str]) -> None:
    """Refuse what cannot become part of a pydantic state.

    A key with a reducer is given an update, which need not look like the value; and a key that is missing may be
    there already. Whether all of it fits shows when a node reads it.

    names: the fields that the input names.
    """
    from pydantic import ValidationError

    is_whole = schema.type.model_fields.keys() <= set(names)
    try:
        validator_of(schema.type)(input)
    except ValidationError as error:
        if any(_is_wrong(schema, detail, is_whole) for detail in error.errors(include_url=False)):
            raise
    except Exception:
        return  # what checks whole objects, or whole messages, is not made for parts and updates of them


def _is_wrong(schema: Schema, detail: Mapping[str, Any], is_whole: bool) -> bool:
    """Whether what a validator has found is wrong in an input, too; what it says of the object, in a whole one only."""
    if detail["type"] == "missing":
        return False
    if not detail["loc"]:
        return is_whole
    channel = schema.channels.get(str(detail["loc"][0]))
    return channel is None or isinstance(channel, LastValue)


def _input_items(schema: Schema, name: str, input: Any) -> Sequence[Write]:
    if isinstance(input, dict):
        if is_pydantic(schema.type):
            aliases = aliases_of(schema.type)
            named = [(aliases.get(key) or key, value) for key, value in input.items()]
            _check_input(schema, input, [key for key, _ in named])
            return named
        return list(input.items())
    items = writes_of_object(input)
    if items is None:
        raise UnfitInput(
            f"The {shown_as(name)} was called with {_short(input)}. Call it with a dict of the keys to begin with: "
            f"{', '.join(map(repr, sorted(schema.keys)))}."
        )
    return items
