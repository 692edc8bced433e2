"""Texts that do not come back as they were."""

import re

__all__ = ["has_parted_character"]

_PARTED = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def has_parted_character(text: str) -> bool:
    """Whether the two halves of a character stand side by side: spelt out in JSON, they are read as the character."""
    return not text.isascii() and _PARTED.search(text) is not None
