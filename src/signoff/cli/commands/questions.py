"""Commands for questions: inbox, show, answer, approve, reject, edit."""

import sys
from datetime import UTC, datetime
from functools import partial
from shlex import quote
from typing import Any, NamedTuple

from signoff import forms
from signoff._reprs import repr_of
from signoff._words.commands import Command
from signoff.checkpoint.questions import Question
from signoff.cli.apps import find, needs_loop
from signoff.cli.codes import FAILED, PAUSED, NotFound
from signoff.cli.databases import again, named, next_run, opened
from signoff.cli.given import fitting, length_of, meant_by, person, text_of, value_of
from signoff.cli.output import console, for_people, has_terminal, is_terminal, leave, show, show_block, tell
from signoff.cli.plain import ago, as_json, question_fields, short, short_id
from signoff.cli.prompt.reading import Decision, Reading, Way, read
from signoff.errors import AlreadyAnswered, InvalidAnswer, InvalidInput, SignoffError, ThreadBusy
from signoff.inbox import Inbox, Page


def list_open(
    db: str | None,
    json: bool,
    graph: str | None,
    node: str | None,
    thread: str | None,
    text: str | None,
    older_than: str | None,
    limit: int,
    after: str | None,
    answers: bool,
) -> None:
    with opened(db) as saver:
        inbox = Inbox(saver)
        page = inbox.open(
            graph=graph,
            node=node,
            thread_id=thread,
            text=text,
            older_than=length_of(older_than),
            limit=limit,
            after=after,
        )
        if answers:
            _answer_all(inbox, page)
        else:
            data = {"questions": [question_fields(one) for one in page], "cursor": page.cursor}
            wanted = {"graph": graph, "node": node, "thread": thread, "text": text, "older-than": older_than}
            said = "".join(f" --{name} {quote(value)}" for name, value in wanted.items() if value is not None)
            more = f"signoff inbox{said} --limit {limit}{again(db)} --after {page.cursor}"
            show(data, json, lambda out: _table(out, page, more))


def _table(out: Any, page: Page, more: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not len(page):
        out.print("Nothing waits for an answer.")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=False)
    for name, settings in (("question", {"no_wrap": True}), ("thread", {}), ("node", {}), ("waits", {"no_wrap": True})):
        table.add_column(name, **settings)  # type: ignore[arg-type]
    table.add_column("asked", ratio=1)
    now = datetime.now(UTC)
    for one in page:
        table.add_row(short_id(one.id), one.thread_id, one.node, ago(one.asked_at, now), short(_text(one)))
    show_block(out, table)
    if page.cursor:
        out.print(f"More: {more}")


def _text(question: Question) -> str:
    item = read(question.interrupt).items[0]
    if item.text or item.title:
        return item.text or f"{item.title} {short(item.args)}"
    return as_json(question.value)


def _answer_all(inbox: Inbox, page: Page) -> None:
    """Go through a page, one question after the other."""
    from signoff.cli.prompt.asking import Skipped, ask

    if not has_terminal():
        raise InvalidInput("There is no terminal to ask in. Use `signoff answer QUESTION VALUE` instead.")
    out, by = console(), person(None)
    for question in page:
        while True:
            try:
                value, thread_id = ask(question.interrupt, out, question.thread_id), question.thread_id
                inbox.answer(question.id, value, by=by, thread_id=thread_id)
            except Skipped:
                pass
            except ThreadBusy as error:
                out.print(f"  {error}")  # and on with the next one
            except InvalidAnswer as error:
                out.print(f"  {for_people(error)}")
                if inbox.get(question.id, thread_id=question.thread_id) is not None:
                    continue
            except (KeyboardInterrupt, EOFError):
                out.print("  left open")
                leave(PAUSED)
            break


class Which(NamedTuple):
    """The question that is meant."""

    id: str
    """Its id, or the beginning of it."""
    thread: str | None
    """Its thread; needed if a copy of that asks the same."""


