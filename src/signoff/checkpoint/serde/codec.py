"""Values to bytes and back: C msgpack for what is plain, one Python call for each value that is not.

Typed values nest by packing inside packing. Every level has its own packers and its own loader, made once, so
that the depth is counted without counting: the level below the last one refuses (`levels.py`).
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, groupby, pairwise
from typing import Any

from signoff.checkpoint.serde import builtin, tables, wire
from signoff.checkpoint.serde.blocks import messages_in
from signoff.checkpoint.serde.care import NeedsCare, looking_at_keys, with_each_key
from signoff.checkpoint.serde.explain import explain, refuse_class
from signoff.checkpoint.serde.levels import PLAIN, careful_packer, loader, quick_packers
from signoff.checkpoint.serde.lists import Form, form_of
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.registry import REGISTRY, Registry, has_lost_its_name
from signoff.checkpoint.serde.wire import Encode
from signoff.errors import NotStorable, Undecodable

__all__ = ["Codec", "MAX_BYTES", "default_codec", "dumps", "loads"]

MAX_BYTES = 1 << 29
"""The longest value, 512 MB: what the smallest of the databases takes."""


class Codec:
    """Values to bytes and back, with the classes of one registry."""

    def __init__(self, registry: Registry = REGISTRY, *, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self._encoders = _Encoders(registry)
        self._pack, self._pack_all = quick_packers(self._encoders)
        self._pack_with_care = careful_packer(self._encoders)
        self._decoders = tables.decoders_for(registry)
        self._load = loader(self._decoders)
        registry.watch(self)

    def dumps(self, obj: Any, path: str = "values") -> bytes:
        """The bytes of a value that will come back equal, or `NotStorable` with the path of the culprit."""
        try:
            packed = self._pack(obj)
        except Exception:
            packed = self._dumps_with_care(obj, path)
        if len(packed) < self.max_bytes:
            return wire.FORMAT + packed
        raise NotStorable(
            f"Cannot store checkpoint {path}: it takes {len(packed)} bytes, and {self.max_bytes} is the limit."
        )

    def dumps_all(self, items: Sequence[Any]) -> list[bytes]:
        """The bytes of many values, each by itself; much quicker than value by value."""
        try:
            packed = self._pack_all(items)
        except Exception:
            return [self.dumps(item) for item in items]
        if max(map(len, packed), default=0) < self.max_bytes:
            return [wire.FORMAT + data for data in packed]
        return [self.dumps(item) for item in items]

    def _dumps_with_care(self, obj: Any, path: str) -> bytes:
        try:
            return self._pack_with_care(obj)
        except Exception as error:
            raise explain(obj, path, self._pack_with_care, self._encoders.knows, error) from error

    def loads(self, data: bytes) -> Any:
        """The value of the bytes, or `Undecodable`."""
        try:
            if len(data) > self.max_bytes or data[:1] != wire.FORMAT:
                raise self._refusal(data)
            try:
                return self._load(data[1:])
            except NeedsCare:
                return self._load_with_care(data[1:])
        except Undecodable:
            raise
        except Exception as error:
            what = f"{type(error).__name__}: {error}"[:300]
            raise Undecodable(
                f"Stored bytes cannot be read ({what}): they are broken or were changed, or a class in them was."
            ) from error

    def _load_with_care(self, data: bytes) -> Any:
        with looking_at_keys():
            return loader(self._decoders, with_each_key)(data)

    def loads_all(self, many: Sequence[bytes]) -> list[Any]:
        """The values of many bytes that this process has written; much quicker than value by value."""
        try:
            items: list[Any] = self._load(wire.list_head(len(many)) + b"".join([data[1:] for data in many]))
        except NeedsCare:
            return [self.loads(data) for data in many]
        return items

    def loads_lists(self, many: Sequence[bytes]) -> list[list[Any]]:
        """The lists of many bytes; short ones are loaded together, so that it takes few calls for all their items.

        Any error means that they are to be loaded item by item.
        """
        found: list[list[Any]] = []
        for form, group in groupby(many, form_of):
            if form is Form.SHORT:
                found += self._load_short(list(group))
            elif form is Form.LONG:
                found += self._load_long(group)
            else:
                found += self._load_blocks(group)
        return found

    def _load_blocks(self, many: Iterable[bytes]) -> list[list[Any]]:
        return messages_in([self._load(wire.payload_of(wire.MESSAGES, memoryview(data))) for data in many])

    def _load_long(self, many: Iterable[bytes]) -> list[list[Any]]:
        return [expect(self._load(memoryview(data)[1:]), list) for data in many]

    def _load_short(self, many: Sequence[bytes]) -> list[list[Any]]:
        ends = [*accumulate([data[1] & 0x0F for data in many], initial=0)]
        items = self._load(wire.list_head(ends[-1]) + b"".join([data[2:] for data in many]))
        return [items[first:end] for first, end in pairwise(ends)]

    def _refusal(self, data: bytes) -> Undecodable:
        if len(data) > self.max_bytes:
            return Undecodable(f"Stored bytes are too long: {len(data)}, and {self.max_bytes} is the limit.")
        return Undecodable(f"Stored bytes were not written by signoff: they begin with {bytes(data[:8])!r}.")

    def forget(self) -> None:
        """Ask the registry again which classes there are."""
        self._encoders.forget()


class _Encoders(dict[type, Encode]):
    """Encoders by exact class: built-in ones, and those asked for so far."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(builtin.ENCODERS)
        self.registry = registry

    def __missing__(self, cls: type) -> Encode:
        encode = tables.encoder_for(cls, self.registry)
        if encode is None:
            return _refuse
        if not has_lost_its_name(cls):  # nobody but its own graph keeps such a class alive
            self[cls] = encode
        return encode

    def knows(self, cls: type) -> bool:
        """Whether instances of this class are taken, as far as their own parts are."""
        return cls in PLAIN or self[cls] is not _refuse

    def forget(self) -> None:
        # Not clear(): another thread may be packing, and a tuple must not be unknown for a moment.
        for cls in list(self):
            if cls not in builtin.ENCODERS:
                self.pop(cls, None)


def _refuse(obj: Any, pack: Any) -> Any:
    raise refuse_class(type(obj), obj)


@cache
def default_codec() -> Codec:
    """The codec of the process, with the classes that were registered."""
    return Codec()


def dumps(obj: Any, path: str = "values") -> bytes:
    """The bytes of a value; `path` is what the value is called if it is refused."""
    return default_codec().dumps(obj, path)


def loads(data: bytes) -> Any:
    """The value of the bytes."""
    return default_codec().loads(data)
