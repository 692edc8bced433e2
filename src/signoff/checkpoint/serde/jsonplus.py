"""LangGraph's serializer by name: tags and bytes for every value, types by allow-list if asked."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Literal

from signoff.checkpoint.serde.allowlist import Allowed, AllowList
from signoff.checkpoint.serde.base import SerializerProtocol
from signoff.errors import NotStorable, Undecodable

__all__ = ["JsonPlusSerializer"]

_TAGGED = frozenset({type(None), bytes, bytearray})
"""What has a tag of its own."""

_REGISTERED: Any = object()
"""Only what is registered in this process: the default."""


class JsonPlusSerializer(SerializerProtocol):
    """Values to tagged bytes and back: msgpack, with the registered types.

    Args:
        pickle_fallback: Store what would be refused as a pickle, and load pickles. Unsafe: whoever can write
            to the database can then run code here.
        allowed_msgpack_modules: More types for this serializer alone: classes, or `("module", "Name")`, which
            is imported when such a value is loaded. `True` lets stored bytes name any class there is, and
            imports it. Unsafe in the same way, if to a lesser degree.
        allowed_json_modules: The same, under the name that LangGraph has for its older format.
    """

    def __init__(
        self,
        *,
        pickle_fallback: bool = False,
        allowed_json_modules: Iterable[Allowed] | Literal[True] | None = None,
        allowed_msgpack_modules: Iterable[Allowed] | Literal[True] | None = _REGISTERED,
    ) -> None:
        self.pickle_fallback = pickle_fallback
        given = (allowed_json_modules, allowed_msgpack_modules)
        lists = [allowed for allowed in given if allowed is not None and allowed is not _REGISTERED]
        self._allowed = AllowList.of(*lists)
        self._codec: Any = None

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[Allowed]) -> "JsonPlusSerializer":
        """A serializer that takes these types, too."""
        other = copy(self)
        other._allowed, other._codec = self._allowed | AllowList.of(extra_allowlist), None
        return other

    def dumps_typed(self, obj: Any, *, path: str = "values") -> tuple[str, bytes]:
        """The tag and the bytes of a value; `path` is what the value is called if it is refused."""
        if obj is None:
            return "null", b""
        kind = type(obj)
        if kind is bytes:
            return "bytes", obj
        if kind is bytearray:
            return "bytearray", bytes(obj)
        try:
            return "msgpack", (self._codec or self._open()).dumps(obj, path)
        except NotStorable as refusal:
            if not self.pickle_fallback:
                raise
            return "pickle", _pickled(obj, refusal)

    def dumps_all(self, items: Sequence[Any]) -> list[tuple[str, bytes]]:
        """The tags and the bytes of many values, each by itself: much quicker than value by value."""
        if not _TAGGED.isdisjoint(map(type, items)):
            return [self.dumps_typed(item) for item in items]
        try:
            return [("msgpack", data) for data in (self._codec or self._open()).dumps_all(items)]
        except NotStorable:
            return [self.dumps_typed(item) for item in items]

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a tag and its bytes."""
        tag, content = data
        match tag:
            case "msgpack":
                return (self._codec or self._open()).loads(content)
            case "null" if not content:
                return None
            case "bytes":
                return bytes(content)
            case "bytearray":
                return bytearray(content)
            case "pickle" if self.pickle_fallback:
                return _unpickled(content)
            case "pickle":
                raise Undecodable(
                    "The value was stored as a pickle, and loading one runs the code in it. If you trust "
                    "whoever can write to the database: JsonPlusSerializer(pickle_fallback=True)."
                )
        if tag == "null":
            raise Undecodable("A value with the tag 'null' is None, and has no bytes: it was changed.")
        raise Undecodable(f"No value is stored under the tag {tag!r}: use the serializer that it was stored with.")

    def loads_all(self, many: Sequence[tuple[str, bytes]]) -> list[Any]:
        """The values of many tags and bytes that this process has written: much quicker than value by value."""
        if not {tag for tag, _ in many} <= {"msgpack"}:
            return [self.loads_typed(one) for one in many]
        return (self._codec or self._open()).loads_all([data for _, data in many])  # type: ignore[no-any-return]

    def loads_lists(self, many: Sequence[bytes]) -> list[list[Any]]:
        """The lists of many bytes that would have the tag `msgpack`: much quicker than item by item."""
        return (self._codec or self._open()).loads_lists(many)  # type: ignore[no-any-return]

    def _open(self) -> Any:
        # Not before the first value: msgpack need not be imported to describe a graph.
        from signoff.checkpoint.serde.codec import Codec, default_codec

        self._codec = Codec(self._allowed.registry()) if self._allowed else default_codec()
        return self._codec


def _pickled(obj: Any, refusal: NotStorable) -> bytes:
    import pickle

    try:
        return pickle.dumps(obj)
    except Exception as error:
        raise refusal from error


def _unpickled(content: bytes) -> Any:
    import pickle

    try:
        return pickle.loads(content)
    except Exception as error:
        raise Undecodable(f"A stored pickle cannot be read ({type(error).__name__}: {error}).") from error
