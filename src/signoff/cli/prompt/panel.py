"""A question as a person wants to read it: a panel with the text, the arguments, and a coloured diff."""

from collections.abc import Mapping
from typing import Any

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from signoff.cli.plain import as_json, plain, printable
from signoff.cli.prompt.folding import Folded
from signoff.cli.prompt.reading import Item, Reading

WIDTH = 80
"""How wide a panel is at most: it is read, not scanned."""


def panels(reading: Reading, where: str = "") -> RenderableType:
    """All of a question."""
    count = len(reading.items)
    return Group(*(panel(item, title_of(item, where, place, count)) for place, item in enumerate(reading.items, 1)))


def panel(item: Item, title: str = "") -> Panel:
    """One thing to decide on."""
    parts: list[RenderableType] = []
    if item.text:
        parts.append(Text(printable(item.text)))
    rest = _beside(item)
    if rest not in (None, {}, []):
        parts.append(Folded(_arguments(rest), "    "))
    if item.change is not None:
        parts.append(Folded(coloured(item.change.diff), "… "))
    spaced = [part for one in parts for part in (Text(""), one)][1:]
    head = Text(printable(title), "bold") if title else None
    return Panel(Group(*spaced), title=head, title_align="left", box=ROUNDED, padding=(0, 1), width=WIDTH)


def title_of(item: Item, where: str, place: int, count: int) -> str:
    """What a panel is called: the action, who asks, the thread, and which of several it is."""
    number = f"{place} of {count}" if count > 1 else ""
    return " · ".join(part for part in (item.title, item.asker, where, number) if part)


def _beside(item: Item) -> Any:
    """The arguments that the diff does not show."""
    if item.change is None or not isinstance(item.args, Mapping):
        return item.args
    return {name: value for name, value in item.args.items() if name not in item.change.told}


def _arguments(args: Any) -> Text:
    """Arguments, one on a line; long texts below their name."""
    shown = plain(args)
    if not isinstance(shown, dict):
        return Text(printable(shown) if isinstance(shown, str) else as_json(shown, indent=2))
    text = Text()
    for place, (name, value) in enumerate(shown.items()):
        text.append("\n" if place else "").append(f"{_name(name)}: ", "bold")
        text.append(_value(value))
    return text


def _name(name: str) -> str:
    """A name as it is, unless it could be taken for more than a name."""
    return as_json(name) if set(name) & set(":\n\t") or name != name.strip() else printable(name)


def _value(value: Any) -> str:
    text = printable(value) if isinstance(value, str) else as_json(value, indent=2)
    return text if "\n" not in text else "\n" + "\n".join(f"  {line}" for line in text.split("\n"))


def coloured(diff: str) -> Text:
    """A unified diff. The signs say it, too, where there are no colours."""
    text = Text()
    for place, line in enumerate(printable(diff).split("\n")):
        text.append(("\n" if place else "") + line, _style(line))
    return text


def _style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "bold"
    if line.startswith("@@"):
        return "cyan"
    return {"+": "green", "-": "red"}.get(line[:1], "")
