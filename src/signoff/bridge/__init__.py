"""The bridge to LangChain: crossed only when the user's program has loaded it, or asks for messages."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from signoff._ambient import KEPT_AS, KEPT_IN, OF_TASK

_TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")

# Every run looks, and mostly there is nothing, which `os.environ` finds out by an exception; its own dict does not.
_variables: Any = getattr(os.environ, "_data", os.environ)
_NAMES, _TRUE = (
    (_TRACING, "true")
    if _variables is os.environ
    else (tuple(map(os.environ.encodekey, _TRACING)), os.environ.encodevalue("true"))
)


def is_heard(config: Mapping[str, Any]) -> bool:
    """Whether LangChain's callbacks want to know of a run: the caller has some, or somebody asks for traces."""
    callbacks = config.get("callbacks")
    return "langchain_core" in sys.modules and (
        bool(getattr(callbacks, "handlers", callbacks)) or _TRUE in map(_variables.get, _NAMES) or _is_traced()
    )


def _is_traced() -> bool:
    """Whether LangSmith follows what is called from here: the program has told it to, or is in one of its traces."""
    context = sys.modules.get("langchain_core.tracers.context")
    if context is not None and context.tracing_v2_callback_var.get() is not None:
        return True
    helpers = sys.modules.get("langsmith.run_helpers")
    if helpers is None:
        return False
    told = helpers.get_tracing_context()
    if told["enabled"] is not None:
        return bool(told["enabled"])
    return told["parent"] is not None or bool(getattr(_everywhere(), "_GLOBAL_TRACING_ENABLED", None))


def _everywhere() -> Any:
    """What the program has told LangSmith for all of its threads."""
    return sys.modules.get("langsmith._internal._context")


def ambient_config() -> Any:
    """The config of the LangChain runnable that the call is made from; None outside of one."""
    variable = getattr(sys.modules.get(KEPT_IN), KEPT_AS, None)
    ambient = None if variable is None else variable.get()
    return None if ambient is OF_TASK else ambient
