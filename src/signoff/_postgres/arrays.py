"""Lists as Postgres writes them, in one text: the driver looks at every item on its own, which takes many times longer.

The statement says what they are: `%s::bytea[]`.
"""

from collections.abc import Sequence

__all__ = ["of_bytes", "of_numbers", "of_texts"]

MUCH = 1 << 16
"""So many bytes are left to the driver: written as text they would be twice as many."""


def of_numbers(numbers: Sequence[int | None]) -> str:
    """An array of numbers."""
    return _array(["NULL" if number is None else str(number) for number in numbers]) if numbers else "{}"


def of_texts(texts: Sequence[str | None]) -> str:
    """An array of texts."""
    return _array(["NULL" if text is None else _quoted(text) for text in texts]) if texts else "{}"


def of_bytes(items: Sequence[bytes | None]) -> str | list[bytes | None]:
    """An array of bytes."""
    if not items:
        return "{}"
    if sum([len(item) for item in items if item]) > MUCH:
        return list(items)
    return _array(["NULL" if item is None else f'"\\\\x{item.hex()}"' for item in items])


def _array(items: list[str]) -> str:
    return f"{{{','.join(items)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
