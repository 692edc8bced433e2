"""Writes whose answers are lost on the way, while somebody else writes the same."""

from typing import Any

from signoff.store.base import PutOp

__all__ = ["LATER", "NS", "WRITES", "check_not_done_again"]

NS = ("n",)
WRITES = {
    "put": [PutOp(NS, "seat", {"of": "ben"})],
    "delete": [PutOp(NS, "seat", None)],
    "batch": [PutOp(NS, "seat", {"of": "ben"}), PutOp(NS, "other", None)],
}
LATER = {"put": {"of": "eve"}, "deleted": None}
"""What somebody else does, after the write and before it is sent again."""


def check_not_done_again(relay: Any, store: Any, other: Any, ops: list[PutOp], later: Any) -> None:
    """What the other store wrote since stays."""
    store.put(NS, "seat", {"of": "ana"})
    relay.lose_answer_to(b"seat", meanwhile=lambda: other.batch([PutOp(NS, "seat", later)]))
    store.batch(ops)
    assert relay.has_lost
    assert [item.value for item in store.search(NS)] == ([later] if later else [])
