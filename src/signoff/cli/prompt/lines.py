"""Typing a line."""

from typing import Any


def line(message: str, default: str = "") -> str:
    """What the person types behind a message. Ctrl-C raises KeyboardInterrupt."""
    from prompt_toolkit import PromptSession

    session: PromptSession[str] = PromptSession(output=output())
    return session.prompt(message, default=default)


def output() -> Any:
    """The terminal to draw on. It is not asked where its cursor is, which nothing here needs to know.

    A slow one, or one that cannot say, would be told so in the middle of the question.
    """
    from prompt_toolkit.output import create_output
    from prompt_toolkit.output.vt100 import Vt100_Output

    made = create_output()
    if isinstance(made, Vt100_Output):
        made.enable_cpr = False
    return made
