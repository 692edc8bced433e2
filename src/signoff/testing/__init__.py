"""For those who test what they build with signoff, or build parts of it themselves."""

from signoff.testing._process import Crash, did
from signoff.testing._witness import Violation
from signoff.testing.acts import GoOn, Input, Update
from signoff.testing.stores import memory, postgres, redis, shared, sqlite
from signoff.testing.world import Report, World

__all__ = ["Crash", "GoOn", "Input", "Report", "Update", "Violation", "World", "did", "memory", "postgres", "redis",
           "shared", "sqlite"]  # fmt: skip
