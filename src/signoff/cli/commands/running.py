"""Commands that run: run, fork."""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from signoff._reprs import repr_of
from signoff._words.commands import Command
from signoff._words.questions import Interrupt
from signoff.cli.apps import find
from signoff.cli.codes import FAILED, PAUSED, NotFound
from signoff.cli.commands.threads import at
from signoff.cli.databases import named, next_run, opened
from signoff.cli.following import follow
from signoff.cli.given import json_of, person
from signoff.cli.output import console, has_terminal, leave, show, show_block, tell
from signoff.cli.plain import brief, question_fields, short_id
from signoff.errors import InvalidAnswer, InvalidInput, QuestionsOpen, SignoffError

if TYPE_CHECKING:
    from rich.console import Console


def run(
    app: str, input: str | None, thread: str | None, db: str | None, json: bool, no_input: bool, by: str | None
) -> None:
    if thread == "":
        raise InvalidInput("--thread is empty. Name the thread, or leave the option out for a new one.")
    with opened(db, is_new_allowed=True) as saver:
        graph = find(app, saver)
        given = None if input is None else json_of(input, what="The input")
        session = Session(graph, named(app, db), thread or uuid4().hex[:8], json, no_input, by)
        session.begin(given, is_new=thread is None)
        session.go(given, session.config)


def fork(
    app: str, thread: str, checkpoint: str, values: str | None, as_node: str | None, db: str | None, json: bool,
    no_input: bool,
) -> None:  # fmt: skip
    with opened(db) as saver:
        graph = find(app, saver)
        config = at(saver, thread, checkpoint).config
        if values is not None:
            config = graph.update_state(config, json_of(values, what="--set"), as_node=as_node)
        Session(graph, named(app, db), thread, json, no_input, by=None).go(None, config)


class Session:
    """A thread in the terminal: it runs until it ends, asks, and runs on with the answer.

    app: how the next command names the graph.
    """

    def __init__(self, graph: Any, app: str, thread: str, is_json: bool, no_input: bool, by: str | None) -> None:
        self.graph, self.app, self.thread = graph, app, thread
        self.again = next_run(app, thread)
        self.config = {"configurable": {"thread_id": thread}}
        self.is_json, self.by = is_json, person(by)
        self.may_ask = not no_input and not is_json and has_terminal()
        self.skipped: set[str] = set()
        self.console: Console | None = None if is_json else console()

    def begin(self, given: Any, *, is_new: bool) -> None:
        """Say which thread it is."""
        if given is None and self.graph.get_state(self.config).created_at is None:
            raise NotFound(f"There is no thread {self.thread!r} to go on with. Give an input; see `signoff threads`.")
        if self.console is not None:
            self.console.print(f"thread {self.thread}" + (" (new)" if is_new else ""))

    def go(self, input: Any, config: Any) -> None:
        """Run to the end, or to a question that nobody answers here."""
        while True:
            try:
                has_asked = bool(follow(self.graph, input, config, self.console))
            except InvalidAnswer as error:
                if not self.may_ask or not isinstance(input, Command) or not self._open():
                    raise
                tell(error)
                has_asked = True
            except QuestionsOpen as error:
                raise QuestionsOpen(
                    f"Thread {self.thread!r} waits for an answer, so the new input was refused. Answer first: "
                    f"`{self.again}` asks, `signoff inbox` lists what is open."
                ) from error
            except SignoffError:
                raise
            except Exception as error:
                self._failed(error)
            if not has_asked:
                self._ended()
                return
            config = self.config
            questions = self._open()
            answers = self._answers(questions) if self.may_ask else {}
            if not answers:
                self._paused(questions)
            input = Command(resume=answers, by=self.by)

    def _open(self) -> tuple[Interrupt[Any], ...]:
        """What the thread waits for."""
        return tuple(self.graph.get_state(self.config).interrupts)

    def _answers(self, questions: Any) -> dict[str, Any]:
        """Ask what is open, one after the other. Ctrl-C leaves the rest open."""
        from signoff.cli.prompt.asking import Skipped, ask

        assert self.console is not None, "only people are asked"
        answers: dict[str, Any] = {}
        for question in questions:
            if question.id in self.skipped:
                continue
            try:
                answers[question.id] = ask(question, self.console, self.thread)
            except Skipped:
                self.skipped.add(question.id)
            except (KeyboardInterrupt, EOFError):
                if not answers:
                    self._left()
                self.may_ask = False
                break
        return answers

    def _left(self) -> None:
        assert self.console is not None, "only people leave"
        self.console.print(f"  left open; go on with: {self.again}")
        leave(PAUSED)

    def _ended(self) -> None:
        snapshot = self.graph.get_state(self.config)
        status = "stopped" if snapshot.next else "done"
        data = {"thread": self.thread, "status": status, "values": snapshot.values, "next": snapshot.next}
        show(data, self.is_json, lambda out: self._tell_end(out, snapshot))

    def _tell_end(self, out: "Console", snapshot: Any) -> None:
        if snapshot.next:
            out.print(f"stopped before {', '.join(snapshot.next)}; go on: {self.again}")
            return
        out.print("done")
        values = snapshot.values if isinstance(snapshot.values, dict) else {"result": snapshot.values}
        for name, value in values.items():
            out.print(f"  {name}: {brief(value, 200)}")

    def _paused(self, questions: Any) -> None:
        data = {"thread": self.thread, "status": "paused", "questions": [question_fields(one) for one in questions]}
        show(data, self.is_json, lambda out: self._tell_pause(out, questions))
        leave(PAUSED)

    def _tell_pause(self, out: "Console", questions: Any) -> None:
        from signoff.cli.prompt.panel import panels
        from signoff.cli.prompt.reading import read

        for question in questions:
            show_block(out, panels(read(question), self.thread))
            out.print(f"  answer it: signoff answer {short_id(question.id)} VALUE --app {self.app}")

    def _failed(self, error: Exception) -> None:
        data = {"thread": self.thread, "status": "failed", "error": repr_of(error)}
        show(data, self.is_json, lambda out: tell(error))
        leave(FAILED)
