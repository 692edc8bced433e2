"""Long lines, so that no part of one looks like a line of its own."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Folded:
    """A text of which each line goes on behind a mark, where there is no more room in it."""

    text: Text
    mark: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self.text.split(allow_blank=True):
            line.expand_tabs(console.tab_size)
            first, *rest = self._parts(line, console, options.max_width)
            yield first
            for part in rest:
                yield Text(self.mark).append_text(part)

    def _parts(self, line: Text, console: Console, width: int) -> list[Text]:
        if line.cell_len <= width:
            return [line]
        return list(line.wrap(console, max(1, width - len(self.mark))))
