"""What is told at a limit: how often something was called, and how often it may be."""

from signoff.errors import SignoffError

__all__ = ["LimitExceeded"]


class LimitExceeded(SignoffError):
    """Something was called as often as it may be, in the thread or in the run."""

    def __init__(
        self,
        told: str,
        *,
        thread_count: int = 0,
        run_count: int = 0,
        thread_limit: int | None = None,
        run_limit: int | None = None,
    ) -> None:
        super().__init__(told)
        self.thread_count = thread_count
        self.run_count = run_count
        self.thread_limit = thread_limit
        self.run_limit = run_limit
