"""Savers of every kind, opened for one test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.postgres import PostgresSaver
from signoff.checkpoint.redis import RedisSaver
from signoff.checkpoint.sqlite import SqliteSaver

DATABASES = ["sqlite", "postgres", "redis"]
KINDS = ["memory", *DATABASES]


@contextmanager
def opened(kind: str, request: Any, tmp_path: Any) -> Iterator[Any]:
    """A saver that nobody has stored anything in."""
    if kind == "memory":
        yield InMemorySaver()
    elif kind == "sqlite":
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            yield saver
    elif kind == "postgres":
        with PostgresSaver.from_conn_string(request.getfixturevalue("saver_url")) as saver:
            saver.setup()
            yield saver
    else:
        place = {"prefix": request.getfixturevalue("redis_prefix")}
        with RedisSaver.from_conn_string(request.getfixturevalue("redis_url"), **place) as saver:
            yield saver
