"""What a caller does with a thread, as a script that can be played again after any crash."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from signoff._snapshots import StateSnapshot
from signoff._words.commands import Command
from signoff._words.questions import Interrupt
from signoff.constants import MISSING
from signoff.errors import InvalidInput

__all__ = ["Act", "Answers", "GoOn", "Input", "Script", "Update", "Where"]

Where = Callable[[StateSnapshot], bool]
"""Which checkpoint is meant: the newest one in the history for which it is true."""

Answers = Mapping[Any, Any] | Callable[[Interrupt[Any]], Any]
"""Answers by the key or the payload of their question; or a function from the question to its answer."""


@dataclass(frozen=True, slots=True)
class Input:
    """Give the thread new input."""

    value: Any


@dataclass(frozen=True, slots=True)
class GoOn:
    """Go on where the thread stands; or, from an old checkpoint, as a new branch."""

    at: Where | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Change the state as if a node had returned the values; of an old checkpoint, as a new branch."""

    values: Any
    as_node: str | None = None
    at: Where | None = None


Act = Input | GoOn | Update


@dataclass(frozen=True, slots=True)
class Script:
    """Acts, one after the other. After each, questions are answered and the thread goes on until it rests."""

    acts: Sequence[Act]
    answers: Answers = field(default_factory=dict)
    answers_together: bool = False
    """Whether one call answers all open questions; else each gets a call of its own."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        for act in self.acts if isinstance(self.acts, list | tuple) else [self.acts]:
            if not isinstance(act, Act):
                raise InvalidInput(f"The script has {act!r}. It is made of acts: Input(value), GoOn(), Update(values).")
        if not isinstance(self.acts, list | tuple):
            raise InvalidInput(f"The script is {self.acts!r}. Give a list of acts: [{self.acts!r}].")
        if not self.acts:
            raise InvalidInput("The script is empty, so nothing would be tested. Begin it with Input(value).")
        if not (callable(self.answers) or isinstance(self.answers, Mapping)):
            raise InvalidInput(
                f"The answers are {self.answers!r}. Give a dict of questions and answers, or a function."
            )

    def command(self, questions: Sequence[Interrupt[Any]]) -> Command[Any]:
        """The call that answers what is open."""
        meant = questions if self.answers_together else questions[:1]
        answers = {question.id: self.answer(question) for question in meant}
        commands = [answer for answer in answers.values() if isinstance(answer, Command)]
        resume = {id: answer.resume if isinstance(answer, Command) else answer for id, answer in answers.items()}
        return replace(commands[0], resume=resume) if commands else Command(resume=resume)

    def answer(self, question: Interrupt[Any]) -> Any:
        """What is answered to a question."""
        if callable(self.answers):
            return self.answers(question)
        for name in (question.key, question.value):
            found = _looked_up(self.answers, name)
            if found is not MISSING:
                return found
        raise InvalidInput(
            f"The graph asks {question.value!r}, and the script has no answer to it. Give World(..., answers=) one by "
            "the question's key or payload, or a function that answers every question."
        )


def _looked_up(answers: Mapping[Any, Any], name: Any) -> Any:
    try:
        return MISSING if name is None else answers.get(name, MISSING)
    except TypeError:  # a payload that cannot be the key of a mapping
        return MISSING
