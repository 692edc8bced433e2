"""The bridge to LangChain: crossed only when the user's program has loaded it, or asks for messages."""

import sys
from typing import Any


def is_loaded() -> bool:
    """Whether the program uses LangChain."""
    return "langchain_core" in sys.modules


def ambient_config() -> Any:
    """The config of the LangChain runnable that the call is made from; None outside of one."""
    module = sys.modules.get("langchain_core.runnables.config")
    return module.var_child_runnable_config.get() if module is not None else None
