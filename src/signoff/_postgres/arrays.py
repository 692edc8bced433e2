"""Lists as Postgres writes them, in one text: the driver looks at every item on its own, which takes many times longer.

The statement says what they are: `%s::bytea[]`.
"""

from binascii import hexlify
from collections.abc import Iterable, Sequence

__all__ = ["array", "of_bytes", "of_numbers", "of_texts", "quoted"]

MUCH = 1 << 16
"""So many bytes are left to the driver: written as text they would be twice as many."""


def of_numbers(numbers: Sequence[int | None]) -> str:
    """An array of numbers."""
    return f"{{{str([*numbers])[1:-1]}}}".replace("None", "NULL")


def of_texts(texts: Sequence[str | None]) -> str:
    """An array of texts."""
    return array(["NULL" if text is None else quoted(text) for text in texts])


def of_bytes(items: Sequence[bytes | None]) -> str | list[bytes | None]:
    """An array of bytes."""
    present = [item for item in items if item is not None]
    if sum(map(len, present)) > MUCH:
        return list(items)
    if len(present) < len(items) or not items:
        return array(["NULL" if item is None else f"\\\\x{item.hex()}" for item in items])
    digits = b",\\\\x".join(map(hexlify, present)).decode()  # the same, without a look at each
    return f"{{\\\\x{digits}}}"


def array(items: Iterable[str]) -> str:
    """An array of what is written already."""
    return f"{{{','.join(items)}}}"


def quoted(text: str) -> str:
    """A text as it stands in an array."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
