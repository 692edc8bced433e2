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
    module = sys.modules.get(name) if name in _STARTED else None
    file = getattr(module, "__file__", None)
    if file is None:  # one of its own name; or a program that is typed in
        return name
    spec = getattr(module, "__spec__", None)
    if spec is None or spec.name in _STARTED:
        return _stem(file)
    program, *_ = (*sys.argv, "")
    runs_another = program.endswith(".py") and _stem(program) != _stem(file)  # a profiler, say
    return _stem(program) if runs_another else str(spec.name)


def _stem(file: str) -> str:
    return os.path.splitext(os.path.basename(file))[0]


def imported(name: str) -> ModuleType:
    """A module by its name; the program that was started is not run again for that."""
    return sys.modules["__main__"] if name == real_name("__main__") else import_module(name)
