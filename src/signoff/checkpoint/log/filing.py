"""Open questions, as the index has them: rows that a search finds without reading what was asked."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from signoff._tuples import made
from signoff.checkpoint.encoding import Encoded, decoded
from signoff.checkpoint.questions import Filing, Question, as_text, read_interrupt
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer

__all__ = ["Filed", "filed", "hides_values", "question_of"]


class Filed(NamedTuple):
    """What becomes of the open questions of a thread, the new ones as rows."""

    closed: Sequence[str] | None
    asked: Sequence[tuple[Any, ...]]
    """(id, graph, path, node, asked_at, text, tag, data) each."""


def filed(serde: Any, filing: Filing) -> Filed:
    """A filing, as the index has it."""
    asked: list[tuple[Any, ...]] = []
    is_hidden = bool(filing.asked) and hides_values(serde)
    for one in filing.asked:
        text = "" if is_hidden else as_text(one.value)
        asked.append((one.id, one.graph, one.path, one.node, one.asked_at, text, *serde.dumps_typed(one.interrupt)))
    return made(Filed, (filing.closed, asked))


def hides_values(serde: Any) -> bool:
    """Whether what was asked may not stand in the clear beside what a serializer has made of it.

    One that is not signoff's own may encrypt. If it does not, and is to be searched quickly, it says so.
    """
    own = serde.serde if type(serde) is Encoded else serde
    return type(own) is not JsonPlusSerializer and getattr(own, "hides_values", True) is not False


def question_of(serde: Any, row: Sequence[Any]) -> Question:
    """The question in a row: (id, thread_id, graph, path, asked_at, tag, data)."""
    *texts, data = row
    id, thread_id, graph, path, asked_at, tag = map(str, texts)
    is_whole = {*map(type, texts)} == {str}
    interrupt = read_interrupt(id, thread_id, lambda: decoded(serde, (tag, data)) if is_whole else None)
    return Question(id, thread_id, graph, path, asked_at, interrupt)
