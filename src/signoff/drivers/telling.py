"""Futures that tell of every failure."""

from concurrent.futures import Future
from typing import Any

__all__ = ["TellingFuture"]


class TellingFuture(Future[Any]):
    """A future whose failure is raised also if it is an exception that is false, as one that holds no items is.

    Most Pythons take that for none, and return None.
    """

    def result(self, timeout: float | None = None) -> Any:
        error = Future.exception(self, timeout)
        try:
            if error is not None:
                raise error
            return self._result
        finally:
            del self, error  # an error that its own traceback leads to is not freed at once
