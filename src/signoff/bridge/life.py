"""Signs of life: whatever LangChain's callbacks hear from inside of a task keeps its idle timeout away."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope


@contextmanager
def heard(scope: "Scope", beat: Callable[[], None]) -> Iterator[None]:
    """While this lasts, models, tools and runnables that the task calls give signs of life for it."""
    if "langchain_core" not in sys.modules:
        yield
        return
    from signoff.bridge.watch import as_ambient

    before = scope.callbacks
    scope.tell_to(_joined(before, _handler_class()(beat)))
    try:
        with as_ambient(scope):
            yield
    finally:
        scope.tell_to(before)


def _joined(callbacks: Any, handler: Any) -> Any:
    """Callbacks, and one handler more."""
    from langchain_core.callbacks import AsyncCallbackManager

    both = AsyncCallbackManager([], parent_run_id=uuid4()) if callbacks is None else callbacks.copy()
    both.add_handler(handler, inherit=True)
    return both


@cache
def _handler_class() -> Any:
    from langchain_core.callbacks import BaseCallbackHandler

    def alive(self: Any, *_: Any, **__: Any) -> None:
        self.beat()

    events = {name: alive for name in dir(BaseCallbackHandler) if name.startswith("on_")}
    return type("LifeHandler", (BaseCallbackHandler,), {**events, "run_inline": True, "__init__": _take_beat})


def _take_beat(self: Any, beat: Callable[[], None]) -> None:
    self.beat = beat
