"""The origin of a question: what tells whether a program that goes on asks the question that was answered.

A question is the same if it has the same key, or the same place in its task and the same call site, whatever its
payload says now. Where the code was changed meanwhile, the call site says nothing, and the payload has to be equal.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypedDict

from signoff._words.questions import Interrupt
from signoff.errors import ReplayMismatch

Site = list[list[Any]]
"""The way from the call of interrupt() out to the task: for each function its name, a digest of its code, an offset."""


class Origin(TypedDict, total=False):
    """Where a question was asked, and what it said."""

    path: str
    """The names of the nodes from the root to the one that asked: `review|manager`; of a call, its own as the last."""
    node: str
    """The node that made that call."""
    graph: str
    """The name of the graph whose thread it is, where no index of open questions has it."""
    site: Site
    payload: str
    """A digest of what was asked."""
    shown: str
    """The beginning of what was asked, for people."""
    after: str
    """A digest of what the graphs came to that the task had called before, if there were any."""
    step: int
    """The step that its task ran in, where others go on while one waits."""
    seen: int
    """How much had been written to the state beside the results of tasks, as the task began."""
    first: str
    """The id of what was asked in its place, before others have changed the state."""
    left: dict[str, list[str]]
    """What the task had asked, and does not ask now, since it has not come to it: by id, what stands for its words."""
    at: str
    """When it was asked first."""
    is_async: bool
    """Whether it was asked by what an async run calls where a sync one may call something else."""
    is_beside: bool
    """Whether a coroutine or a thread beside the task of the step has asked it, or called what asked it."""
    is_edited: bool
    """Whether a person has changed the state since, and nobody has asked it again."""
    is_taken: bool
    """Whether its answer had been handed over before that: if it says something else now, it is simply asked again."""
    is_beside_failure: bool
    """Whether the task has failed that it was asked in: that need not wait for the answer to be tried again."""
    is_beside_change: bool
    """Whether a person has changed a graph that its task calls, and that has not asked it: the task looks at that."""


def flagged(
    question: Interrupt[Any], flag: Literal["is_edited", "is_beside_failure", "is_beside_change"]
) -> Interrupt[Any]:
    """A question with something that has become true of it."""
    return replace(question, origin={**(question.origin or {}), flag: True})


def by_itself(question: Interrupt[Any]) -> Interrupt[Any]:
    """The same question, once its task has run again."""
    beside = ("is_beside_failure", "is_beside_change")
    return replace(question, origin={name: one for name, one in (question.origin or {}).items() if name not in beside})


def unsettled(
    asked: Mapping[str, Iterable[Interrupt[Any]]], answers: Container[str], over: Container[str] = ()
) -> set[str]:
    """Those of some tasks, by id, that do not just wait for an answer: it has come, or they may ask something else.

    over: the tasks that have finished since.
    """
    found: set[str] = set()
    for id, questions in asked.items():
        for one in questions if id not in over else ():
            then = one.origin
            if one.id in answers or (
                then and ("is_edited" in then or "is_beside_failure" in then or "is_beside_change" in then)
            ):
                found.add(id)
    return found


def beside(questions: Iterable[Interrupt[Any]]) -> tuple[Interrupt[Any], ...]:
    """Questions that came from beside a task, marked."""
    return tuple(replace(one, origin={**one.origin, "is_beside": True}) if one.origin else one for one in questions)


def is_asked_again(then: Origin | None, payload: Callable[[], str], after: str) -> bool:
    """Whether what was asked, before a person changed the state, is what is asked now."""
    return then is not None and "is_edited" in then and says_the_same(then, payload, after)


def words_of(asked: Origin) -> list[str]:
    """What stands for the words of a question: for what it says, and for what it comes after."""
    return [asked.get("payload", ""), asked.get("after", "")]


def says_the_same(then: Origin, payload: Callable[[], str], after: str) -> bool:
    """Whether a question has the same words as before, and comes after the same: graphs that its task calls were
    called anew, and its words need not tell what they came to."""
    return then.get("after", "") == after and then.get("payload") == payload()


def is_same(then: Origin, now: Origin) -> bool:
    """Whether the question that is asked now is the one that was asked then."""
    if then.get("is_edited"):
        return says_the_same(then, lambda: now.get("payload", ""), now.get("after", ""))
    if then.get("site") == now.get("site"):
        return True
    return _is_other_code(then, now) and then.get("payload") == now.get("payload")


def _is_other_code(then: Origin, now: Origin) -> bool:
    """Whether the code was changed: a function on both ways is another one, or there is none on both.

    Or a runnable has a function for sync runs, and another one for async ones.
    """
    if then.get("is_async") != now.get("is_async"):
        return True
    old, new = then.get("site") or [], now.get("site") or []
    before = {name: digest for name, digest, _ in old}
    both = [(before[name], digest) for name, digest, _ in new if name in before]
    return not both or any(was != is_now for was, is_now in both) or _is_wrapped(old, new) or _is_wrapped(new, old)


def _is_wrapped(bare: Site, site: Site) -> bool:
    """Whether a way is another one with further functions around or in between, as decorators put them there."""
    names = {name for name, *_ in bare}
    return [place for place in site if place[0] in names] == bare


def mismatch(task: str, question_id: str, then: Origin, now: Origin) -> ReplayMismatch:
    """The error for a program that asks something else where a question was answered."""
    if then.get("is_edited"):
        return _edited(task, question_id, then, now)
    return ReplayMismatch(
        f"Node {task!r} asks {now.get('shown')} where {then.get('shown')} was asked and answered, so the answer was "
        f"not handed over; question {question_id!r} is kept. Go on with the code that asked it; or give both "
        "questions a key, interrupt(..., key=...); or, if the new one may have the answer, call the graph with "
        'on_changed="accept".'
    )


def _edited(task: str, question_id: str, then: Origin, now: Origin) -> ReplayMismatch:
    is_other = then.get("payload") != now.get("payload")
    change = f"It asks {now.get('shown')} now" if is_other else "A graph that it calls first came to something else"
    return ReplayMismatch(
        f"The state was changed by hand after node {task!r} had asked {then.get('shown')}. {change}, "
        f"so the answer was not handed over; question {question_id!r} is kept. Call the graph with None to have "
        'it asked again; or, if what is asked now may have the answer, with on_changed="accept".'
    )
