"""Answers that are stored, and that no run has taken yet: the index of open questions keeps a note in their place.

So the threads that can go on are found without looking through all of them, and retention leaves them alone. When the
step is over that asked, notes are closed with all that it asked. Until then one may be out of date: look at the thread.
"""

from dataclasses import replace

from signoff._words.questions import Interrupt
from signoff.checkpoint.questions import NOTE, Question, Wanted

__all__ = ["note_id", "note_of", "noted"]


def note_of(question: Question) -> Question:
    """What is filed in place of a question that was answered."""
    id = note_id(question.id)
    return replace(question, id=id, graph=f"{NOTE}{question.graph}", path=NOTE, interrupt=Interrupt(value=NOTE, id=id))


def note_id(question_id: str) -> str:
    """The id of the note for a question: another one, since that may be open again, if the answer is taken back."""
    return f"{question_id}{NOTE}"


def noted(graph: str) -> Wanted:
    """The notes for a graph of this name."""
    return Wanted(graph=f"{NOTE}{graph}", answered=True, limit=None)
