"""Open questions, as the index has them: rows that a search finds without reading what was asked."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from signoff._tuples import made
from signoff.checkpoint.encoding import decoded
from signoff.checkpoint.questions import Filing, Question, as_text, read_interrupt

__all__ = ["Filed", "filed", "question_of"]


class Filed(NamedTuple):
    """What becomes of the open questions of a thread, the new ones as rows."""

    closed: Sequence[str] | None
    asked: Sequence[tuple[Any, ...]]
    """(id, graph, path, node, asked_at, text, tag, data) each."""


def filed(serde: Any, filing: Filing) -> Filed:
    """A filing, as the index has it."""
    asked = [
        (one.id, one.graph, one.path, one.node, one.asked_at, _text(serde, one), *serde.dumps_typed(one.interrupt))
        for one in filing.asked
    ]
    return made(Filed, (filing.closed, asked))


def _text(serde: Any, question: Question) -> str:
    """What a search finds a question by; nothing, where values are hidden from whoever reads the database."""
    return "" if getattr(serde, "hides_values", False) else as_text(question.value)


def question_of(serde: Any, row: Sequence[Any]) -> Question:
    """The question in a row: (id, thread_id, graph, path, asked_at, tag, data)."""
    *texts, data = row
    id, thread_id, graph, path, asked_at, tag = map(str, texts)
    is_whole = {*map(type, texts)} == {str}
    interrupt = read_interrupt(id, thread_id, lambda: decoded(serde, (tag, data)) if is_whole else None)
    return Question(id, thread_id, graph, path, asked_at, interrupt)
