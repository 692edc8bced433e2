"""The house: imports go down the stairs, drivers of databases stay in their rooms, pieces stay small."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "signoff"
FILES = sorted(SOURCE.rglob("*.py"))

FLOORS = {
    "cli": 5, "server": 5, "web": 5, "__main__": 5,
    "inbox": 4, "agents": 4, "prebuilt": 4, "workers": 4, "testing": 4,
    "graph": 3, "func": 3, "pregel": 3,
    "drivers": 2, "bridge": 2, "stream": 2,
    "engine": 1, "checkpoint": 1, "store": 1, "cache": 1, "_sqlite": 1, "_postgres": 1, "_redis": 1,
    "types": 1, "_snapshots": 1, "_stream_parts": 1,
    "constants": 0, "errors": 0, "runtime": 0, "config": 0, "channels": 0, "managed": 0, "steps": 0, "_veils": 0,
    "_annotations": 0, "_reprs": 0, "_scope": 0, "_extras": 0, "_forks": 0, "_loops": 0, "_locks": 0, "callbacks": 0,
    "_diffs": 0, "_elsewhere": 0, "_words": 0, "utils": 0, "version": 0, "warnings": 0, "forms": 0, "typing": 0,
    "_clocks": 0, "_copies": 0, "_ambient": 0, "_internal": 0, "_texts": 0, "_tuples": 0,
    "_modules": 0,
}  # fmt: skip

STAIRS = {
    "engine": ("planning", "storing", "attempts", "showing", "calls", "stepping", "threads", "updates"),
    "drivers": ("saving", "host", "calls", "scopes", "tasks", "sync", "ending", "aio"),
}
"""What is inside of a room, where each stands on those before it. Files that are not named are under all of them."""

MAY_ENTER = {
    "hypothesis": ("testing/conformance",),
    "sqlite3": ("_sqlite", "checkpoint/sqlite", "store/sqlite", "cache/sqlite"),
    "aiosqlite": ("_sqlite", "checkpoint/sqlite", "store/sqlite"),
    "psycopg": ("_postgres", "checkpoint/postgres", "store/postgres"),
    "psycopg_pool": ("_postgres", "checkpoint/postgres", "store/postgres"),
    "redis": ("_redis", "checkpoint/redis", "store/redis"),
    "msgpack": ("checkpoint/serde", "checkpoint/encoding.py"),
    "numpy": ("checkpoint/serde", "store/_vectors.py"),
    "langchain_core": (
        "bridge", "graph/message.py", "prebuilt", "agents", "checkpoint/serde/langchain.py", "callbacks.py",
    ),
    "langchain": ("store/base/embed.py", "prebuilt/models.py"),
    "jsonschema": ("forms",), "jsonschema_specifications": ("forms",), "referencing": ("forms",),
    "pydantic_core": ("forms",),
    "typer": ("cli",), "rich": ("cli",), "prompt_toolkit": ("cli",),
    "fastapi": ("server", "web"), "starlette": ("server", "web"),
    "langgraph": (),
}  # fmt: skip
"""Where a third-party package may be imported; one that is not here may be imported nowhere but as listed below."""

EVERYWHERE = {"typing_extensions", "pydantic", "cryptography", "annotationlib"}
"""Small, or loaded only inside of the functions that need them (tests/test_light.py checks that).

annotationlib is Python's own, since 3.14.
"""

TOP = {"signoff"}


def place(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def room(path: Path) -> str:
    return place(path).split("/")[0].removesuffix(".py")


@cache
def imports(path: Path) -> list[str]:
    """The modules that a file imports when it runs: not those for the type checker only."""
    modules = []
    for node in _running_code(tree_of(path)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place(path)} imports relatively"
            modules.append(str(node.module))
    return modules


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _running_code(tree: ast.AST) -> Iterator[ast.stmt]:
    """Its statements, however deep; an import is never inside of an expression."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.stmt):
            yield node
        todo += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]


def test_imports_go_down_the_stairs():
    for path in (file for file in FILES if room(file) in FLOORS):
        for module in imports(path):
            if module.startswith("signoff."):
                target = module.split(".")[1]
                assert FLOORS[target] <= FLOORS[room(path)], f"{place(path)} imports {target}"


