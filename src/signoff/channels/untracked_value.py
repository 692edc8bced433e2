"""A value that is never saved."""

from signoff.channels.base import Guarded

__all__ = ["UntrackedValue"]


class UntrackedValue(Guarded):
    """Kept while the run goes on, left out of every checkpoint: connections, clients, open files."""

    __slots__ = ()

    is_saved = False
