"""What LangChain's runnables find that are called without a config: that of the task which calls them.

LangChain keeps it in a context variable of its own, which is there once the program has loaded it.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from signoff import _scope

KEPT_IN, KEPT_AS = "langchain_core.runnables.config", "var_child_runnable_config"
"""The variable. Another thread may be loading the module right now: it may be there without the variable."""


class _OfTask(Mapping[str, Any]):
    """The config of the task that is running here, made when somebody looks; empty outside of any."""

    __slots__ = ()

    def _found(self) -> Mapping[str, Any]:
        scope = _scope.running.get()
        return {} if scope is None else scope.config

    def __getitem__(self, name: str) -> Any:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


OF_TASK = _OfTask()


def unheard(is_async: bool) -> Any:
    """Callbacks that reach nobody, as of a run: events can be dispatched to them. None without LangChain."""
    module = sys.modules.get("langchain_core.callbacks.manager")
    if module is None:
        return None
    kind = module.AsyncCallbackManager if is_async else module.CallbackManager
    return kind([], parent_run_id=uuid4())
