"""Importing the inbox loads no framework, no database driver and nothing that runs a graph."""

import subprocess
import sys

import pytest

HEAVY = {"asyncio", "langchain_core", "pydantic", "jsonschema", "sqlite3", "aiosqlite", "psycopg", "redis", "fastapi"}


def loaded_by(program: str) -> set[str]:
    program = f"{program}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("program", ["import signoff.inbox", "from signoff.inbox import Inbox, Paused, converse"])
def test_importing_the_inbox_loads_nothing_heavy(program):
    assert loaded_by(program) & HEAVY == set()


def test_every_name_of_the_inbox_can_be_imported():
    import signoff.inbox

    assert all(getattr(signoff.inbox, name) is not None for name in signoff.inbox.__all__)
    with pytest.raises(AttributeError):
        _ = signoff.inbox.nothing
