"""Streams: what somebody who watches a run pays."""

from functools import partial
from typing import Any

from bench.library import Library
from bench.measuring import Run, Work
from bench.programs.words import UNLIMITED, Count, aadd_one, between, chain


def streamed_step(lib: Library) -> Work:
    """A step whose updates somebody reads."""

    def reading(length: int) -> Run:
        app = chain(lib, length).compile()
        return lambda: list(app.stream({"x": 0}, UNLIMITED, stream_mode="updates"))

    return between(reading)


def async_streamed_step(lib: Library) -> Work:
    """The same with async nodes."""

    def reading(length: int) -> Run:
        app = chain(lib, length, aadd_one).compile()

        async def read() -> None:
            async for _ in app.astream({"x": 0}, UNLIMITED, stream_mode="updates"):
                pass

        return lambda: lib.run(read())

    return between(reading)


def first_chunk(lib: Library) -> Work:
    """From the call of a graph with ten nodes to the first thing that is seen of it."""
    app = chain(lib, 10).compile()

    def read_one() -> None:
        stream = app.stream({"x": 0}, UNLIMITED, stream_mode="updates")
        next(stream)
        stream.close()

    return Work(read_one)


def custom_chunk(lib: Library) -> Work:
    """A thing that a node tells whoever watches."""
    get_stream_writer = lib.get_stream_writer

    def tell(times: int, state: Count) -> Count:
        write = get_stream_writer()
        for number in range(times):
            write(number)
        return {"x": times}

    def reading(times: int) -> Run:
        app: Any = chain(lib, 1, partial(tell, times)).compile()
        return lambda: list(app.stream({"x": 0}, UNLIMITED, stream_mode="custom"))

    return between(reading, long=1100, short=100)
