"""Drafts: what calls of one turn change in files. They are made side by side, and none changes what another does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from signoff._forks import free
from signoff._locks import RLock


class Replaced(NamedTuple):
    """A part of a text that was replaced."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A text in which parts were replaced."""

    parts: Sequence[str | Replaced]

    @property
    def before(self) -> str:
        """The text as it was."""
        return "".join(part if isinstance(part, str) else part.old for part in self.parts)

    @property
    def text(self) -> str:
        """The text as it is."""
        return "".join(part if isinstance(part, str) else part.new for part in self.parts)

    def leaves(self, text: str) -> bool:
        """Whether nothing that was replaced has to do with the places of a text: none was taken, and none has come."""
        left = sum(part.count(text) for part in self.parts if isinstance(part, str))
        return left == self.before.count(text) == self.text.count(text)

    def with_replaced(self, old: str, new: str) -> "Draft":
        """The draft with a text replaced in all places."""
        return Draft([piece for part in self.parts for piece in _replaced(part, old, new)])


def _replaced(part: str | Replaced, old: str, new: str) -> Iterator[str | Replaced]:
    if isinstance(part, Replaced):
        yield part
        return
    first, *others = part.split(old)
    yield first
    for other in others:
        yield Replaced(old, new)
        yield other


def drafted(text: str, calls: Sequence[Mapping[str, Any]]) -> Draft:
    """A text as calls of write_file and edit_file leave it, in their order; one that would be refused changes nothing.

    calls: their arguments.
    """
    draft = Draft([text])
    for args in calls:
        if "content" in args:
            draft = Draft([Replaced(text, str(args["content"]))])
        elif (old := str(args.get("old_string", ""))) and _is_made(
            draft, old, everywhere=bool(args.get("replace_all"))
        ):
            draft = draft.with_replaced(old, str(args.get("new_string", "")))
    return draft


def _is_made(draft: Draft, old: str, *, everywhere: bool) -> bool:
    places = draft.before.count(old)
    return (places == 1 or (places > 1 and everywhere)) and draft.leaves(old)


@dataclass(frozen=True, slots=True)
class Drafts:
    """The files that turns have changed outside of the state; the last ones of them."""

    alone: Any = field(default_factory=lambda: free(RLock()))
    """Held while a file is looked at and changed."""
    known: dict[Any, Draft] = field(default_factory=dict)

    def of(self, turn: Any, path: str, text: str) -> Draft:
        """A file as the calls of a turn have left it; if somebody else has changed it since, as it is."""
        known = self.known.get((turn, path))
        return known if known is not None and known.text == text else Draft([text])

    def keep(self, turn: Any, path: str, draft: Draft) -> None:
        """Keep what a call has made of a file."""
        if turn is None:
            return
        self.known.pop((turn, path), None)
        self.known[turn, path] = draft
        while len(self.known) > _MANY:
            del self.known[next(iter(self.known))]


_MANY = 32
