"""The functional way: a plain function is the program, and what must not be repeated in it are tasks."""

from signoff.func.entry import entrypoint
from signoff.func.tasks import task
from signoff.pregel.lowlevel import Pregel

__all__ = ["Pregel", "entrypoint", "task"]