def show_one(which: Which, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        question = the_question(Inbox(saver), which)
    show(question_fields(question), json, lambda out: _show(out, question))


def _show(out: Any, question: Question) -> None:
    from signoff.cli.prompt.panel import panels

    reading = read(question.interrupt)
    show_block(out, panels(reading, question.thread_id))
    out.print(f"  question  {question.id}")
    out.print(f"  asked     {question.asked_at} by {question.path} of {question.graph or 'a graph'}")
    ways = [way for way in reading.items[0].ways if way not in ("skip", "fill", "choose")]
    if ways:
        out.print(f"  decide    {', '.join(ways)}")
    if reading.options:
        out.print(f"  choose    {', '.join(map(str, reading.options))}")
    if reading.kind == "form":
        out.print(f"  accepts   {short(reading.schema, 200)}")


def the_question(inbox: Inbox, which: Which) -> Question:
    """An open question by its id, or by the beginning of it if that is enough."""
    found = inbox.get(which.id, thread_id=which.thread) if len(which.id) >= 32 else None
    if found is not None:
        return found
    everything = inbox.open(limit=None, thread_id=which.thread) if which.id else Page()
    fitting = [one for one in everything if one.id.startswith(which.id)]
    if len({one.id for one in fitting}) > 1:
        raise InvalidInput(f"{len(fitting)} open questions begin with {which.id!r}. Type more of the id.")
    if len(fitting) > 1:
        threads = ", ".join(one.thread_id for one in fitting)
        raise InvalidInput(f"Several threads ask this, of which one is a copy of the other: {threads}. Say --thread.")
    if not fitting:
        reason = inbox.why_closed(which.id, thread_id=which.thread)
        if isinstance(reason, AlreadyAnswered):
            raise reason
        what, _, _ = str(reason).partition(" See what is open")  # the rest is for programs
        raise NotFound(f"{what} See what is open with `signoff inbox`.") from reason
    return fitting[0]


# Answering


def answer(which: Which, value: str | None, by: str | None, app: str | None, db: str | None, json: bool) -> None:
    if value is None:
        if is_terminal(sys.stdin):
            raise InvalidInput("What is the answer? signoff answer QUESTION VALUE, or pipe it in.")
        value = "-"
    text = text_of(value, what="The answer")
    given = meant_by(text, what="The answer")

    def answer_to(question: Question) -> Any:
        schema = question.interrupt.response_schema
        return given if schema is None else fitting(given, text, partial(forms.refusal, schema))

    _store(which, answer_to, by, app, db, json)


def decide(way: Way, which: Which, value: Any, by: str | None, app: str | None, db: str | None, json: bool) -> None:
    """Answer with a decision, in the shape that the question wants."""

    def answer_to(question: Question) -> Any:
        reading = read(question.interrupt)
        _check_way(way, question.id, reading)
        if way == "reject" and value and not reading.takes_reasons:
            raise InvalidAnswer(
                f"Question {question.id!r} has no place for a reason. Reject it without one, or answer it in words: "
                "`signoff answer QUESTION VALUE`."
            )
        return reading.answer([Decision(way, value)] * len(reading.items))

    _store(which, answer_to, by, app, db, json)


def _check_way(way: Way, question_id: str, reading: Reading) -> None:
    """Refuse a decision that a question does not take."""
    for item in reading.items:
        if way not in item.ways:
            raise InvalidAnswer(
                f"Question {question_id!r} cannot be answered with {way!r}. It takes: {', '.join(item.ways)}. "
                "Answer it with `signoff answer QUESTION VALUE`."
            )
    if way == "edit" and len(reading.items) > 1:
        raise InvalidAnswer("There are several actions to edit. Answer with `signoff answer QUESTION VALUE`.")


def edit(which: Which, args: str | None, by: str | None, app: str | None, db: str | None, json: bool) -> None:
    from signoff.cli.prompt.editing import edit as edited
    from signoff.cli.prompt.fields import GivenUp

    if args is not None:
        decide("edit", which, value_of(args, what="The arguments"), by, app, db, json)
        return
    if not has_terminal():
        raise InvalidInput("There is no terminal to edit in. Give the arguments: signoff edit QUESTION ARGUMENTS.")
    with opened(db) as saver:
        question = the_question(Inbox(saver), which)
    reading = read(question.interrupt)
    _check_way("edit", question.id, reading)
    try:
        arguments = edited(reading.items[0].args, reading.items[0].args_schema)
    except (GivenUp, EOFError):
        console().print("  left open")
        leave(PAUSED)
    # Meanwhile the beginning of its id may name another question.
    decide("edit", Which(question.id, question.thread_id), arguments, by, app, db, json)


def _store(which: Which, answer_to: Any, by: str | None, app: str | None, db: str | None, json: bool) -> None:
    with opened(db) as saver:
        inbox = Inbox(saver)
        graph = find(app, saver) if app is not None else None
        question = the_question(inbox, which)
        value = answer_to(question)
        run_again = next_run(named(app or "APP", db), question.thread_id)
        if graph is None:
            inbox.answer(question.id, value, by=person(by), thread_id=question.thread_id)
            then = f"Continue it with: {run_again}"
            _tell(question, value, "stored", then, json)
            return
        try:
            result = _continued(graph, question, Command(resume={question.id: value}, by=person(by)))
        except SignoffError:
            raise
        except Exception as error:
            then = f"Then the run failed. Try again with: {run_again}"
            _tell(question, value, "failed", then, json, error=repr_of(error))
            if not json:
                tell(error)
            leave(FAILED)
    asked = result.get("__interrupt__", ()) if isinstance(result, dict) else ()
    then = f"It asks again: {short(asked[0].value)}" if asked else f"Done: {short(result, 200)}"
    _tell(question, value, "paused" if asked else "done", then, json, result=result)
    if asked:
        leave(PAUSED)


def _continued(graph: Any, question: Question, answer: Command[Any]) -> Any:
    """Go on with an answer, which is only stored if the graph can go on: what the thread has come to."""
    config = {"configurable": {"thread_id": question.thread_id}}
    if not needs_loop(graph):
        return graph.invoke(answer, config)
    import asyncio

    return asyncio.run(graph.ainvoke(answer, config))


def _tell(question: Question, value: Any, status: str, then: str, json: bool, **more: Any) -> None:
    """Say that a question was answered, and what came of it."""
    told = f"Answered {short_id(question.id)} of thread {question.thread_id}.\n{then}"
    fields = {"question": question.id, "thread": question.thread_id, "answer": value, "status": status, **more}
    show(fields, json, lambda out: out.print(told))
