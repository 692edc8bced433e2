"""Asking a person in the terminal: shows a question, and returns the answer."""

import json
from typing import TYPE_CHECKING, Any

from signoff._words.questions import Interrupt
from signoff.cli.given import read_text
from signoff.cli.output import show_block
from signoff.cli.prompt.choosing import Option, choose
from signoff.cli.prompt.editing import edit
from signoff.cli.prompt.fields import GivenUp, fill_in
from signoff.cli.prompt.lines import line
from signoff.cli.prompt.panel import panel, title_of
from signoff.cli.prompt.reading import Decision, Item, Reading, Way, read

if TYPE_CHECKING:
    from rich.console import Console

LABELS: dict[Way, tuple[str, str]] = {
    "approve": ("y", "approve"),
    "reject": ("n", "reject"),
    "edit": ("e", "edit"),
    "respond": ("r", "respond"),
    "accept": ("a", "accept from here on"),
    "fill": ("f", "fill in"),
    "skip": ("s", "skip"),
}

DONE: dict[Way, str] = {
    "approve": "approved",
    "reject": "rejected",
    "edit": "edited",
    "respond": "responded",
    "accept": "accepted from here on",
    "skip": "skipped; the question stays open",
}


class Skipped(Exception):
    """The person leaves the question open for now."""


def ask(question: Interrupt[Any], console: "Console", where: str = "") -> Any:
    """Show a question and get the answer. Raises Skipped, KeyboardInterrupt at Ctrl-C, or EOFError at Ctrl-D."""
    reading = read(question)
    decisions = []
    for place, item in enumerate(reading.items, 1):
        show_block(console, panel(item, title_of(item, where, place, len(reading.items))))
        decisions.append(_decide(reading, item, console))
    return reading.answer(decisions)


def _decide(reading: Reading, item: Item, console: "Console") -> Decision:
    while True:
        try:
            decision = _decision(reading, item, console)
        except GivenUp:
            continue
        if decision.way in DONE:
            said = f": {decision.value}" if isinstance(decision.value, str) and decision.value else ""
            console.print(f"  {DONE[decision.way]}{said}")
        if decision.way == "skip":
            raise Skipped
        return decision


def _decision(reading: Reading, item: Item, console: "Console") -> Decision:
    if reading.kind == "form":
        return _filled_in(reading)
    if reading.kind == "choice":
        return _chosen(reading, console)
    way: Way = choose([Option(way, label, letter) for way in item.ways for letter, label in [LABELS[way]]])
    return Decision(way, _more(way, reading, item))


def _filled_in(reading: Reading) -> Decision:
    try:
        return Decision("fill", fill_in(reading.schema or {}))
    except GivenUp:
        return Decision("skip")


def _chosen(reading: Reading, console: "Console") -> Decision:
    letters = [str(number) if number < 10 else "" for number in range(1, len(reading.options) + 1)]
    options = [
        Option(Decision("choose", value), _text(value), letter)
        for value, letter in zip(reading.options, letters, strict=True)
    ]
    decision: Decision = choose([*options, Option(Decision("skip"), "skip", "s")])
    if decision.way == "choose":
        console.print(f"  {_text(decision.value)}")
    return decision


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _more(way: Way, reading: Reading, item: Item) -> Any:
    """What a decision needs beside itself."""
    if way == "edit":
        return edit(item.args, item.args_schema)
    if way == "respond":
        text = line("  your answer: ")
        return read_text(text) if reading.kind == "plain" else text
    if way == "reject" and reading.takes_reasons:
        return line("  why (Enter for no reason): ") or None
    return None
