"""Values as JSON has them, for `--json` and for people."""

import dataclasses
import json
import math
import re
from collections.abc import Mapping, Set
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from signoff._reprs import is_unshown, repr_of, text_of
from signoff._words.questions import Interrupt
from signoff.checkpoint.questions import Question
from signoff.engine.answers import SHOWN_OF_ID


def plain(value: Any) -> Any:
    """A value as JSON has it; what JSON does not know as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    if isinstance(value, int) and is_unshown(value):
        return repr_of(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {text_of(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | Set):
        return [plain(part) for part in value]
    if isinstance(value, Interrupt):
        return question_fields(value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID | PurePath):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    return plain(dump()) if callable(dump) else repr_of(value)


def question_fields(question: Interrupt[Any] | Question) -> dict[str, Any]:
    """A question as `--json` shows it."""
    asked = question if isinstance(question, Interrupt) else question.interrupt
    fields = {"id": asked.id, "value": plain(asked.value)}
    if isinstance(question, Question):
        fields |= {
            "thread": question.thread_id,
            "graph": question.graph,
            "node": question.node,
            "path": question.path,
            "asked_at": question.asked_at,
        }
    if asked.key is not None:
        fields["key"] = asked.key
    if asked.response_schema is not None:
        fields["response_schema"] = asked.response_schema
    return fields


def as_json(value: Any, indent: int | None = None) -> str:
    """A value as JSON text."""
    return printable(json.dumps(plain(value), ensure_ascii=False, indent=indent))


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that a terminal obeys instead of showing them, or that hide or turn around what stands beside them.

Blanks of other scripts are among them, and marks that say how the character before them looks. The joiners are not,
which words and emoji are written with.
"""

_EMOJI = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\ufe0e\ufe0f]"
    "|[#*0-9][\ufe0e\ufe0f]\u20e3"
)
"""A sign with the mark that makes it an emoji, or none: they stay as people write them."""


def printable(text: str) -> str:
    """A text as a person may be shown it, whoever wrote it: what cannot be seen stands there as JSON writes it."""
    return _UNSEEN.sub(_written, text.replace("\r\n", "\n"))


def characters(text: str) -> list[str]:
    """The characters of a text, each as a person may be shown it."""
    shown = [*text]
    for unseen in _UNSEEN.finditer(text):
        shown[unseen.start()] = _written(unseen)
    return shown


def _written(unseen: re.Match[str]) -> str:
    if _EMOJI.match(unseen.string, max(0, unseen.start() - 1)):
        return unseen[0]
    return json.dumps(unseen[0])[1:-1]


def short_id(id: str | None) -> str:
    """As much of an id as people need to name it by."""
    return (id or "")[:SHOWN_OF_ID]


def short(value: Any, width: int = 60) -> str:
    """The beginning of a value, on one line."""
    text = value if isinstance(value, str) else as_json(value)
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 3]}..."


def brief(value: Any, width: int = 60) -> str:
    """A value on one line; of messages, what the last one says."""
    if isinstance(value, list) and value and _is_message(value[-1]):
        count = f"{len(value)} messages, the last: " if len(value) > 1 else ""
        return f"{count}{brief(value[-1], width)}"
    return short(value.content if _is_message(value) else value, width)


def _is_message(value: Any) -> bool:
    return hasattr(value, "content") and hasattr(value, "response_metadata")


def ago(moment: str, now: datetime) -> str:
    """How long ago something was, as people say it."""
    seconds = max(0, int((now - datetime.fromisoformat(moment)).total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
