"""Every promise is tried sync and async, in memory and in SQLite; in files that say ON_SERVERS, in each of the ways."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from signoff.drivers.saving import holding
from signoff.graph import StateGraph

from .desk import Place
from .ways import ONE_SERVER, SERVER_WAYS, STORAGES, WAYS, AnyApp, OnServer

Open = Callable[..., AnyApp]


def opener(folder: Path, way: str) -> Open:
    """Makes an app of a graph, or of a function that takes the saver and returns the program. All share a saver."""
    name, _, driver = way.partition("-")
    return on_storage(STORAGES[name](folder), driver)


def on_storage(storage: Any, driver: str) -> Open:
    """The same on a storage that is there."""

    def open_app(program: Any, *, lease_s: Any = None, clock: Any = None, **settings: Any) -> AnyApp:
        leases = {name: value for name, value in (("lease_s", lease_s), ("clock", clock)) if value is not None}
        if clock is not None:
            leases["renew"] = lambda lease: None  # signs of life come in real time, and would be dated by this clock
        compile = _compiling(program, settings) if isinstance(program, StateGraph) else program
        return AnyApp(compile, storage, is_async=driver == "async", **leases)

    return open_app


def _compiling(graph: StateGraph, settings: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda saver: graph.compile(checkpointer=saver, **settings)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of files that name SERVER_WAYS as ON_SERVERS, or some of them, run on servers, too; or on ONE_SERVER.

    The others run in memory, and in SQLite in one of two ways, some of them in the one and some in the other. So it is
    with the savers that are called in the other way.
    """
    if "open_app" in metafunc.fixturenames:
        turn = crc32(metafunc.function.__name__.encode()) % 2
        servers = getattr(metafunc.module, "ON_SERVERS", [])
        in_file = ["sqlite-sync", "sqlite_aio-async"]
        in_file = [*in_file, ["sqlite-async", "sqlite_aio-sync"][turn]] if servers else [in_file[turn]]
        on_servers = [servers[turn]] if servers is ONE_SERVER else servers
        metafunc.parametrize("open_app", ["memory-sync", "memory-async", *in_file, *on_servers], indirect=True)


@pytest.fixture
def open_app(request: Any, tmp_path: Path) -> Open:
    """Makes an app in one of the ways; the test runs in all of them."""
    name, _, driver = request.param.partition("-")
    if request.param in SERVER_WAYS:
        return on_storage(OnServer(place_on(name, request)), driver)
    return opener(tmp_path, request.param)


@pytest.fixture(params=WAYS)
def open_app_with_clock(request: Any, tmp_path: Path) -> Open:
    """The same on savers that go by a clock that a test can set; servers go by their own."""
    return opener(tmp_path, request.param)


@pytest.fixture(params=[way for way in WAYS if way.endswith("async")])
def open_async_app(request: Any, tmp_path: Path) -> Open:
    """The same for programs that run only on an event loop."""
    return opener(tmp_path, request.param)


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def place(request: Any) -> Place:
    """Where processes keep their threads; for SQLite, a file in the folder of the test."""
    return () if request.param == "sqlite" else place_on(request.param, request)


@pytest.fixture
def every_place(request: Any) -> list[Place]:
    """All of them, for what takes its time."""
    return [(), place_on("postgres", request), place_on("redis", request)]


@pytest.fixture(params=["postgres", "redis"])
def server_place(request: Any) -> Place:
    """The same on a server."""
    return place_on(request.param, request)


def place_on(server: str, request: Any) -> Place:
    """A place of the test's own on a server."""
    if server == "postgres":
        return "postgres", request.getfixturevalue("saver_url")
    return "redis", request.getfixturevalue("redis_url"), request.getfixturevalue("redis_prefix")


@pytest.fixture(autouse=True)
def nobody_holds_a_thread():
    """Runs that are over are forgotten, however they ended."""
    before = set(holding._held)
    yield
    assert set(holding._held) <= before
