"""Without the packages of an extra, whatever needs them says which one it is."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from signoff.errors import MissingExtra

OPEN_SQLITE = """
import asyncio
from signoff.checkpoint.sqlite import AsyncSqliteSaver

async def open():
    async with AsyncSqliteSaver.from_conn_string(":memory:"):
        pass

asyncio.run(open())
"""

ENCRYPT = """
from signoff.checkpoint.serde.encrypted import EncryptedSerializer

EncryptedSerializer.from_aes(b"0" * 32)
"""

ASK = """
from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint
from signoff.types import interrupt

@entrypoint(InMemorySaver())
def ask(amount):
    return interrupt(f"Pay {amount}?", response_schema=FORM)

ask.invoke(5, {"configurable": {"thread_id": "1"}})
"""


@pytest.mark.parametrize(
    ("package", "extra", "program"),
    [
        ("langchain_core", "agents", "import signoff.agents"),
        ("langchain_core", "agents", "from signoff.prebuilt import create_react_agent"),
        ("langchain_core", "agents", "from signoff.callbacks import GraphCallbackHandler"),
        ("psycopg", "postgres", "from signoff.checkpoint.postgres import PostgresSaver"),
        ("psycopg", "postgres", "from signoff.checkpoint.postgres.aio import AsyncPostgresSaver"),
        ("psycopg", "postgres", "from signoff.store.postgres import PostgresStore"),
        ("redis", "redis", "from signoff.checkpoint.redis import RedisSaver"),
        ("redis", "redis", "from signoff.store.redis import RedisStore"),
        ("redis", "redis", "from signoff.cache.redis import RedisCache"),
        ("aiosqlite", "sqlite", OPEN_SQLITE),
        ("cryptography", "encryption", ENCRYPT),
        ("pydantic", "forms", ASK.replace("FORM", "bool")),
        ("jsonschema", "forms", ASK.replace("FORM", "{'type': 'boolean'}")),
    ],
)
def test_a_missing_extra_is_named(package, extra, program):
    without = f"import sys\nsys.modules[{package!r}] = None\n{program}"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    begin = f"{MissingExtra.__module__}.MissingExtra: "
    told = [line for line in done.stderr.splitlines() if line.startswith(begin)][-1]  # notes may stand below it
    assert package in told
    assert told.endswith(f'pip install "signoff[{extra}]"')


ROOT = Path(__file__).parent.parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def test_what_an_agent_needs_to_be_answered_comes_with_it():
    assert "signoff[forms]" in EXTRAS["agents"]


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"dev"}))
def test_the_first_page_names_every_extra(extra):
    assert f"`{extra}`" in (ROOT / "README.md").read_text(encoding="utf-8")
