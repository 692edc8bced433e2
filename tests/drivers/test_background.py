"""Saving in the background: whoever waits goes on when everything is stored."""

import asyncio
import threading
from contextlib import suppress

import pytest

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.drivers.saving.aio_background import AsyncBackground
from signoff.drivers.saving.background import MOST, Background
from signoff.func import entrypoint, task


class Saver:
    """Notes what is stored, and how it was put together."""

    def __init__(self, *, stores_together=True):
        self.stores_together = stores_together
        self.may_store = threading.Event()
        self.may_store.set()
        self.transactions = []

    def store(self, prepared, lease=None, *, ends=False):
        self.may_store.wait()
        if "refused" in prepared:
            raise OSError("disk on fire")
        self.transactions.append(list(prepared))

    @property
    def stored(self):
        return [one for transaction in self.transactions for one in transaction]


class LetsIn:
    """A lock that lets somebody in right before it is given back."""

    def __init__(self, come_in):
        self._lock, self._come_in = threading.Lock(), come_in

    def __enter__(self):
        self._lock.acquire()

    def __exit__(self, *error):
        self._come_in()
        self._lock.release()

    def locked(self):
        return self._lock.locked()


def test_what_comes_in_as_the_last_is_stored_is_stored_soon_too():
    saver = Saver()
    background = Background(saver)

    def come_in():
        if saver.stored == [1]:
            background.save([2], None, ends=False)

    background._storing = LetsIn(come_in)
    background._is_called = True
    background._waiting.add(([1], None, False))
    background._work()
    assert saver.stored == [1, 2]


class LooksFree(LetsIn):
    """A lock that somebody takes right after another has seen that it is free."""

    def locked(self):
        was_locked = super().locked()
        self._come_in()
        return was_locked


def test_what_somebody_begins_to_store_in_the_moment_in_which_another_looks_is_waited_for():
    saver = Saver()
    saver.may_store.clear()
    background = Background(saver)
    background._waiting.add(([1], None, False))
    storing = threading.Thread(target=background._store_all)

    def begin():
        if storing.ident is None:
            storing.start()
            while background._waiting:
                pass
        else:
            saver.may_store.set()

    background._storing = LooksFree(begin)
    background.wait()
    is_stored = saver.stored == [1]
    saver.may_store.set()
    storing.join()
    assert is_stored


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def test_nobody_waits_for_a_thread_that_a_signal_kept_from_being_woken(monkeypatch):
    def interrupted(job):
        raise Interrupted

    saver = Saver()
    background = Background(saver)
    with monkeypatch.context() as patched:
        patched.setattr("signoff.drivers.saving.background.submit", interrupted)
        with pytest.raises(Interrupted):
            background.save([1], None, ends=False)
    background.save([2], None, ends=False)
    background.wait()
    assert saver.stored == [1, 2]


@pytest.mark.parametrize("together", [True, False])
def test_what_came_together_is_stored_together_where_a_saver_can(together):
    saver = Saver(stores_together=together)
    saver.may_store.clear()
    background = Background(saver)
    for number in range(MOST + 50):
        background.save([number], None, ends=False)
    saver.may_store.set()
    background.wait()
    assert saver.stored == list(range(MOST + 50))
    assert max(map(len, saver.transactions)) <= (MOST if together else 1)
    assert (len(saver.transactions) < 5) is together


def test_an_error_is_raised_once_and_what_came_after_it_is_not_stored():
    saver = Saver(stores_together=False)
    saver.may_store.clear()
    background = Background(saver)
    for one in (1, "refused", 3):
        background.save([one], None, ends=False)
    saver.may_store.set()
    with pytest.raises(OSError, match="disk on fire"):
        background.wait()
    background.wait()
    assert saver.stored == [1]


# In an event loop


class AsyncSaver(Saver):
    async def astore(self, prepared, lease=None, *, ends=False):
        await asyncio.sleep(0)
        self.store(prepared)


def in_loop(program):
    async def with_background():
        saver = AsyncSaver()
        await program(saver, AsyncBackground(saver, asyncio.get_running_loop()))

    asyncio.run(with_background())


def test_in_a_loop_too_what_came_together_is_stored_together():
    async def program(saver, background):
        for number in range(MOST + 2):
            background.save([number], None, ends=False)
        await background.wait()
        assert saver.stored == list(range(MOST + 2))
        assert [len(transaction) for transaction in saver.transactions] == [MOST, 2]

    in_loop(program)


def test_all_who_wait_hear_that_nothing_was_stored():
    async def program(saver, background):
        background.save(["refused"], None, ends=False)
        outcomes = await asyncio.gather(background.wait(), background.wait(), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [OSError, OSError]
        background.save([1], None, ends=False)
        await background.wait()
        assert saver.stored == [1]

    in_loop(program)


def test_an_error_that_nobody_waited_for_is_raised_at_the_next_call():
    async def program(saver, background):
        background.save(["refused"], None, ends=False)
        waiting = asyncio.ensure_future(background.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        while background._working is not None:
            await asyncio.sleep(0)
        with pytest.raises(OSError, match="disk on fire"):
            background.save([1], None, ends=False)
        await background.wait()
        assert saver.stored == []

    in_loop(program)


# In a run


def test_calls_that_are_the_first_to_be_stored_at_the_same_moment_are_stored_by_one(tmp_path, monkeypatch):
    both, made = threading.Barrier(2), []

    class Slow(Background):
        def __init__(self, saver):
            made.append(self)
            with suppress(threading.BrokenBarrierError):
                both.wait(0.2)
            super().__init__(saver)

    monkeypatch.setattr("signoff.drivers.sync.Background", Slow)
    pay = task(lambda number: both_paying.wait(10) and number, name="pay")
    both_paying = threading.Barrier(2)
    with SqliteSaver.from_conn_string(tmp_path / "runs.db") as saver:

        @entrypoint(saver)
        def several(numbers):
            return [call.result() for call in [pay(number) for number in numbers]]

        several.invoke([1, 2], {"configurable": {"thread_id": "1"}}, durability="async")
    assert len(made) == 1
