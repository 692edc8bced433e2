"""Crashes: whatever a process was doing when it died, the next one goes on from there."""

from typing import Any, TypedDict

from signoff.testing._caller import THREAD_NAME
from signoff.testing._process import did
from signoff.testing.acts import Input
from signoff.testing.conformance._saver_words import real
from signoff.testing.stores import shared
from signoff.testing.world import World

_OVER_AT_ONCE = -5.0
"""The lease of a process that nobody has to wait for when it is gone, whatever clock its saver goes by."""


class _Order(TypedDict):
    amount: int
    is_paid: bool


def _review(order: _Order) -> Any:
    from signoff._words.questions import interrupt

    return {"is_paid": interrupt(f"Pay {order['amount']}?", key="pay")}


def _pay(order: _Order) -> Any:
    did("transfer")
    return {}


def _build(saver: Any) -> Any:
    from signoff.graph import START, StateGraph

    graph = StateGraph(_Order).add_node("review", _review).add_node("pay", _pay)
    return graph.add_edge(START, "review").add_edge("review", "pay").compile(saver)


def a_run_survives_a_crash_between_any_two_calls_of_the_saver(open_saver: Any) -> None:
    saver = real(open_saver())

    def emptied() -> Any:
        saver.delete_thread(THREAD_NAME)
        return saver

    settings: dict[str, Any] = {
        "answers": {"pay": True},
        "store": shared(emptied),
        "lease_s": _OVER_AT_ONCE,
        "rebuilds": False,
    }
    world = World(_build, [Input({"amount": 30})], **settings)
    assert world.run().values == {"amount": 30, "is_paid": True}
    assert world.crash_everywhere(every=4).crashes > 5
