"""The commands and their options. What they do is loaded when one of them is called, so that help comes at once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from signoff.cli.codes import MEANINGS
from signoff.cli.options import App, By, Db, Json, MaybeApp, NoInput, OfThread, QuestionId, Thread
from signoff.cli.output import reporting

_CODES = "\n".join(f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items())

app = typer.Typer(
    name="signoff",
    help="Workflows that stop for people: run them, see what waits, answer, look inside.",
    epilog=f"\b\nExit codes:\n{_CODES}",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@app.command(epilog=_examples("signoff demo"))
@reporting
def demo() -> None:
    """See a question, answer it, see the run go on. Needs nothing, leaves nothing behind."""
    from signoff.cli.commands.demo import play

    play()


@app.command(
    epilog=_examples(
        """signoff run flows/refunds.py:app '{"request": "I want a refund"}' --thread order-7""",
        "signoff run refunds @order.json --json",
        "signoff run refunds --thread order-7        (goes on where it stopped)",
    )
)
@reporting
def run(
    app: App,
    input: Annotated[str | None, typer.Argument(help="JSON, @file, or - for stdin; nothing to go on.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", "-t", help="The thread; a new one if not said.")] = None,
    by: By = None,
    no_input: NoInput = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Run a graph and follow it. At a question, ask here, if there is a terminal."""
    from signoff.cli.commands import running

    running.run(app, input, thread, db, json, no_input, by)


