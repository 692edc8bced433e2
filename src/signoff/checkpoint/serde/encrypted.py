"""Encryption at rest: a serializer around a serializer, and keys that can be changed.

AES is there; or bring a cipher (an object with `encrypt` and `decrypt`, see `CipherProtocol`) from a library you
trust, which should authenticate what it encrypts, as AES-GCM does.

    EncryptedSerializer.from_aes(key)
    EncryptedSerializer.from_aes({"2024": old_key, "2025": new_key}, current="2025")
    EncryptedSerializer.from_aes({"2025": new_key}, before=key)
    EncryptedSerializer(cipher)
    EncryptedSerializer(RotatingCipher({"2024": old, "2025": new}, current="2025"))

The tag says how a value is to be read: `msgpack+aes`, or `msgpack+aes:2025` with the name of the key. What the
serializer says is encrypted with the value, so that nobody can have it read as something else.
"""

import re
from collections.abc import Mapping
from typing import Any

from signoff.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.errors import InvalidInput, Undecodable

__all__ = ["EncryptedSerializer", "RotatingCipher"]

_BOUND = b"\xc1\xc1\xc1\xc1"
"""What a value with its tag begins with, once it is decrypted. In msgpack nothing does; what begins otherwise was
stored before tags were encrypted."""

_KEY_ID = re.compile(r"[A-Za-z0-9._-]+")


class EncryptedSerializer(SerializerProtocol):
    """Values to encrypted bytes and back.

    Args:
        cipher: What encrypts.
        serde: What turns values into bytes; JsonPlusSerializer by default.
        read_unencrypted: Whether values stored before there was a cipher are read. Say False once there are
            none left: whoever can write to the database could otherwise slip one in.
    """

    hides_values = True
    """A saver keeps nothing beside a value to search by. So it is with any serializer that does not say False."""

    def __init__(
        self,
        cipher: CipherProtocol,
        serde: SerializerProtocol | None = None,
        *,
        read_unencrypted: bool = True,
    ) -> None:
        self.cipher = cipher
        self.serde = serde if serde is not None else JsonPlusSerializer()
        self.read_unencrypted = read_unencrypted

    @classmethod
    def from_aes(
        cls,
        key: bytes | Mapping[str, bytes] | None = None,
        serde: SerializerProtocol | None = None,
        *,
        current: str | None = None,
        before: bytes | None = None,
        read_unencrypted: bool = True,
    ) -> "EncryptedSerializer":
        """Encrypt with AES.

        key: 16, 24 or 32 bytes; several keys by their ids, to change them; or none, for SIGNOFF_AES_KEY.
        current: The id of the key that encrypts; the last one if not said.
        before: The key from the time before keys had ids, if values of that time are left.
        """
        from signoff.checkpoint.serde.aes import AesCipher, key_from_environment

        if isinstance(key, Mapping):
            ciphers = {id: AesCipher(one) for id, one in key.items()}
            newest = current if current is not None else next(reversed(ciphers), "")
            first = None if before is None else AesCipher(before)
            cipher = RotatingCipher(ciphers, current=newest, before=first)
            return cls(cipher, serde, read_unencrypted=read_unencrypted)
        if current is not None or before is not None:
            raise InvalidInput(
                'One key has no id, and none before it: to change it, from_aes({"new": key}, before=old).'
            )
        own = key_from_environment() if key is None else key
        return cls(AesCipher(own), serde, read_unencrypted=read_unencrypted)

    @classmethod
    def from_pycryptodome_aes(
        cls, serde: SerializerProtocol | None = None, *, key: bytes | Mapping[str, bytes] | None = None, **more: Any
    ) -> "EncryptedSerializer":
        """The name that LangGraph has for `from_aes`. What it wrote itself is not read."""
        return cls.from_aes(key, serde, **more)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The tag, which names the cipher, and the encrypted bytes of a value."""
        tag, plaintext = self.serde.dumps_typed(obj)
        name, ciphertext = self.cipher.encrypt(_front(tag) + plaintext)
        return f"{tag}+{name}", ciphertext

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a tag and its encrypted bytes."""
        tag, is_encrypted, name = data[0].partition("+")
        if is_encrypted:
            return self.serde.loads_typed((tag, _unbound(tag, self._decrypt(name, data[1]))))
        if self.read_unencrypted:
            return self.serde.loads_typed(data)
        raise Undecodable(
            f"A value with the tag {tag!r} is not encrypted, and this serializer reads only what is. If it "
            "was stored before there was a cipher: EncryptedSerializer(..., read_unencrypted=True)."
        )

    def _decrypt(self, name: str, ciphertext: bytes) -> bytes:
        try:
            return self.cipher.decrypt(name, ciphertext)
        except Undecodable:
            raise
        except Exception as error:
            raise Undecodable(
                f"A value encrypted with {name!r} cannot be decrypted ({type(error).__name__}: {error}): it "
                "has another key, or was changed."
            ) from error


def _front(tag: str) -> bytes:
    """What stands before a value with this tag."""
    return b"%b%b+" % (_BOUND, tag.encode())


def _unbound(tag: str, plaintext: bytes) -> bytes:
    """The bytes of a value that was stored with this tag."""
    front = _front(tag)
    if plaintext.startswith(front):
        return plaintext[len(front) :]
    if plaintext.startswith(_BOUND):
        raise Undecodable(f"A value has the tag {tag!r} and was encrypted with another one: it was changed.")
    return plaintext


class RotatingCipher(CipherProtocol):
    """Several ciphers, each with its own key: the current one encrypts, all of them decrypt.

    Args:
        ciphers: By the id of their key. The id is stored with each value, so it must not be secret.
        current: The id of the one that encrypts.
        before: The cipher from the time before keys had ids, if values of that time are left.
    """

    def __init__(
        self, ciphers: Mapping[str, CipherProtocol], *, current: str, before: CipherProtocol | None = None
    ) -> None:
        for key_id in ciphers:
            if not _KEY_ID.fullmatch(key_id):
                raise InvalidInput(f"The key id {key_id!r} must be of letters, digits, '.', '_' and '-'.")
        if current not in ciphers:
            raise InvalidInput(f"There is no cipher for the current key {current!r}, only for {sorted(ciphers)}.")
        self._ciphers = dict(ciphers)
        self._current = current
        self._before = before

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The name of the current cipher with the id of its key, and the ciphertext."""
        name, ciphertext = self._ciphers[self._current].encrypt(plaintext)
        return f"{name}:{self._current}", ciphertext

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The plaintext, with the key that it was encrypted with."""
        name, has_key_id, key_id = ciphername.rpartition(":")
        cipher = self._ciphers.get(key_id) if has_key_id else self._before
        if cipher is None and not has_key_id:
            raise Undecodable(
                f"A value is encrypted with {ciphername!r}, from the time before keys had ids. Give the key of that "
                "time, too: from_aes({...}, before=key), or RotatingCipher(..., before=cipher)."
            )
        if cipher is None:
            raise Undecodable(
                f"A value is encrypted with {ciphername!r}, and there is no such key here, only "
                f"{sorted(self._ciphers)}. Keep old keys until nothing is stored under them."
            )
        return cipher.decrypt(name if has_key_id else ciphername, ciphertext)
