"""Runs whose readers have neither gone on nor left when the process ends: they are ended while there are threads."""

import atexit
from collections.abc import Generator
from contextlib import suppress
from typing import Any

from signoff._forks import in_child

__all__ = ["OPEN"]

OPEN: dict[int, Generator[Any, None, Any]] = {}
"""What is read, the outer ones first."""

in_child(OPEN.clear)  # they are the parent's


@atexit.register
def _leave() -> None:
    for effects in list(OPEN.values()):
        with suppress(Exception):  # one that is being read just now, in a thread that ends with the process
            effects.close()
