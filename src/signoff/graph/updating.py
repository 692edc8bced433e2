"""Updates: from what a node returns to the writes that it stands for."""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import Any

from signoff.channels.last_value import LastValue
from signoff.constants import START
from signoff.engine.program import Write, shown_as
from signoff.errors import InvalidInput, InvalidUpdateError, ParentCommand
from signoff.graph.routing import writes_to
from signoff.graph.schema import ROOT, Schema, writes_of_object
from signoff.pregel.typing import is_pydantic
from signoff.types import Command, Send

Updates = Callable[[Any], list[Write]]


def updates_of(
    name: str,
    keys: Collection[str],
    nodes: Collection[str],
    *,
    drops_unknown: bool = False,
    dropped: Collection[str] = (),
) -> Updates:
    """What turns the result of a node into writes.

    A nested graph may return keys that this one does not have: all are left out of what a graph returns, and the
    `dropped` ones, which a nested graph has, out of what a function returns.
    """
    known = frozenset(keys)
    is_root = ROOT in known

    def updates(output: Any) -> list[Write]:
        if type(output) is dict and not is_root:
            if not output.keys() <= known:
                return _kept(list(output.items()))
            return list(output.items())
        if output is None:
            return []
        if type(output) is Command:
            return _commanded(output)
        if isinstance(output, Send):
            return writes_to(output, nodes, f"Node {name!r}")
        if isinstance(output, list | tuple) and any(isinstance(item, Command | Send) for item in output):
            return [write for item in output for write in updates(item)]
        if is_root:
            return [(ROOT, output)]
        writes = writes_of_object(output)
        if writes is None:
            raise InvalidUpdateError(
                f"Node {name!r} returned {_short(output)}. Return a dict with the keys to update, a Command, or None."
            )
        return _kept(writes)

    def _kept(writes: list[Write]) -> list[Write]:
        if drops_unknown:
            return [(key, value) for key, value in writes if key in known]
        return _checked(name, [(key, value) for key, value in writes if key in known or key not in dropped], known)

    def _commanded(command: Command[Any]) -> list[Write]:
        if command.graph is not None:
            raise ParentCommand(command)
        goto = command.goto if isinstance(command.goto, list | tuple) else [command.goto]
        routed = [write for target in goto for write in writes_to(target, nodes, f"Node {name!r}")]
        return [*command_updates(name, command.update, known), *routed]

    return updates


def command_updates(name: str, update: Any, known: frozenset[str]) -> list[Write]:
    """The writes of the update in a Command: a dict, (key, value) pairs, or an object of the state."""
    if update is None:
        return []
    if ROOT in known:
        return [(ROOT, update)]
    if isinstance(update, list | tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in update):
        return _checked(name, list(update), known)
    writes = writes_of_object(update)
    if writes is None:
        raise InvalidUpdateError(f"Node {name!r} returned a Command whose update is {_short(update)}. Give it a dict.")
    return _checked(name, writes, known)


def _checked(name: str, writes: list[Write], known: frozenset[str]) -> list[Write]:
    for key, _ in writes:
        if key not in known:
            raise InvalidUpdateError(f"Node {name!r} returned the key {key!r}, {_not_a_key(key, known)}")
    return writes


def _not_a_key(key: Any, known: Collection[str]) -> str:
    guess = get_close_matches(str(key), known, 1)
    hint = f"Did you mean {guess[0]!r}?" if guess else f"The keys are: {', '.join(map(repr, sorted(known)))}."
    return f"which the state does not have. {hint}"


def _short(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 80 else text[:77] + '...'} (a {type(value).__name__})"


# Input


def input_writes(schema: Schema, name: str) -> Updates:
    """What turns the caller's input into the write to START, or refuses it."""
    known = frozenset(schema.keys)

    def writes(input: Any) -> list[Write]:
        start_writes(schema, name, known)(input)
        return [(START, input)]

    return writes


def start_writes(schema: Schema, name: str, known: frozenset[str]) -> Updates:
    """What turns the input into writes to the state's keys. Keys that the input schema does not have are left out."""

    is_root, is_model = schema.is_root, is_pydantic(schema.type)

    def writes(input: Any) -> list[Write]:
        if is_root:
            return [(ROOT, input)]
        if type(input) is dict and not is_model and input.keys() <= known:
            return list(input.items())
        found = [] if input is None else _input_items(schema, name, input)
        kept = [(key, value) for key, value in found if key in known]
        if found and not kept:
            raise InvalidInput(
                f"None of the input's keys ({', '.join(repr(key) for key, _ in found)}) is an input of the "
                f"{shown_as(name)}. It takes: {', '.join(map(repr, sorted(known)))}."
            )
        return kept

    return writes


def _check_input(schema: Schema, input: dict[str, Any]) -> None:
    """Refuse what cannot become part of a pydantic state.

    A key with a reducer is given an update, which need not look like the value; and a key that is missing may be
    there already. Whether all of it fits shows when a node reads it.
    """
    from pydantic import ValidationError

    try:
        schema.type.model_validate(input)
    except TypeError:
        return  # an update of messages, say, is met by the validator of whole ones
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            channel = schema.channels.get(str(detail["loc"][0])) if detail["loc"] else None
            if detail["type"] != "missing" and (channel is None or isinstance(channel, LastValue)):
                raise


def _input_items(schema: Schema, name: str, input: Any) -> Sequence[Write]:
    if isinstance(input, dict):
        if is_pydantic(schema.type):
            _check_input(schema, input)
        return list(input.items())
    items = writes_of_object(input)
    if items is None:
        raise InvalidUpdateError(
            f"The {shown_as(name)} was called with {_short(input)}. Call it with a dict of the keys to begin with."
        )
    return items
