"""What procedures ask of Redis.

A connection may die after a command was done and before that is heard, and the command is then sent again. So
each script must be such that running it twice is the same as running it once. One that is not by its nature (it
counts, or takes something) is given a token made by the caller, keeps it with what it did, and does nothing but
answer if it finds its own token there.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha1
from typing import Any, NamedTuple

from signoff.steps import Steps

__all__ = ["Ask", "AskAll", "Part", "Run", "Script", "asked"]

Part = str | bytes | int | float
"""What keys, arguments and commands are made of."""

_CHANGING = {
    "DEL", "HDEL", "HINCRBY", "HSET", "HSETNX", "INCR", "RPUSH", "SADD", "SET", "SREM", "UNLINK", "ZADD", "ZREM",
}  # fmt: skip


class Script:
    """A Lua script: one transaction. It changes nothing before everything that could fail was looked at.

    Redis takes nothing back if a later command is refused. So one that changes things in several ways is run only where
    all of its commands are allowed.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def digest(self) -> str:
        """The name that the server knows it by."""
        return sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    @cached_property
    def commands(self) -> list[str]:
        """What it asks of the server."""
        return sorted(set(re.findall(r"\bcall\('([A-Z]+)'", self.source)))

    @cached_property
    def could_be_cut_off(self) -> bool:
        """Whether it may have changed something when a command is refused."""
        return len(_CHANGING.intersection(self.commands)) > 1


class Run(NamedTuple):
    """Run a script; its result is the script's, texts as bytes."""

    script: Script
    keys: Sequence[Part] = ()
    args: Sequence[Part] = ()


class Ask(NamedTuple):
    """Give one command; its result is Redis's, texts as bytes."""

    command: Sequence[Part]


class AskAll(NamedTuple):
    """Give many commands that change nothing, in one trip; their results in a list."""

    commands: Sequence[Sequence[Part]]


_AT_ONCE = 100
"""How many commands go into one trip: others wait for the server as long as it answers them."""


def asked(commands: Sequence[Sequence[Part]]) -> Steps[list[Any]]:
    """The results of commands that change nothing, in as few trips as may be."""
    found: list[Any] = []
    for first in range(0, len(commands), _AT_ONCE):
        found += yield AskAll(commands[first : first + _AT_ONCE])
    return found
