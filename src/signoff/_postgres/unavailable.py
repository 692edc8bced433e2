"""What is said when a database server cannot be reached."""

from signoff.errors import SignoffError

__all__ = ["OutcomeUnknown", "SaverUnavailable"]


class SaverUnavailable(SignoffError, ConnectionError):
    """The database did not answer; nothing of what was asked for was done. It may be asked again."""


class OutcomeUnknown(SaverUnavailable):
    """The database went away at the very moment of a commit: either all of it was done or nothing. Look first."""
