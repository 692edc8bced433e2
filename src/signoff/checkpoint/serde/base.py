"""What a serializer and a cipher can do, for savers and for those who bring their own."""

from typing import Any, Protocol, runtime_checkable

__all__ = [
    "CipherProtocol",
    "SerializerCompat",
    "SerializerProtocol",
    "UntypedSerializerProtocol",
    "maybe_add_typed_methods",
]


@runtime_checkable
class SerializerProtocol(Protocol):
    """Values to bytes and back, with a tag that says how the bytes are to be read."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The tag and the bytes of a value."""
        ...

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a tag and its bytes."""
        ...


class UntypedSerializerProtocol(Protocol):
    """Values to bytes and back, all in one format."""

    def dumps(self, obj: Any) -> bytes:
        """The bytes of a value."""
        ...

    def loads(self, data: bytes) -> Any:
        """The value of the bytes."""
        ...


class CipherProtocol(Protocol):
    """Bytes to secret bytes and back."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The cipher's name, which is stored in the clear, and the ciphertext."""
        ...

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The plaintext; an error if the name is not this cipher's or the text was changed."""
        ...


class SerializerCompat:
    """An untyped serializer with the typed methods: the tag is the name of the value's type."""

    def __init__(self, serde: UntypedSerializerProtocol) -> None:
        self.serde = serde
        self.hides_values = getattr(serde, "hides_values", True)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The name of the value's type and its bytes."""
        return type(obj).__name__, self.serde.dumps(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of the bytes; the tag says nothing that they do not."""
        return self.serde.loads(data[1])


def maybe_add_typed_methods(serde: SerializerProtocol | UntypedSerializerProtocol) -> SerializerProtocol:
    """The serializer itself if it has the typed methods, else a wrapper that adds them."""
    if isinstance(serde, SerializerProtocol):
        return serde
    return SerializerCompat(serde)
