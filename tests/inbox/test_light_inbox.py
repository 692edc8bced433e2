"""Importing the inbox loads no framework, no database driver and nothing that runs a graph."""

import pytest

from loading import modules_after

HEAVY = {"asyncio", "langchain_core", "pydantic", "jsonschema", "sqlite3", "aiosqlite", "psycopg", "redis", "fastapi"}


@pytest.mark.parametrize("program", ["import signoff.inbox", "from signoff.inbox import Inbox, Paused, converse"])
def test_importing_the_inbox_loads_nothing_heavy(program):
    assert modules_after(program) & HEAVY == set()


def test_every_name_of_the_inbox_can_be_imported():
    import signoff.inbox

    assert all(getattr(signoff.inbox, name) is not None for name in signoff.inbox.__all__)
    with pytest.raises(AttributeError):
        _ = signoff.inbox.nothing