@app.command(
    epilog=_examples(
        "signoff inbox --graph refunds --older-than 2h",
        "signoff inbox --answer                      (one question after the other)",
        "signoff inbox --json | jq -r '.questions[].id'",
    )
)
@reporting
def inbox(
    graph: Annotated[str | None, typer.Option(help="Of graphs of this name.")] = None,
    node: Annotated[str | None, typer.Option(help="Asked by this node.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", "-t", help="Of this thread.")] = None,
    text: Annotated[str | None, typer.Option(help="That say this.")] = None,
    older_than: Annotated[str | None, typer.Option(help="That wait this long: 30s, 10min, 2h, 7d.")] = None,
    limit: Annotated[int, typer.Option(help="How many.", min=1)] = 50,
    after: Annotated[str | None, typer.Option(help="The cursor of the page before.")] = None,
    answer: Annotated[bool, typer.Option("--answer", help="Answer them here, one after the other.")] = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """What waits for an answer, over all threads, oldest first."""
    from signoff.cli.commands import questions

    questions.list_open(db, json, graph, node, thread, text, older_than, limit, after, answer)


@app.command(epilog=_examples("signoff show 3f9c2a1b"))
@reporting
def show(question: QuestionId, thread: OfThread = None, db: Db = None, json: Json = False) -> None:
    """A question, as a person wants to read it."""
    from signoff.cli.commands import questions

    questions.show_one(questions.Which(question, thread), db, json)


@app.command(
    epilog=_examples(
        "signoff answer 3f9c2a1b yes",
        """signoff answer 3f9c2a1b '{"decision": "approved"}' --by ana --app refunds""",
        'echo \'{"decisions": [{"type": "approve"}]}\' | signoff answer 3f9c2a1b',
    )
)
@reporting
def answer(
    question: QuestionId,
    value: Annotated[str | None, typer.Argument(help="JSON or a text, @file, or - for stdin.")] = None,
    thread: OfThread = None,
    by: By = None,
    app: MaybeApp = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Answer a question. The answer is checked and stored; with --app, the thread goes on at once."""
    from signoff.cli.commands import questions

    questions.answer(questions.Which(question, thread), value, by, app, db, json)


@app.command(epilog=_examples("signoff approve 3f9c2a1b --by ana"))
@reporting
def approve(
    question: QuestionId,
    from_here_on: Annotated[bool, typer.Option("--from-here-on", help="Do not ask for such calls again.")] = False,
    thread: OfThread = None,
    by: By = None,
    app: MaybeApp = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Say yes, in the shape that the question wants."""
    from signoff.cli.commands import questions

    way: Literal["accept", "approve"] = "accept" if from_here_on else "approve"
    questions.decide(way, questions.Which(question, thread), None, by, app, db, json)


@app.command(epilog=_examples("signoff reject 3f9c2a1b --reason 'Too expensive'"))
@reporting
def reject(
    question: QuestionId,
    reason: Annotated[str | None, typer.Option("--reason", "-r", help="Why, for whoever asked.")] = None,
    thread: OfThread = None,
    by: By = None,
    app: MaybeApp = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Say no, in the shape that the question wants."""
    from signoff.cli.commands import questions

    questions.decide("reject", questions.Which(question, thread), reason, by, app, db, json)


@app.command(
    epilog=_examples(
        "signoff edit 3f9c2a1b                       (in $EDITOR)", """signoff edit 3f9c2a1b '{"amount": 5}'"""
    )
)
@reporting
def edit(
    question: QuestionId,
    arguments: Annotated[str | None, typer.Argument(help="The arguments: JSON, @file, or - for stdin.")] = None,
    thread: OfThread = None,
    by: By = None,
    app: MaybeApp = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Approve an action with other arguments."""
    from signoff.cli.commands import questions

    questions.edit(questions.Which(question, thread), arguments, by, app, db, json)


@app.command(epilog=_examples("signoff threads --limit 20"))
@reporting
def threads(
    limit: Annotated[int, typer.Option(help="How many.", min=1)] = 50, db: Db = None, json: Json = False
) -> None:
    """The threads, those that changed last first."""
    from signoff.cli.commands import threads

    threads.list_threads(limit, db, json)


@app.command(epilog=_examples("signoff history order-7"))
@reporting
def history(thread: Thread, db: Db = None, json: Json = False) -> None:
    """What happened in a thread: what ran and changed, what was asked, who answered, how long it took."""
    from signoff.cli.commands import threads

    threads.history(thread, db, json)


_CHECKPOINT = "A checkpoint, or the beginning of its id."


@app.command(epilog=_examples("signoff state order-7", "signoff state order-7 --at 1f1e0bcc --json"))
@reporting
def state(
    thread: Thread,
    at: Annotated[str | None, typer.Option(help=f"{_CHECKPOINT} The newest if not said.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """The state of a thread, now or at a checkpoint."""
    from signoff.cli.commands import threads

    threads.state(thread, at, db, json)


@app.command(epilog=_examples("signoff diff order-7", "signoff diff order-7 1f1e0bcc 1f1e0bcd"))
@reporting
def diff(
    thread: Thread,
    before: Annotated[str | None, typer.Argument(help=f"{_CHECKPOINT} The one before if not said.")] = None,
    after: Annotated[str | None, typer.Argument(help=f"{_CHECKPOINT} The newest if not said.")] = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """What differs between two checkpoints of a thread."""
    from signoff.cli.commands import threads

    threads.diff(thread, before, after, db, json)


@app.command(epilog=_examples("""signoff fork refunds order-7 1f1e0bcc --set '{"amount": 5}'"""))
@reporting
def fork(
    app: App,
    thread: Thread,
    checkpoint: Annotated[str, typer.Argument(help=_CHECKPOINT)],
    set: Annotated[str | None, typer.Option("--set", help="Change the state there first: JSON.")] = None,
    as_node: Annotated[str | None, typer.Option(help="The node that the change comes from.")] = None,
    no_input: NoInput = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Run a thread from an old checkpoint, as a new branch of it."""
    from signoff.cli.commands import running

    running.fork(app, thread, checkpoint, set, as_node, db, json, no_input)


@app.command(epilog=_examples("signoff graph refunds --format ascii", "signoff graph refunds -f svg -o refunds.svg"))
@reporting
def graph(
    app: App,
    format: Annotated[str, typer.Option("--format", "-f", help="mermaid, svg or ascii.")] = "mermaid",
    xray: Annotated[bool, typer.Option("--xray", help="Open nested graphs.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to a file.")] = None,
    json: Json = False,
) -> None:
    """A graph as a picture."""
    from signoff.cli.commands import drawing

    drawing.draw(app, format, xray, output, json)


@app.command(
    epilog=_examples("signoff prune --older-than 7d --keep 3", "signoff prune --older-than 30d --delete --yes")
)
@reporting
def prune(
    older_than: Annotated[str | None, typer.Option(help="Threads that did not change for so long: 7d.")] = None,
    keep: Annotated[int, typer.Option(help="How many checkpoints of each thread stay.", min=1)] = 1,
    delete: Annotated[bool, typer.Option("--delete", help="Whole threads, and not only their past.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it. Without this, it is only told what would go.")] = False,
    db: Db = None,
    json: Json = False,
) -> None:
    """Remove what is old. A thread that waits for an answer is never touched."""
    from signoff.cli.commands import keeping

    keeping.prune(older_than, keep, delete, yes, db, json)


@app.command(epilog=_examples("signoff check flows/refunds.py:app"))
@reporting
def check(app: App, db: Db = None, json: Json = False) -> None:
    """Which threads that wait would not simply go on under the code as it is now."""
    from signoff.cli.commands import keeping

    keeping.check(app, db, json)
