"""Taps on a saver: a moment before and after each of its methods. What it sends to its store: see _statements."""

from collections.abc import Callable
from typing import Any

from signoff.checkpoint._halves import AsyncOfSync, SyncOfAsync
from signoff.constants import CONF, THREAD_ID
from signoff.errors import LeaseLost
from signoff.testing._process import Crash, here
from signoff.testing._statements import tap_statements

__all__ = ["tap"]

_READS = ("get_tuple", "look", "find_questions")
_WRITES = ("put", "put_writes", "renew", "delete_thread", "copy_thread", "prune")


def tap(saver: Any) -> Any:
    """Have a saver show what it does. Returns the saver."""
    if "_is_tapped" in vars(saver):
        return saver
    saver._is_tapped = True
    _wrap(saver, "prepare", _prepare)
    saver.save = _in_two_steps(saver)
    # Where one half of the methods goes through the other, it is seen there.
    if not isinstance(saver, SyncOfAsync):
        _wrap(saver, "store", _store)
        for name in (*_READS, *_WRITES):
            _wrap(saver, name, _tapped)
    if not isinstance(saver, AsyncOfSync):
        _wrap(saver, "astore", _astore)
        for name in (*_READS, *_WRITES):
            _wrap(saver, f"a{name}", _atapped)
    tap_statements(saver)
    return saver


def _in_two_steps(saver: Any) -> Callable[..., None]:
    """What a saver may do in one go, done so that it is seen."""

    def save(commits: Any, lease: Any = None, *, ends: bool = False) -> None:
        saver.store(saver.prepare(commits), lease, ends=ends)

    return save


def _wrap(saver: Any, name: str, wrapper: Callable[[str, Any], Any]) -> None:
    method = getattr(saver, name, None)
    if method is not None:
        setattr(saver, name, wrapper(name, method))


def _tapped(name: str, method: Callable[..., Any]) -> Any:
    def tapped(*args: Any, **named: Any) -> Any:
        process = here.get()
        if process is None:
            return method(*args, **named)
        process.pass_moment("saver calls")
        result = method(*args, **named)
        _see(process, name, args, result)
        process.pass_moment("saver calls")
        return result

    return tapped


def _atapped(name: str, method: Callable[..., Any]) -> Any:
    async def tapped(*args: Any, **named: Any) -> Any:
        process = here.get()
        if process is None:
            return await method(*args, **named)
        process.pass_moment("saver calls")
        result = await method(*args, **named)
        _see(process, name.removeprefix("a"), args, result)
        process.pass_moment("saver calls")
        return result

    return tapped


def _see(process: Any, name: str, args: Any, result: Any) -> None:
    if name == "look":
        process.witness.see_look(str(args[0][CONF][THREAD_ID]), result[1].seen)
    elif name == "put_writes":
        process.witness.see_writes(process, args[2], args[1])


def _prepare(name: str, method: Callable[..., Any]) -> Any:
    def prepare(commits: Any) -> Any:
        prepared, process = method(commits), here.get()
        if process is not None:
            process.witness.see_prepared(prepared, commits)
        return prepared

    return prepare


def _store(name: str, method: Callable[..., Any]) -> Any:
    def store(prepared: Any, lease: Any = None, *, ends: bool = False) -> Any:
        process = here.get()
        if process is None:
            return method(prepared, lease, ends=ends)
        process.pass_moment("saver calls")
        before, commits = _standing(lease), process.commits
        try:
            method(prepared, lease, ends=ends)
        except LeaseLost:
            process.witness.refused += 1
            raise
        except Crash:
            if process.commits > commits:
                process.witness.see_stored(process, prepared, lease, before, ends)
            raise
        process.witness.see_stored(process, prepared, lease, before, ends)
        process.pass_moment("saver calls")
        return None

    return store


def _standing(lease: Any) -> tuple[int, Any]:
    return (0, None) if lease is None else (lease.epoch, lease.seen)


def _astore(name: str, method: Callable[..., Any]) -> Any:
    async def astore(prepared: Any, lease: Any = None, *, ends: bool = False) -> Any:
        process = here.get()
        if process is None:
            return await method(prepared, lease, ends=ends)
        process.pass_moment("saver calls")
        before = _standing(lease)
        await method(prepared, lease, ends=ends)
        process.witness.see_stored(process, prepared, lease, before, ends)
        process.pass_moment("saver calls")
        return None

    return astore
