"""Inputs: from what a caller gives to the writes that it stands for."""

from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from signoff.channels.last_value import LastValue
from signoff.constants import START
from signoff.engine.program import Write, shown_as
from signoff.errors import InvalidInput, InvalidUpdateError
from signoff.graph.schema import ROOT, Schema, aliases_of, validator_of, writes_of_object
from signoff.graph.updating import Updates, shown
from signoff.pregel.typing import is_pydantic


class UnfitInput(InvalidInput, InvalidUpdateError):
    """The input is of a kind that no state is made of."""


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
            f"The {shown_as(name)} was called with {shown(input)}. Call it with a dict of the keys to begin with: "
            f"{', '.join(map(repr, sorted(schema.keys)))}."
        )
    return items
