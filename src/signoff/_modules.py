"""Modules, by the names under which others import them."""

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["imported", "module_of", "real_name"]

_STARTED = ("__main__", "__mp_main__")
"""What the program that was started is called in its own process, and in those that multiprocessing starts for it."""


def module_of(defined: Any) -> str:
    """The module that a class or a function was defined in; empty if it does not say."""
    return real_name(getattr(defined, "__module__", ""))


def real_name(name: str) -> str:
    """What a module is called elsewhere: the program that was started has the name of its file there."""
    if name not in _STARTED:
        return name
    module = sys.modules.get(name)
    spec, file = getattr(module, "__spec__", None), getattr(module, "__file__", None)
    if spec is not None:  # python -m name
        return str(spec.name)
    return os.path.splitext(os.path.basename(file))[0] if file else name


def imported(name: str) -> ModuleType:
    """A module by its name; the program that was started is not run again for that."""
    return sys.modules["__main__"] if name == real_name("__main__") else import_module(name)
