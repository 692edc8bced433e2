"""A value that lives for one step."""

from signoff.channels.base import Guarded

__all__ = ["EphemeralValue"]


class EphemeralValue(Guarded):
    """Kept for the step after the one that wrote it, then forgotten."""

    __slots__ = ()

    is_fleeting = True
