"""Every scenario is run in four ways: sync and async, in memory and in a SQLite file."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.graph import StateGraph
from signoff.types import StateSnapshot

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIG: dict[str, Any] = {"configurable": {"thread_id": "1"}}


class App:
    """A program on a saver. In a SQLite file each call opens the file anew, as another process would."""

    def __init__(self, compile: Callable[[Any], Any], file: Path | None, *, is_async: bool) -> None:
        self.compile = compile
        self.file = str(file) if file else None
        self.memory = InMemorySaver()
        self.is_async = is_async

    def invoke(self, input: Any, config: Any = CONFIG, **settings: Any) -> Any:
        return self._call("invoke", input, config, **settings)

    def stream(
        self, input: Any, config: Any = CONFIG, *, until: Callable[[Any], Any] = lambda _: False, **settings: Any
    ) -> list[Any]:
        """The chunks; the reader leaves at the first one that `until` says yes to."""
        return self._call("stream", input, config, until=until, **settings)

    def get_state(self, config: Any = CONFIG, **settings: Any) -> StateSnapshot:
        return self._call("get_state", config, **settings)

    def history(self, config: Any = CONFIG) -> list[StateSnapshot]:
        """The checkpoints, oldest first."""
        return self._call("get_state_history", config)[::-1]

    def update_state(self, values: Any, config: Any = CONFIG, **settings: Any) -> Any:
        return self._call("update_state", config, values, **settings)

    def bulk_update_state(self, supersteps: Any, config: Any = CONFIG) -> Any:
        return self._call("bulk_update_state", config, supersteps)

    def questions(self) -> list[Any]:
        """What is open."""
        return [question.value for question in self.get_state().interrupts]

    def _call(self, method: str, *args: Any, until: Callable[[Any], Any] = lambda _: False, **settings: Any) -> Any:
        if self.is_async:
            return asyncio.run(self._acall(f"a{method}", *args, until=until, **settings))
        with self._saver() as saver:
            result = getattr(self.compile(saver), method)(*args, **settings)
            return _read(result, until) if isinstance(result, Iterator) else result

    async def _acall(self, method: str, *args: Any, until: Callable[[Any], Any], **settings: Any) -> Any:
        async with self._asaver() as saver:
            result = getattr(self.compile(saver), method)(*args, **settings)
            return await (_aread(result, until) if isinstance(result, AsyncIterator) else result)

    @contextmanager
    def _saver(self) -> Iterator[Any]:
        if self.file is None:
            yield self.memory
        else:
            with SqliteSaver.from_conn_string(self.file) as saver:
                yield saver

    @asynccontextmanager
    async def _asaver(self) -> AsyncIterator[Any]:
        if self.file is None:
            yield self.memory
        else:
            async with AsyncSqliteSaver.from_conn_string(self.file) as saver:
                yield saver


def _read(stream: Any, until: Callable[[Any], Any]) -> list[Any]:
    seen = []
    with closing(stream) as chunks:
        for chunk in chunks:
            seen.append(chunk)
            if until(chunk):
                break
    return seen


async def _aread(stream: Any, until: Callable[[Any], Any]) -> list[Any]:
    seen = []
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            seen.append(chunk)
            if until(chunk):
                break
    return seen


Open = Callable[..., App]


def opener(tmp_path: Path, storage: str, *, is_async: bool) -> Open:
    file = tmp_path / "threads.db" if storage == "sqlite" else None

    def open_app(program: StateGraph | Callable[[Any], Any], **settings: Any) -> App:
        if isinstance(program, StateGraph):
            return App(lambda saver: program.compile(checkpointer=saver, **settings), file, is_async=is_async)
        return App(program, file, is_async=is_async)

    return open_app


@pytest.fixture(params=["memory", "sqlite", "memory-async", "sqlite-async"])
def open_app(request, tmp_path) -> Open:
    """Makes an App of a graph, or of a function that takes the saver and returns the program."""
    storage, _, way = request.param.partition("-")
    return opener(tmp_path, storage, is_async=way == "async")


@pytest.fixture(params=["memory", "sqlite"])
def open_async_app(request, tmp_path) -> Open:
    """The same for programs that run only on an event loop."""
    return opener(tmp_path, request.param, is_async=True)


@pytest.fixture
def example() -> Callable[[str], ModuleType]:
    """Loads a program of examples/ by its name."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
