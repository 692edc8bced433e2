"""The protocols, the names that LangGraph has for them, and what importing them costs."""

import inspect
from importlib import import_module
from typing import Any

import pytest

from loading import modules_after
from signoff.checkpoint.serde.base import SerializerProtocol, maybe_add_typed_methods
from signoff.checkpoint.serde.types import SCHEDULED, SendProtocol
from signoff.types import Send


class Untyped:
    def dumps(self, obj: Any) -> bytes:
        return repr(obj).encode()

    def loads(self, data: bytes) -> Any:
        return int(data)


def test_an_untyped_serializer_gets_the_typed_methods():
    serde = maybe_add_typed_methods(Untyped())
    assert isinstance(serde, SerializerProtocol)
    assert serde.dumps_typed(5) == ("int", b"5")
    assert serde.loads_typed(("int", b"5")) == 5


def test_a_send_is_a_send():
    assert isinstance(Send("n", 1), SendProtocol)
    assert SCHEDULED == "__scheduled__"


NAMES = {
    "base": [
        "CipherProtocol",
        "SerializerCompat",
        "SerializerProtocol",
        "UntypedSerializerProtocol",
        "maybe_add_typed_methods",
    ],
    "types": ["ERROR", "INTERRUPT", "RESUME", "SCHEDULED", "TASKS", "ChannelProtocol", "SendProtocol"],
    "jsonplus": ["JsonPlusSerializer"],
    "encrypted": ["EncryptedSerializer"],
}


@pytest.mark.parity
@pytest.mark.parametrize("module", NAMES)
def test_the_names_of_langgraph_are_here(module):
    theirs = import_module(f"langgraph.checkpoint.serde.{module}")
    ours = import_module(f"signoff.checkpoint.serde.{module}")
    for name in NAMES[module]:
        assert name in ours.__all__
        their, our = getattr(theirs, name), getattr(ours, name)
        if isinstance(their, str):
            assert our == their
        else:
            methods = [method for method in vars(their) if not method.startswith("_")]
            assert [method for method in methods if not hasattr(our, method)] in (
                [],
                ["from_pycryptodome_aes"],
            )


@pytest.mark.parity
def test_the_serializer_takes_the_keywords_of_langgraphs():
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer as Theirs

    from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer as Ours

    theirs, ours = (set(inspect.signature(cls).parameters) for cls in (Theirs, Ours))
    assert {name for name in theirs if not name.startswith("__")} <= ours


HEAVY = {"msgpack", "pydantic", "langchain_core", "numpy", "asyncio", "sqlite3", "langgraph", "cryptography", "pickle"}


def test_importing_the_serializers_is_light():
    modules = "base, encrypted, jsonplus, registry, types"
    program = f"from signoff.checkpoint.serde import {modules}, register; jsonplus.JsonPlusSerializer()"
    assert modules_after(program) & HEAVY == set()


def test_registering_a_class_is_light():
    program = "from enum import Enum; from signoff.checkpoint.serde import register; register(Enum('E', 'A'))"
    assert modules_after(program) & HEAVY == set()


def test_storing_what_is_plain_imports_no_more_than_msgpack():
    program = "from signoff.checkpoint.serde.codec import dumps, loads; loads(dumps({'a': [1, (2,)]}))"
    assert modules_after(program) & HEAVY == {"msgpack"}
