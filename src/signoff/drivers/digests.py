"""Digests: short texts that stand for what a program asks, what it calls with, and where."""

import zlib
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from signoff.engine.origin import Site
from signoff.errors import NotStorable


def digest(value: Any) -> str:
    """Sixteen hex digits that stand for a value; for one that cannot be stored, for how it shows itself."""
    return _stored(value) or _digest(b"repr", repr(value).encode("utf-8", "surrogatepass"))


def digest_of_arguments(arguments: Any) -> str:
    """The same for the arguments of a call; empty if they cannot be stored: an address is another one each time."""
    return _stored(arguments)


def digest_of_site(site: Site) -> str:
    """Eight hex digits that stand for the way through the user's code; empty if there was none."""
    return f"{zlib.crc32(repr(site).encode()):08x}" if site else ""


def _stored(value: Any) -> str:
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
