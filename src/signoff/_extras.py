"""Optional packages: where one is missing, the error says which extra brings it."""

from collections.abc import Iterator
from contextlib import contextmanager

from signoff.errors import MissingExtra


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Around the import of what an extra brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("signoff"):
            raise
        raise MissingExtra(
            f'{what} needs the package {error.name}, which is not installed: pip install "signoff[{extra}]"'
        ) from error
