"""Choosing one of several: with the arrow keys and Enter, or with a letter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from signoff.cli.plain import printable
from signoff.cli.prompt.lines import output


@dataclass(frozen=True, slots=True)
class Option:
    """One of the choices."""

    value: Any
    label: str
    letter: str = ""


_IN_SIGHT = ("[SetCursorPosition]", "")
"""Where there are more lines than the terminal has, those are shown that this stands in."""


def choose(options: Sequence[Option], message: str = "", *, chosen: int = 0) -> Any:
    """The value of the option that the person takes. Raises KeyboardInterrupt at Ctrl-C, EOFError at Ctrl-D."""
    from prompt_toolkit.application import Application
    from prompt_toolkit.layout import Layout, Window
    from prompt_toolkit.layout.controls import FormattedTextControl

    place = [chosen]

    def lines() -> Any:
        parts = [("bold", f"{printable(message)}\n")] if message else []
        return [*parts, *_lines(options, place[0])]

    control = FormattedTextControl(lines, focusable=True, show_cursor=False)
    window = Window(control, dont_extend_height=True, wrap_lines=True, get_line_prefix=_indented)
    keys = _keys(options, place)
    app: Application[Any] = Application(Layout(window), key_bindings=keys, erase_when_done=True, output=output())
    return app.run()


_DEEPER = " " * 6
"""So that no part of an option looks like another one."""


def _indented(number: int, wraps: int) -> str:
    return _DEEPER if wraps else ""


def _lines(options: Sequence[Option], place: int) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    for number, option in enumerate(options):
        is_here = number == place
        letter = f"{option.letter}  " if option.letter else ""
        end = "" if number == len(options) - 1 else "\n"
        if is_here:
            parts.append(_IN_SIGHT)
        label = printable(option.label).replace("\n", f"\n{_DEEPER}")
        parts.append(("bold" if is_here else "", f"{'>' if is_here else ' '} {letter}{label}{end}"))
    return parts


def _keys(options: Sequence[Option], place: list[int]) -> Any:
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    def move(by: int) -> Any:
        return lambda event: place.__setitem__(0, (place[0] + by) % len(options))

    def take(number: int | None) -> Any:
        return lambda event: event.app.exit(options[place[0] if number is None else number].value)

    keys.add("up")(move(-1))
    keys.add("down")(move(1))
    keys.add("enter")(take(None))
    keys.add("c-c")(lambda event: event.app.exit(exception=KeyboardInterrupt))
    keys.add("c-d")(lambda event: event.app.exit(exception=EOFError))
    for number, option in enumerate(options):
        if option.letter:
            keys.add(option.letter)(take(number))
    return keys
