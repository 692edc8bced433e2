"""Lists as Postgres writes them, in one text: the driver looks at every item on its own, which takes many times longer.

The statement says what they are: `%s::bytea[]`.
"""

from binascii import hexlify
from collections.abc import Iterable, Sequence

__all__ = ["of_bytes", "of_numbers", "of_texts"]

MUCH = 1 << 16
"""So many bytes are left to the driver: written as text they would be twice as many."""


def of_numbers(numbers: Sequence[int | None]) -> str:
    """An array of numbers."""
    return _array(map(str, numbers)).replace("None", "NULL")


def of_texts(texts: Sequence[str | None]) -> str:
    """An array of texts."""
    return _array(["NULL" if text is None else _quoted(text) for text in texts])


def of_bytes(items: Sequence[bytes | None]) -> str | list[bytes | None]:
    """An array of bytes."""
    present = [item for item in items if item is not None]
    if sum(map(len, present)) > MUCH:
        return list(items)
    if len(present) < len(items) or not items:
        return _array(["NULL" if item is None else f"\\\\x{item.hex()}" for item in items])
    digits = b",\\\\x".join(map(hexlify, present)).decode()  # the same, without a look at each
    return f"{{\\\\x{digits}}}"


def _array(items: Iterable[str]) -> str:
    return f"{{{','.join(items)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
