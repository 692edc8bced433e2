"""What commands print: for people, or with --json for programs. Errors go to stderr, with their exit code."""

import codecs
import functools
import json
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar

import typer

from signoff._reprs import text_of
from signoff.cli.codes import STOPPED, code_of
from signoff.errors import SignoffError

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])

_SPELT = "signoff.spelt"


def take_any_text() -> None:
    """Let stdout and stderr take any text: what their encoding does not have is written as JSON writes it."""
    codecs.register_error(_SPELT, _spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_SPELT)


def _spelt(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError), "it is only written"
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def console() -> "Console":
    """Where people read. Colours only where they can be shown, and none with NO_COLOR."""
    from signoff.cli.screen import Screen

    return Screen()


def show_block(out: "Console", block: Any) -> None:
    """Print what has a shape of its own, a panel or a table, within the width of the terminal."""
    out.print(block, soft_wrap=False)


def show(data: Any, is_json: bool, for_people: Callable[["Console"], None]) -> None:
    """Print a result."""
    if is_json:
        from signoff.cli.plain import as_json

        print(as_json(data, indent=2))
    else:
        for_people(console())


def has_terminal() -> bool:
    """Whether a person can be asked here."""
    return is_terminal(sys.stdin) and is_terminal(sys.stdout)


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person is at the other end of a stream. There is none where it was closed before Python began."""
    return stream is not None and stream.isatty()


def leave(code: int) -> NoReturn:
    """End with an exit code."""
    raise typer.Exit(code)


def reporting(command: F) -> F:
    """A command whose errors are told in one line, with a fixed exit code."""

    @functools.wraps(command)
    def reported(*args: Any, **named: Any) -> Any:
        try:
            return command(*args, **named)
        except KeyboardInterrupt:
            leave(STOPPED)
        except SignoffError as error:
            tell(error, is_json=bool(named.get("json")))
            leave(code_of(error))

    return reported  # type: ignore[return-value]


_COMMANDS = {
    "get_state(config).interrupts[...].response_schema says": "`signoff show QUESTION` says",
    "with get_state(config).interrupts": "with `signoff inbox`",
    "invoke(None, config) goes on": "`signoff run APP --thread THREAD` goes on",
}
"""From what a program calls to what a person types."""


def for_people(error: BaseException) -> str:
    """What an error says, with commands in the place of calls."""
    said = text_of(error)
    for call, command in _COMMANDS.items():
        said = said.replace(call, command)
    return said


def tell(error: BaseException, *, is_json: bool = False) -> None:
    """Print an error."""
    from signoff.cli.plain import as_json, printable

    if is_json:
        print(as_json({"error": type(error).__name__, "message": text_of(error)}), file=sys.stderr)
    else:
        print(printable(f"{type(error).__name__}: {for_people(error)}"), file=sys.stderr)
