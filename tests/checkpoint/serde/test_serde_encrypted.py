"""Encryption at rest, with a toy for a cipher: what is tested is who is asked, not how well it hides."""

import hashlib

import pytest

from signoff.checkpoint.serde.base import SerializerProtocol
from signoff.checkpoint.serde.encrypted import EncryptedSerializer, RotatingCipher
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.errors import InvalidInput, NotStorable, Undecodable


class Toy:
    """Turns bytes around and signs them. Not a cipher."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "toy", self._sign(plaintext) + plaintext[::-1]

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        if ciphername != "toy":
            raise ValueError(f"not mine: {ciphername}")
        plaintext = ciphertext[8:][::-1]
        if self._sign(plaintext) != ciphertext[:8]:
            raise ValueError("bad signature")
        return plaintext

    def _sign(self, plaintext: bytes) -> bytes:
        return hashlib.sha256(self.key + plaintext).digest()[:8]


VALUES = [None, b"bytes", bytearray(b"array"), {"a": (1, 2)}]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_through_the_cipher(value):
    serde = EncryptedSerializer(Toy(b"k"))
    tag, content = serde.dumps_typed(value)
    assert tag == f"{JsonPlusSerializer().dumps_typed(value)[0]}+toy"
    loaded = serde.loads_typed((tag, content))
    assert (loaded, type(loaded)) == (value, type(value))


def test_it_is_a_serializer_around_any_serializer():
    serde = EncryptedSerializer(Toy(b"k"), JsonPlusSerializer(pickle_fallback=True))
    assert isinstance(serde, SerializerProtocol)
    assert serde.dumps_typed(print)[0] == "pickle+toy"
    assert serde.loads_typed(serde.dumps_typed(print)) is print
    with pytest.raises(NotStorable):
        EncryptedSerializer(Toy(b"k")).dumps_typed(lambda: 1)


def test_what_was_changed_or_has_another_key_is_refused():
    tag, content = EncryptedSerializer(Toy(b"k")).dumps_typed({"a": 1})
    for serde, stored in (
        (EncryptedSerializer(Toy(b"other")), (tag, content)),
        (EncryptedSerializer(Toy(b"k")), (tag, content + b"x")),
        (EncryptedSerializer(Toy(b"k")), ("msgpack+aes", content)),
        (EncryptedSerializer(Toy(b"k")), ("msgpack+", content)),
    ):
        with pytest.raises(Undecodable, match="cannot be decrypted"):
            serde.loads_typed(stored)


@pytest.mark.parametrize("value", [*VALUES, b"\xc1\xc1\xc1\xc1null+"], ids=repr)
@pytest.mark.parametrize("tag", ["null", "bytes", "bytearray", "msgpack", "pickle"])
def test_a_value_under_the_tag_of_another_kind_is_refused(value, tag):
    serde = EncryptedSerializer(Toy(b"k"), JsonPlusSerializer(pickle_fallback=True), read_unencrypted=False)
    real, content = serde.dumps_typed(value)
    if real == f"{tag}+toy":
        assert serde.loads_typed((real, content)) == value
    else:
        with pytest.raises(Undecodable, match=f"'{tag}'.* was changed"):
            serde.loads_typed((f"{tag}+toy", content))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_from_before_tags_were_encrypted_are_read_but_not_as_nothing(value):
    serde, (tag, plain) = EncryptedSerializer(Toy(b"k")), JsonPlusSerializer().dumps_typed(value)
    content = Toy(b"k").encrypt(plain)[1]
    assert serde.loads_typed((f"{tag}+toy", content)) == value
    if value is not None:
        with pytest.raises(Undecodable, match="'null'"):
            serde.loads_typed(("null+toy", content))


def test_values_from_before_there_was_a_cipher_are_read_until_it_is_forbidden():
    stored = JsonPlusSerializer().dumps_typed({"a": 1})
    assert EncryptedSerializer(Toy(b"k")).loads_typed(stored) == {"a": 1}
    with pytest.raises(Undecodable, match="read_unencrypted=True"):
        EncryptedSerializer(Toy(b"k"), read_unencrypted=False).loads_typed(stored)


def test_the_current_key_encrypts_and_every_key_decrypts():
    old, new = Toy(b"old"), Toy(b"new")
    before = EncryptedSerializer(RotatingCipher({"2024": old}, current="2024"))
    after = EncryptedSerializer(RotatingCipher({"2024": old, "2025": new}, current="2025"))
    assert before.dumps_typed(1)[0] == "msgpack+toy:2024"
    assert after.dumps_typed(1)[0] == "msgpack+toy:2025"
    assert after.loads_typed(before.dumps_typed({"a": 1})) == {"a": 1}
    assert after.loads_typed(after.dumps_typed({"a": 1})) == {"a": 1}
    with pytest.raises(Undecodable, match=r"'toy:2025', and there is no such key here, only \['2024'\]"):
        before.loads_typed(after.dumps_typed(1))


def test_values_from_before_keys_had_ids_are_read_with_the_cipher_of_then():
    stored = EncryptedSerializer(Toy(b"first")).dumps_typed({"a": 1})
    keys = {"2025": Toy(b"new")}
    with pytest.raises(Undecodable, match="before keys had ids.*before="):
        EncryptedSerializer(RotatingCipher(keys, current="2025")).loads_typed(stored)
    serde = EncryptedSerializer(RotatingCipher(keys, current="2025", before=Toy(b"first")))
    assert serde.loads_typed(stored) == {"a": 1}


def test_an_aes_key_that_had_no_id_can_be_changed(monkeypatch):
    monkeypatch.setenv("SIGNOFF_AES_KEY", "e" * 32)
    key, new = b"k" * 32, b"n" * 32
    stored = EncryptedSerializer.from_aes(key).dumps_typed({"a": 1})
    serde = EncryptedSerializer.from_aes({"2030": new}, before=key)
    assert serde.loads_typed(stored) == {"a": 1}
    assert serde.dumps_typed(1)[0] == "msgpack+aes:2030"
    with pytest.raises(Undecodable, match="before="):
        EncryptedSerializer.from_aes({"2029": key, "2030": new}).loads_typed(stored)
    with pytest.raises(InvalidInput, match="before="):
        EncryptedSerializer.from_aes(new, before=key)
    with pytest.raises(InvalidInput, match="not 0 bytes"):
        EncryptedSerializer.from_aes(b"")


def test_mistakes_in_the_keys_are_named():
    with pytest.raises(InvalidInput, match="no cipher for the current key 'b'"):
        RotatingCipher({"a": Toy(b"k")}, current="b")
    with pytest.raises(InvalidInput, match="must be of letters, digits"):
        RotatingCipher({"a+b": Toy(b"k")}, current="a+b")
