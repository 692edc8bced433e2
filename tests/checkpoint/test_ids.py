"""Checkpoint ids grow: in a process, across threads, and after an id of another machine."""

import os
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from signoff.checkpoint.ids import as_text, now, stamp, uuid6


def test_ids_grow_and_are_version_6_uuids():
    ids = [uuid6() for _ in range(1000)]
    assert ids == sorted(set(ids))
    assert all(uuid.UUID(id).version == 6 and uuid.UUID(id).variant == uuid.RFC_4122 for id in ids)


def test_threads_never_get_the_same_id():
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: [uuid6() for _ in range(200)], range(8)))
    assert len({id for batch in batches for id in batch}) == 1600
    assert all(batch == sorted(batch) for batch in batches)


def test_an_id_made_after_one_of_a_machine_with_a_fast_clock_is_greater():
    tomorrow = "1fffffff-ffff-6fff-bfff-ffffffffffff"
    later = uuid6(after=tomorrow)
    assert later > tomorrow
    assert uuid6(after=later) > later


def test_an_id_of_another_kind_does_not_matter():
    assert uuid6(after="my own id") < uuid6()


def test_the_time_is_in_utc_to_the_microsecond():
    text = as_text(stamp()[1])
    assert abs(datetime.fromisoformat(text) - datetime.now(UTC)) < timedelta(minutes=1)
    assert datetime.fromisoformat(now()).tzinfo is UTC


@pytest.mark.parametrize("line", range(6))
def test_a_thread_in_the_next_second_does_not_change_the_text_of_this_one(line):
    this, next_one, lines = 10 * 10**9, 11 * 10**9, count()

    def beside(frame, event, argument):
        if event == "line" and next(lines) == line:
            as_text(next_one)  # as another thread does between two lines; what is called here is not traced
        return beside

    as_text(this)
    others = sys.gettrace()  # the coverage of tests is measured by it
    sys.settrace(beside)
    text = as_text(this)
    sys.settrace(others)
    assert text == "1970-01-01T00:00:10.000000+00:00"


def test_a_forked_child_makes_other_ids():
    read, write = os.pipe()
    mine = uuid6()
    if os.fork() == 0:
        os.write(write, uuid6().encode())
        os._exit(0)
    os.wait()
    theirs = os.read(read, 36).decode()
    assert theirs[19:] != mine[19:]
