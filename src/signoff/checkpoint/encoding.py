"""Values to blobs and back, with errors that name the channel."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgpack import Packer, unpackb

from signoff.checkpoint.records import WRITES_IDX_MAP
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.constants import INTERRUPT, RESUME
from signoff.errors import NotStorable, Undecodable

__all__ = [
    "Blob",
    "Encoded",
    "channel_in_words",
    "decoded",
    "encoded_all",
    "encoded_values",
    "encoded_writes",
    "packed",
    "packed_for_lua",
    "unpacked",
    "unpacked_from_lua",
    "with_name",
]

Blob = tuple[str, bytes]
"""A value as the serializer wrote it, its tag and its bytes: nothing that a program changes later changes it."""


class Encoded:
    """A serializer, and what it has made of values, by identity: nobody changes them meanwhile, or lets them go."""

    def __init__(self, serde: Any, so_far: dict[int, Blob]) -> None:
        self.serde = serde
        self._so_far = so_far

    def once(self, value: Any) -> Blob:
        """The blob of a value that stays as long as this."""
        at = id(value)
        if at not in self._so_far:
            self._so_far[at] = self.serde.dumps_typed(value)
        return self._so_far[at]

    def dumps_typed(self, value: Any) -> Blob:
        """The blob of whatever it is: if it does not stay, another one may have its identity."""
        return self._so_far.get(id(value)) or self.serde.dumps_typed(value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.serde, name)


_BUFFER = 4096
"""What a packer begins with: msgpack's own beginning is a megabyte. One that grew is not used again."""

_idle: list[Packer] = []
"""Packers that nobody uses just now: two threads cannot share one."""


def encoded_values(serde: Any, values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Blob]:
    """The values of those of the channels that hold one, as blobs."""
    encode = serde.dumps_typed
    try:
        return {name: encode(values[name]) for name in names if name in values}
    except NotStorable as error:
        raise with_name(serde, values.items()) or error from error


def encoded_all(serde: Any, items: Sequence[Any]) -> list[Blob]:
    """Many values as blobs, each by itself."""
    if type(serde) is Encoded:
        serde = serde.serde
    if len(items) > 1 and type(serde) is JsonPlusSerializer:
        return serde.dumps_all(items)
    return [serde.dumps_typed(item) for item in items]


def encoded_writes(serde: Any, writes: Sequence[tuple[str, Any]]) -> list[tuple[int, str, Blob]]:
    """The index, the channel and the blob of everything that a task wrote."""
    encode, fixed = serde.dumps_typed, WRITES_IDX_MAP
    try:
        return [(fixed.get(name, at), name, encode(value)) for at, (name, value) in enumerate(writes)]
    except NotStorable as error:
        raise with_name(serde, writes) or error from error


def decoded(serde: Any, blob: Blob) -> Any:
    """The value of a blob; any failure means that it is broken, whatever the serializer says."""
    try:
        return serde.loads_typed(blob)
    except Undecodable:
        raise
    except Exception as error:
        raise Undecodable(
            f"A stored value with the tag {blob[0]!r} cannot be read ({type(error).__name__}: {error}): it is "
            "broken, or was stored with another serializer."
        ) from error


def channel_in_words(name: str) -> str:
    """What a channel is called where a value of it is refused."""
    return "a question" if name == INTERRUPT else "an answer" if name == RESUME else f"key {name!r}"


def packed(plain: Any) -> bytes:
    """Plain data of our own, tuples included, as bytes."""
    try:
        packer = _idle.pop()
    except IndexError:
        packer = Packer(unicode_errors="surrogatepass", buf_size=_BUFFER)
    data: bytes = packer.pack(plain)
    if len(data) < _BUFFER:
        _idle.append(packer)
    return data


def unpacked(data: Any) -> Any:
    """What was packed, lists as tuples. Any error means that it is broken."""
    return unpackb(data, use_list=False, strict_map_key=False, unicode_errors="surrogatepass")


def packed_for_lua(plain: Any) -> bytes:
    """Plain data as the scripts of Redis read it: texts and bytes are the same there."""
    data: bytes = Packer(unicode_errors="surrogatepass", use_bin_type=False, buf_size=_BUFFER).pack(plain)
    return data


def unpacked_from_lua(data: Any) -> Any:
    """What a script, or `packed_for_lua`, has packed: texts as bytes."""
    return unpackb(data, raw=True, strict_map_key=False)


def with_name(serde: Any, values: Iterable[tuple[str, Any]]) -> NotStorable | None:
    """The refusal of the first value that is refused, with its channel in the path."""
    for name, value in values:
        try:
            serde.dumps_typed({name: value})
        except NotStorable as error:
            return error
    return None
