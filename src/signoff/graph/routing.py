"""Routing: from what a node or a conditional edge says to the writes that make the next nodes due."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from signoff._elsewhere import refuse_theirs
from signoff._reprs import repr_of
from signoff._words.commands import Send
from signoff.constants import END, JOIN, START, TASKS, TRIGGER
from signoff.engine.program import Write
from signoff.errors import InvalidGraph, InvalidUpdateError, UnknownNode
from signoff.pregel.actions import first_parameter, literals_in, result_hint
from signoff.pregel.typing import are_texts, has_fields


def plain(name: str) -> str:
    """The text of a name, which may be a member of an Enum of texts."""
    return name if type(name) is str else str.__str__(name)


def trigger_of(node: str) -> str:
    """The channel whose write makes a node due."""
    return TRIGGER + node


def join_of(starts: Sequence[str], end: str) -> str:
    """The channel that opens when all of the starts have arrived."""
    return f"{JOIN}{'+'.join(map(_in_join, starts))}:{end}"


def _in_join(name: str) -> str:
    """A name as it stands in that of a channel, where a plus is between names."""
    return name.replace("%", "%25").replace("+", "%2B")


@dataclass(slots=True, eq=False)
class BranchSpec:
    """A conditional edge as the user described it."""

    path: Any
    ends: dict[Hashable, str] | None
    """From what the path returns to nodes; None if it returns the names themselves."""
    name: str
    schema: Any = None
    """The type that the path asks for by an annotation; None for the keys that its node reads."""
    is_told: bool = True
    """Whether callbacks hear of it."""


def branch_spec(path: Any, path_map: Mapping[Hashable, str] | Sequence[str] | None, name: str) -> BranchSpec:
    """A conditional edge; without a map, the ends are read from a Literal return annotation."""
    targets = path_map.values() if isinstance(path_map, Mapping) else path_map
    if isinstance(targets, str) or not (targets is None or are_texts(targets)):
        raise InvalidGraph(f"The path_map of {name!r} is {path_map!r}. Give a list of nodes, or a dict to them.")
    if isinstance(path_map, Mapping):
        ends: dict[Hashable, str] | None = dict(path_map)
    elif path_map is not None:
        ends = {target: target for target in path_map}
    else:
        literal = _literal_ends(path)
        ends = {target: target for target in literal} if literal else None
    reads = first_parameter(path)
    return BranchSpec(path, ends, name, reads if has_fields(reads) else None)


def keep_to_itself(branches: Mapping[str, Mapping[str, BranchSpec]]) -> None:
    """Tell callbacks nothing of these conditional edges: they are how a ready-made graph works, not the user's."""
    for spec in (spec for behind in branches.values() for spec in behind.values()):
        spec.is_told = False


def _literal_ends(path: Any) -> tuple[str, ...]:
    return literals_in(result_hint(path))


def router(source: str, branch: BranchSpec, nodes: Collection[str]) -> Callable[[Any], list[Write]]:
    """What turns a path's result into writes."""

    def route(chosen: Any) -> list[Write]:
        several = chosen if isinstance(chosen, list | tuple) else [chosen]
        return [write for one in several for write in writes_to(_target(source, branch, one), nodes, _teller(source))]

    return route


def _target(source: str, branch: BranchSpec, chosen: Any) -> Any:
    if isinstance(chosen, Send):
        return chosen
    teller = f"The conditional edge {branch.name!r} behind {source!r} returned"
    refuse_theirs(chosen, teller, InvalidUpdateError)
    target = chosen
    if branch.ends is not None:
        if not _is_hashable(chosen) or chosen not in branch.ends:
            raise UnknownNode(
                f"{teller} {chosen!r}, which its path_map does not have. It maps: {', '.join(map(repr, branch.ends))}."
            )
        target = branch.ends[chosen]
    if not isinstance(target, str) or target == START:
        raise InvalidUpdateError(
            f"{teller} {repr_of(chosen)}. Return the name of a node, END, a Send, or a list of these."
        )
    return target


def _is_hashable(chosen: Any) -> bool:
    try:
        hash(chosen)
    except TypeError:
        return False
    return True


def _teller(source: str) -> str:
    return f"The conditional edge behind {source!r}"


def writes_to(target: Any, nodes: Collection[str], teller: str) -> list[Write]:
    """The writes that make a target due: a node's name, a Send, or END, which needs none."""
    if isinstance(target, Send):
        _check(target.node, nodes, teller)
        if type(target.node) is not str:
            target = Send(plain(target.node), target.arg, timeout=target.timeout)
        return [(TASKS, target)]
    if target == END:
        return []
    refuse_theirs(target, f"{teller} goes to", InvalidUpdateError)
    _check(target, nodes, teller)
    return [(trigger_of(target), None)]


def tell_of_both(name: str, targets: Collection[Any], follows: frozenset[str]) -> None:
    """Tell of a node that goes elsewhere than its edges lead, which are followed all the same."""
    goto = {plain(target) for target in targets if isinstance(target, str)}
    if goto and not follows <= goto:
        _warn_of_both(name, tuple(sorted(goto)), tuple(sorted(follows - goto)))


@lru_cache(maxsize=1024)
def _warn_of_both(name: str, goto: tuple[str, ...], ends: tuple[str, ...]) -> None:
    import logging

    words = "Node %r goes to %s by its Command, and to %s by its edge, which is followed in any case. %s"
    mend = "If it is to be one of them, remove the edge, and go there by a Command as well."
    shown = [" and ".join("END" if one == END else repr(one) for one in several) for several in (goto, ends)]
    logging.getLogger("signoff.graph").warning(words, name, *shown, mend)


def _check(target: Any, nodes: Collection[str], teller: str) -> None:
    if isinstance(target, str) and target in nodes and target != START:
        return
    hint = guessed(target, nodes) or f"The nodes are: {', '.join(map(repr, sorted(nodes)))}."
    raise UnknownNode(f"{teller} goes to {repr_of(target)}, which is not a node of this graph. {hint}")


def guessed(target: Any, nodes: Collection[str]) -> str:
    """What may have been meant by a name that no node has; empty if nothing is near."""
    if isinstance(target, str) and target.upper() in ("START", "END"):
        return f"Write {target.upper()} without quotes: `from signoff.graph import {target.upper()}`."
    guess = get_close_matches(target if isinstance(target, str) else "", nodes, 1)
    return f"Did you mean {guess[0]!r}?" if guess else ""
