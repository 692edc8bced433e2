"""AES as a cipher for values at rest: AES-GCM of the package `cryptography`, which notices any change of a value."""

import os
from typing import Any

from signoff.checkpoint.serde.base import CipherProtocol
from signoff.errors import InvalidInput, MissingExtra, Undecodable

__all__ = ["AesCipher", "key_from_environment"]

_NONCE = 12
_VARIABLES = ("SIGNOFF_AES_KEY", "LANGGRAPH_AES_KEY")


class AesCipher(CipherProtocol):
    """Encrypts with one key of 16, 24 or 32 bytes."""

    NAME = "aes"

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) not in (16, 24, 32):
            size = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
            raise InvalidInput(f"An AES key is 16, 24 or 32 bytes, not {size}: make one with os.urandom(32).")
        self._aes: Any = _aes(key)

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """The cipher's name, and the ciphertext behind a number that is used only once."""
        nonce = os.urandom(_NONCE)
        return self.NAME, nonce + self._aes.encrypt(nonce, plaintext, None)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """The plaintext."""
        if ciphername != self.NAME:
            raise Undecodable(f"A value is encrypted with {ciphername!r}, and this cipher is {self.NAME!r}.")
        plaintext: bytes = self._aes.decrypt(ciphertext[:_NONCE], ciphertext[_NONCE:], None)
        return plaintext


def key_from_environment() -> bytes:
    """The key in SIGNOFF_AES_KEY, or in the variable that LangGraph has for it."""
    for variable in _VARIABLES:
        if os.environ.get(variable):
            return os.environ[variable].encode()
    raise InvalidInput(f"No key: give key=..., or set {_VARIABLES[0]} to one of 16, 24 or 32 characters.")


def _aes(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise MissingExtra('AES needs the package cryptography: pip install "signoff[encryption]"') from error
    return AESGCM(key)
