"""An inbox on every saver, called sync and async."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pauses.ways import STORAGES
from signoff.checkpoint.postgres import PostgresSaver
from signoff.checkpoint.postgres.aio import AsyncPostgresSaver
from signoff.checkpoint.redis import RedisSaver
from signoff.checkpoint.redis.aio import AsyncRedisSaver
from signoff.inbox import Inbox, aconverse, converse


class Desk:
    """A saver with an inbox, and graphs on it: every call opens the saver anew, as another process would."""

    def __init__(self, storage: Any, *, is_async: bool) -> None:
        self.storage, self.is_async = storage, is_async

    def inbox(self, method: str, *args: Any, **named: Any) -> Any:
        return self._call(lambda saver: Inbox(saver), method, *args, **named)

    def open(self, **wanted: Any) -> Any:
        return self.inbox("open", **wanted)

    def asked(self, **wanted: Any) -> list[Any]:
        """What open questions say."""
        return [question.value for question in self.open(**wanted)]

    def answer(self, question_id: str, value: Any, **named: Any) -> Any:
        return self.inbox("answer", question_id, value, **named)

    def graph(self, build: Any, method: str, *args: Any, **named: Any) -> Any:
        return self._call(build, method, *args, **named)

    def converse(self, build: Any, message: Any, **named: Any) -> Any:
        if self.is_async:
            return asyncio.run(self._aconverse(build, message, named))
        with self.storage.opened() as saver:
            return converse(build(saver), message, **named)

    async def _aconverse(self, build: Any, message: Any, named: dict[str, Any]) -> Any:
        async with self.storage.aopened() as saver:
            return await aconverse(build(saver), message, **named)

    def _call(self, build: Any, method: str, *args: Any, **named: Any) -> Any:
        if self.is_async:
            return asyncio.run(self._acall(build, f"a{method}", *args, **named))
        with self.storage.opened() as saver:
            return getattr(build(saver), method)(*args, **named)

    async def _acall(self, build: Any, method: str, *args: Any, **named: Any) -> Any:
        async with self.storage.aopened() as saver:
            return await getattr(build(saver), method)(*args, **named)


class Postgres:
    """A schema of the test's own; async calls with the async saver."""

    def __init__(self, url: str) -> None:
        self.url = url

    def opened(self) -> Any:
        return PostgresSaver.from_conn_string(self.url)

    def aopened(self) -> Any:
        return AsyncPostgresSaver.from_conn_string(self.url)


class Redis:
    """Keys of the test's own; async calls with the async saver."""

    def __init__(self, url: str, prefix: str) -> None:
        self.url, self.prefix = url, prefix

    def opened(self) -> Any:
        return RedisSaver.from_conn_string(self.url, prefix=self.prefix)

    def aopened(self) -> Any:
        return AsyncRedisSaver.from_conn_string(self.url, prefix=self.prefix)


SERVERS = ["postgres-async", "redis-sync"]


@pytest.fixture(params=["memory-sync", "memory-async", "sqlite-sync", "sqlite_aio-async", *SERVERS])
def desk(request, tmp_path) -> Desk:
    storage, _, way = request.param.rpartition("-")
    return Desk(_storage(storage, tmp_path, request.getfixturevalue), is_async=way == "async")


def _storage(name: str, folder: Path, fixture: Callable[[str], Any]) -> Any:
    if name == "postgres":
        return Postgres(fixture("saver_url"))
    if name == "redis":
        return Redis(fixture("redis_url"), fixture("redis_prefix"))
    return STORAGES[name](folder)
