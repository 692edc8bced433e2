"""Where people read: a terminal that shows all that is printed, and obeys none of it."""

from typing import Any

from rich.console import Console
from rich.text import Text

from signoff.cli.plain import printable


class Screen(Console):
    """Prints texts as they are, whoever wrote them: no markup, no emoji for their names, no control characters."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, markup=False, emoji=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Every plain text goes this way, in tables, too."""
        return super().render_str(printable(text), **settings)