@pytest.mark.parametrize("house", STAIRS)
def test_imports_go_down_the_stairs_inside_of_a_room(house):
    def floor(part: str) -> int:
        return STAIRS[house].index(part) if part in STAIRS[house] else -1

    for path in (file for file in FILES if room(file) == house):
        own = floor(place(path).split("/")[1].removesuffix(".py"))
        for module in imports(path):
            if module.startswith(f"signoff.{house}."):
                assert floor(module.split(".")[2]) <= own, f"{place(path)} imports {module}"


@pytest.mark.parametrize("house", STAIRS)
def test_every_room_inside_of_a_room_has_a_floor(house):
    rooms = {place(file).split("/")[1] for file in FILES if room(file) == house}
    assert {name for name in rooms if not name.endswith(".py")} <= {*STAIRS[house]}


def test_every_room_has_a_floor():
    assert {room(file) for file in FILES} - {"__init__"} <= FLOORS.keys()


def test_the_engine_knows_the_shape_of_a_checkpoint_and_no_backend():
    allowed = ("signoff.checkpoint.base", "signoff.checkpoint.serde")
    for path in (file for file in FILES if room(file) == "engine"):
        for module in imports(path):
            is_foreign = module.startswith(("signoff.checkpoint", "signoff.store", "signoff.cache", "signoff.drivers"))
            assert not is_foreign or module.startswith(allowed), f"{place(path)} imports {module}"


def test_the_engine_has_no_io_clock_thread_or_luck():
    impure = {"time", "random", "threading", "asyncio", "os", "socket", "uuid", "secrets", "queue", "concurrent"}
    for path in (file for file in FILES if room(file) == "engine"):
        found = {module.split(".")[0] for module in imports(path)} & impure
        assert not found, f"{place(path)} imports {found}"


def test_third_party_packages_stay_in_their_rooms():
    for path, module in ((path, module) for path in FILES for module in imports(path)):
        package = module.split(".")[0]
        if package in sys.stdlib_module_names - MAY_ENTER.keys() or package in EVERYWHERE | TOP:
            continue
        assert package in MAY_ENTER, f"{place(path)} imports {package}, which this house does not know"
        assert place(path).startswith(MAY_ENTER[package]), f"{place(path)} imports {package}"


def test_rooms_do_not_know_each_other_in_a_circle():
    """Not even for the type checker: whoever takes a room out takes out what stands on it, and nothing else."""
    known = {one: set[str]() for one in {room(file) for file in FILES}}
    for path in FILES:
        froms = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ImportFrom)]
        named = [f"{node.module}.{alias.name}" for node in froms for alias in node.names]
        known[room(path)] |= {name.split(".")[1] for name in named if name.startswith("signoff.")} - {room(path)}
    while ground := [one for one in known if not known[one]]:
        known = {one: rooms.difference(ground) for one, rooms in known.items() if one not in ground}
    assert known == {}, "these rooms stand on each other"


@cache
def functions() -> list[tuple[int, str]]:
    return [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{place(path)}:{node.name}")
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_most_functions_fit_in_ten_lines():
    assert median(length for length, _ in functions()) <= 10


def test_no_function_is_longer_than_a_screen():
    assert [name for length, name in functions() if length > 60] == []


def test_files_are_short():
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: length for name, length in lengths.items() if length > 400} == {}
    assert median(lengths.values()) <= 250


def test_names_say_something():
    vague = {"utils", "util", "common", "helpers", "manager", "data", "info", "misc"}
    found = {place(path) for path in FILES if path.stem.strip("_") in vague}
    assert found == {"utils.py", "agents/backends/utils.py"}  # tell whoever looks for those of others where things are


def test_the_words_of_users_are_named_after_the_module_that_users_know():
    """Wherever they are defined: what is pickled, stored or shown must not say that."""
    from signoff import types

    words = [getattr(types, name) for name in types.__all__ if not name.endswith(("Part", "Payload", "CheckpointTask"))]
    homes = {word.__name__: word.__module__ for word in words if getattr(word, "__module__", "").startswith("signoff")}
    assert homes.keys() >= {"Command", "Interrupt", "RetryPolicy", "Send", "StateSnapshot", "interrupt"}
    assert set(homes.values()) == {"signoff.types"}


def test_locks_are_those_that_no_signal_leaves_taken():
    """See `_locks`: a lock of `threading` is left taken by a signal in one version of Python."""
    others = [place(path) for path in FILES if re.search(r"\bthreading\b.*\bR?Lock\b", path.read_text())]
    assert others == ["_locks.py"]
