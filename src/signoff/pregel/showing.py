"""How states are shown: as dicts, or, to readers of the second version, as objects of their types."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from signoff.constants import START


@dataclass(frozen=True, slots=True)
class Forms:
    """What makes objects of a graph's own types out of its dicts, for readers of the second version."""

    output: Callable[[Any], Any] | None = None
    state: Callable[[Any], Any] | None = None

    def returned(self, values: Any) -> Any:
        """What a call returns, or the values stream shows."""
        return self.output(values) if self.output is not None and isinstance(values, dict) else values

    def checkpoint(self, payload: dict[str, Any]) -> dict[str, Any]:
        """A checkpoint as streams show it. Before the input is taken, there is no state to speak of."""
        if self.state is None or START in payload["next"] or not isinstance(payload["values"], dict):
            return payload
        return {**payload, "values": self.state(payload["values"])}


DICTS = Forms()
"""The forms of a graph whose states are shown as the dicts they are."""


def forms_of(output: Callable[[Any], Any] | None, state: Callable[[Any], Any] | None) -> Forms:
    """The forms of a graph."""
    return DICTS if output is None and state is None else Forms(output, state)
