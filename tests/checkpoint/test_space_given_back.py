"""Whatever is removed, the file gets smaller: the space is given back, not only kept for later."""

import os
from datetime import UTC, datetime, timedelta

import pytest

from signoff.testing.conformance._saver_words import put

OLD = "2020-01-01T00:00:00.000000+00:00"

REMOVALS = {
    "delete_thread": lambda saver: saver.delete_thread("thread"),
    "prune": lambda saver: saver.prune(["thread"]),
    "prune all": lambda saver: saver.prune(["thread"], strategy="delete"),
    "delete_for_runs": lambda saver: saver.delete_for_runs(["r"]),
    "keep_last": lambda saver: saver.keep_last(1),
    "cleanup_before": lambda saver: saver.cleanup_before(datetime.now(UTC) - timedelta(days=30)),
}


def grow(saver):
    """A thread with many large values, of which the newest checkpoint has none."""
    for number in range(20):
        parent = f"{number - 1:02}" if number else None
        values, versions = {"big": os.urandom(50_000)}, {"big": number + 1}
        put(saver, f"{number:02}", values, parent=parent, versions=versions, metadata={"run_id": "r"}, ts=OLD)
    put(saver, "99", {"big": "small"}, parent="19", versions={"big": 99}, ts=OLD)


def size(saver, path):
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


@pytest.mark.parametrize("name", REMOVALS)
def test_what_is_removed_gives_its_space_back(openers, tmp_path, name):
    saver = openers["sqlite"]()
    grow(saver)
    before = size(saver, tmp_path / "saver.db")
    REMOVALS[name](saver)
    assert before > 1_000_000
    assert size(saver, tmp_path / "saver.db") < before / 5


@pytest.mark.parametrize("name", REMOVALS)
def test_the_async_saver_gives_it_back_too(openers, tmp_path, name):
    saver, looking = openers["sqlite_aio"](), openers["sqlite"]()
    grow(saver)
    before = size(looking, tmp_path / "saver.db")
    REMOVALS[name](saver)
    assert size(looking, tmp_path / "saver.db") < before / 5
