"""Ids and paths, shorter: most are written again and again, in rows and in their keys, and most are of a known shape.

    1f1e0ca5~ and 16 characters    a UUID: its first 8 digits, then the other 96 bits
    ~: and 8 characters            a task whose id begins like that of its checkpoint: the other 48 bits
    ~: and a name                  the path of a node

    1f, a byte of 255 and 15 more  the first, where a database has ids as bytes

Anything else stands for itself; where it could be taken for one of these, it has a second ~. Ids keep their order, but
for a UUID and a text of another kind that begin with the same 8 characters; as bytes, with the same 2.
"""

from binascii import a2b_base64, b2a_base64
from functools import lru_cache

from signoff.constants import PULL
from signoff.errors import Undecodable

__all__ = ["id_of_bytes", "id_to_bytes", "long_id", "long_path", "long_task", "short_id", "short_path", "short_task"]

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SORTED = bytes(sorted(_BASE64.replace(b"+", b"-").replace(b"/", b"_")))
"""The 64 digits in the order of their bytes."""

_TO_SORTED, _TO_BASE64 = bytes.maketrans(_BASE64, _SORTED), bytes.maketrans(_SORTED, _BASE64)

_HEX = frozenset("0123456789abcdef")

_NODE = f"{PULL}~"

_IN_BYTES = b"\xff"
"""What no text has in it, as bytes."""


_MOST = 4096
_short: dict[str, str] = {}
_long: dict[str, str] = {}
"""Ids that were shortened, and what they were: a process mostly reads what it has stored itself."""


def short_id(id: str) -> str:
    """An id, as it is stored."""
    short = _short.get(id)
    if short is None:
        if len(_short) >= _MOST:
            _short.clear()
            _long.clear()
        short = _short[id] = _shortened(id)
        _long[short] = id
    return short


def long_id(short: str) -> str:
    """An id that was stored."""
    id = _long.get(short)
    if id is None:
        if len(_long) >= 2 * _MOST:
            _long.clear()
        id = _long[short] = _lengthened(short)
    return id


def _shortened(id: str) -> str:
    if len(id) == 36 and id[8:24:5] == "----":
        digits = id[9:].replace("-", "")
        try:
            rest = bytes.fromhex(digits)
        except ValueError:
            return id  # some of them are none
        if len(rest) == 12 and rest.hex() == digits:
            return f"{id[:8]}~{b2a_base64(rest, newline=False).translate(_TO_SORTED).decode()}"
    return f"{id[:8]}~{id[8:]}" if id[8:9] == "~" else id


def _lengthened(short: str) -> str:
    if short[8:9] != "~":
        return short
    if short[9:10] == "~":
        return f"{short[:8]}{short[9:]}"
    try:
        digits = a2b_base64(short[9:].encode().translate(_TO_BASE64), strict_mode=True).hex()
    except ValueError:
        digits = ""
    if len(digits) != 24:
        raise Undecodable(f"The stored id {short!r} is broken or was changed.")
    return f"{short[:8]}-{digits[:4]}-{digits[4:8]}-{digits[8:12]}-{digits[12:]}"


def id_to_bytes(short: str) -> bytes:
    """A short id as bytes."""
    if len(short) == 25 and short[8] == "~" != short[9] and (first := _first_bytes(short[:8])):
        return first + a2b_base64(short[9:].encode().translate(_TO_BASE64))
    return short.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=256)
def _first_bytes(digits: str) -> bytes:
    """The first 8 digits of a UUID as bytes, if they are digits: of one that tells the time, the same for a while."""
    return digits[:2].encode() + _IN_BYTES + bytes.fromhex(digits[2:]) if _HEX.issuperset(digits) else b""


@lru_cache(maxsize=4096)
def id_of_bytes(data: bytes) -> str:
    """A short id that was bytes."""
    try:
        if len(data) == 18 and data[2:3] == _IN_BYTES:
            rest = b2a_base64(data[6:], newline=False).translate(_TO_SORTED)
            return f"{data[:2].decode()}{data[3:6].hex()}~{rest.decode()}"
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise Undecodable(f"The stored id {data!r} is broken or was changed.") from None


def short_task(task_id: str, checkpoint_id: str) -> str:
    """The id of a task, as it is stored with a checkpoint."""
    if len(task_id) == 36 and task_id[:24] == checkpoint_id[:24]:
        return f"~:{_short_digits(task_id[24:])}"
    return _marked(short_id(task_id))


def long_task(short: str, checkpoint_id: str) -> str:
    """The id of a task that was stored."""
    return f"{checkpoint_id[:24]}{_long_digits(short[2:])}" if short.startswith("~:") else long_id(_plain(short))


@lru_cache(maxsize=4096)
def _short_digits(digits: str) -> str:
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        return digits
    return b2a_base64(data, newline=False).decode() if data.hex() == digits else digits


def _long_digits(short: str) -> str:
    return a2b_base64(short, strict_mode=True).hex() if len(short) == 8 else short


@lru_cache(maxsize=4096)
def short_path(path: str) -> str:
    """The path of a task, as it is stored."""
    return f"~:{path[len(_NODE) :]}" if path.startswith(_NODE) else _marked(path)


def long_path(short: str) -> str:
    """The path of a task that was stored."""
    return f"{_NODE}{short[2:]}" if short.startswith("~:") else _plain(short)


def _marked(text: str) -> str:
    return f"~{text}" if text.startswith("~") else text


def _plain(text: str) -> str:
    return text[1:] if text.startswith("~~") else text
