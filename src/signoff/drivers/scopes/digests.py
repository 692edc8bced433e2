"""Digests: short texts that stand for what a program asks, what it calls with, and where."""

import zlib
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from signoff._reprs import repr_of
from signoff.constants import ATOMS
from signoff.engine.origin import Site
from signoff.errors import NotStorable


def digest(value: Any) -> str:
    """Sixteen hex digits that stand for a value; for one that cannot be stored, for how it shows itself."""
    return stored_digest(value) or _digest(b"repr", repr_of(value).encode("utf-8", "surrogatepass"))


def digest_of_arguments(input: Any) -> str:
    """The same for the arguments of a call; a few that are plain stand for themselves.

    Empty if they cannot be stored: what shows an address is another text in each process.
    """
    if type(input) is not tuple:
        return stored_digest(input)
    given, named = input
    return (_shown(given) if not named else "") or stored_digest([*given, named])


def _shown(given: tuple[Any, ...]) -> str:
    """The text of a few arguments that are plain; empty if they are not, or if it is a long one."""
    for one in given:
        if type(one) not in ATOMS:
            return ""
    try:
        text = repr(given)
    except ValueError:  # a number of thousands of digits
        return ""
    return text if len(text) <= _MOST_SHOWN else ""


_MOST_SHOWN = 100


def digest_of_site(site: Site) -> str:
    """Some hex digits that stand for the way through the user's code; empty if there was none."""
    if len(site) == 1:
        _, code, offset = site[0]
        return _place(code, offset)
    return f"{zlib.crc32(repr(site).encode()):08x}" if site else ""


@lru_cache(maxsize=1000)
def _place(code: str, offset: int) -> str:
    return f"{code}{offset:x}"


def stored_digest(value: Any) -> str:
    """Sixteen hex digits that stand for a value; empty if it cannot be stored."""
    try:
        tag, data = _serializer().dumps_typed(value)
    except NotStorable:
        return ""
    return _digest(tag.encode(), data)


def _digest(tag: bytes, data: bytes) -> str:
    return blake2b(tag + b"\0" + data, digest_size=8).hexdigest()


@lru_cache(maxsize=1)
def _serializer() -> Any:
    from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer

    return JsonPlusSerializer()
