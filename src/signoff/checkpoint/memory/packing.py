"""Packing: values that a program could change later are encoded; what it cannot change is kept as it is."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from signoff.checkpoint.base import Commit, PendingWrite
from signoff.checkpoint.encoding import decoded, encoded_values, encoded_writes
from signoff.constants import INTERRUPT, RESUME, TASKS
from signoff.types import Send

__all__ = [
    "PLAIN",
    "Packed",
    "is_plain",
    "packed_question",
    "packed_record",
    "packed_values",
    "refuse",
    "unpacked",
    "unpacked_all",
    "unpacked_writes",
]

PLAIN = frozenset({type(None), bool, int, float, str, bytes})
"""The types of values that nobody can change."""


class Packed(NamedTuple):
    """A value that was encoded."""

    tag: str
    data: Any


_SENDS = "sends"
"""The tag of Sends whose arguments are plain values: what is in them is kept."""


def is_plain(plain: frozenset[type], records: Sequence[Any], values: Mapping[str, Any]) -> bool:
    """Whether nothing of what tasks wrote, and of what it led to, has to be packed."""
    for value in values.values():
        if type(value) not in plain:
            return False
    for _, writes, _ in records:
        for _, value in writes:
            if type(value) not in plain:
                return False
    return True


def packed_record(serde: Any, plain: frozenset[type], record: Any) -> Any:
    """What a task wrote, (id, writes, path), with its values packed; itself, if all of them are plain."""
    task_id, writes, path = record
    for _, value in writes:
        if type(value) not in plain:
            return task_id, [(channel, _packed(serde, plain, channel, value)) for channel, value in writes], path
    return record


def packed_question(serde: Any, plain: frozenset[type], interrupt: Any) -> Any:
    """A question, packed."""
    return interrupt if plain and _is_settled((interrupt,)) else Packed(*serde.dumps_typed(interrupt))


def _packed_sends(plain: frozenset[type], sends: Sequence[Any]) -> Packed | None:
    """Sends, without what a program could change; None if there is something in them that has to be encoded."""
    for send in sends:
        if type(send.arg) not in plain:
            return None
    return Packed(_SENDS, [(send.node, send.arg, send.timeout) for send in sends])


def packed_values(serde: Any, plain: frozenset[type], values: dict[str, Any], written: Sequence[Any]) -> None:
    """Pack values where they are. What stands in a write as well is not encoded twice."""
    for name, value in values.items():
        if type(value) not in plain:
            known = next((blob for original, blob in written if original is value), None)
            if known is None and name == TASKS:
                known = _packed_sends(plain, value)
            values[name] = Packed(*serde.dumps_typed(value)) if known is None else known


def _packed(serde: Any, plain: frozenset[type], channel: str, value: Any) -> Any:
    if type(value) in plain:
        return value
    if channel == INTERRUPT and plain and _is_settled(value):
        return value
    if channel == RESUME and plain and all(type(answer["value"]) in plain for answer in value.values()):
        return value
    return Packed(*serde.dumps_typed(value))


def _is_settled(questions: Any) -> bool:
    """Whether questions have nothing in them that the program could change."""
    return all(type(question.value) in PLAIN and question.response_schema is None for question in questions)


def unpacked(serde: Any, value: Any) -> Any:
    """A value as it was."""
    if type(value) is not Packed:
        return value
    if value.tag == _SENDS:
        return [Send(node, arg, timeout=timeout) for node, arg, timeout in value.data]
    return decoded(serde, value)


def unpacked_all(serde: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they were."""
    return {name: unpacked(serde, value) if type(value) is Packed else value for name, value in values.items()}


def unpacked_writes(serde: Any, writes: Sequence[PendingWrite]) -> list[PendingWrite]:
    """What tasks wrote, as it was."""
    return [(write[0], write[1], unpacked(serde, write[2])) if type(write[2]) is Packed else write for write in writes]


def refuse(serde: Any, commit: Commit) -> None:
    """Raise the refusal of a value again, with its channel in the path."""
    for _, writes, _ in commit.writes:
        encoded_writes(serde, writes)
    if commit.checkpoint is not None:
        values = commit.checkpoint["channel_values"]
        encoded_values(serde, values, commit.changed if commit.is_exact else values)
