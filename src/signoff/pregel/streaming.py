"""What the reader of a stream asked for, and the shape in which it gets each chunk."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from signoff._words.choices import StreamMode
from signoff.constants import INTERRUPT
from signoff.engine.effects import Chunk
from signoff.errors import InvalidInput
from signoff.pregel.showing import Forms

Modes = StreamMode | Sequence[StreamMode]

_INSIDE = frozenset({"custom", "messages", "tools"})
"""The modes that show what happens inside of tasks while they run."""


@dataclass(slots=True)
class Reader:
    """One reader of a stream."""

    modes: frozenset[str]
    printed: frozenset[str]
    with_mode: bool
    """Whether each chunk says which mode it belongs to: several were asked for."""
    with_ns: bool
    """Whether chunks of nested graphs are wanted, and each says where it comes from."""
    version: str
    with_events: bool = False
    """Whether the messages of chat models come as LangChain's events, and not token by token."""

    @property
    def listens_to(self) -> frozenset[str]:
        return self.modes | self.printed

    @property
    def looks_inside(self) -> bool:
        """Whether chunks can come while a task runs."""
        return self.with_ns or bool(self.listens_to & _INSIDE)

    def shaped(self, chunk: Chunk, forms: Forms) -> list[Any]:
        """The chunk as the reader wants it: one item, or none. `forms` are those of the graph that it comes from."""
        ns, mode, payload = chunk
        if mode in self.printed:
            print(f"{'|'.join(ns)}[{mode}] {payload}" if ns else f"[{mode}] {payload}")
        if mode not in self.modes:
            return []
        if self.version == "v2":
            return [_part(ns, mode, payload, forms)]
        parts = [*([ns] if self.with_ns else []), *([mode] if self.with_mode else []), payload]
        return [parts[0] if len(parts) == 1 else tuple(parts)]


def reader_of(modes: Modes, printed: Modes, subgraphs: bool, version: str) -> Reader:
    """The reader that the arguments of a call describe."""
    check_version(version)
    return Reader(_checked(modes), _checked(printed), not isinstance(modes, str), subgraphs, version)


def check_version(version: str) -> None:
    """Refuse a form of results that does not exist."""
    if version not in ("v1", "v2"):
        raise InvalidInput(f'version must be "v1" or "v2", not {version!r}.')


def _checked(modes: Modes) -> frozenset[str]:
    asked = list(modes) if isinstance(modes, Iterable) and not isinstance(modes, str) else [modes]
    unknown = [mode for mode in asked if mode not in get_args(StreamMode)]
    if unknown:
        raise InvalidInput(
            f"There is no stream mode {min(unknown, key=str)!r}. There are: {', '.join(get_args(StreamMode))}."
        )
    return frozenset(asked)


def _part(ns: tuple[str, ...], mode: str, payload: Any, forms: Forms) -> dict[str, Any]:
    part = {"type": mode, "ns": ns, "data": payload}
    match mode:
        case "values":
            part["data"], part["interrupts"] = _without_questions(payload)
            part["data"] = forms.returned(part["data"])
        case "checkpoints":
            part["data"] = forms.checkpoint(payload)
        case "debug" if payload["type"] == "checkpoint":
            part["data"] = {**payload, "payload": forms.checkpoint(payload["payload"])}
    return part


def _without_questions(payload: Any) -> tuple[Any, tuple[Any, ...]]:
    if not isinstance(payload, dict) or INTERRUPT not in payload:
        return payload, ()
    return {key: value for key, value in payload.items() if key != INTERRUPT}, payload[INTERRUPT]
