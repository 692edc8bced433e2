"""Options that several commands have."""

from typing import Annotated

import typer

from signoff.cli.databases import DEFAULT


def _apps(incomplete: str) -> list[str]:
    from signoff.cli.apps import names

    return [name for name in names() if name.startswith(incomplete)]


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        envvar="SIGNOFF_DB",
        show_envvar=True,
        help=f"The database: sqlite:///file.db, postgresql://... or redis://...; {DEFAULT} if not said.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
App = Annotated[
    str,
    typer.Argument(help="module:attr, path.py:attr, or a name in langgraph.json.", autocompletion=_apps),
]
MaybeApp = Annotated[
    str | None,
    typer.Option("--app", help="Continue the thread at once with this app; else the answer is stored.",
                 autocompletion=_apps),
]  # fmt: skip
Thread = Annotated[str, typer.Argument(help="The thread.")]
QuestionId = Annotated[str, typer.Argument(help="The question: its id, or the beginning of it.")]
OfThread = Annotated[
    str | None, typer.Option("--thread", "-t", help="Its thread; needed if a copy of that asks the same.")
]
By = Annotated[str | None, typer.Option("--by", help="Who answers, for the history; you if not said.")]
NoInput = Annotated[bool, typer.Option("--no-input", help="Never ask in the terminal.")]
