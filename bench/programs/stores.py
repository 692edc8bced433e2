"""Stores: an item put, read, and found among many."""

from importlib import import_module
from typing import Any

from bench.library import Library
from bench.measuring import Work

MANY = 1000
FOUND = {"kind": "k7"}


def put_item(lib: Library, module: str) -> Work:
    """An item that is written over."""
    store = _store(lib, module)
    return Work(lambda: store.put(("notes", "0"), "0", _note(0)))


def get_item(lib: Library, module: str) -> Work:
    """An item that is read."""
    store = _store(lib, module)
    return Work(lambda: store.get(("notes", "0"), "0"))


def found_items(lib: Library, module: str) -> Work:
    """A page of what a filter lets pass, out of a thousand items."""
    store = _store(lib, module)

    def search() -> None:
        assert len(store.search(("notes",), filter=FOUND)) == 10, "a page of them"

    return Work(search)


def _store(lib: Library, module: str) -> Any:
    home = import_module(f"{lib.root}.store.{module}")
    if module == "memory":
        store = home.InMemoryStore()
    else:
        store = lib.enter(home.SqliteStore.from_conn_string(":memory:"))
        store.setup()
    for number in range(MANY):
        store.put(("notes", str(number % 10)), str(number), _note(number))
    return store


def _note(number: int) -> dict[str, Any]:
    return {"text": "x" * 50, "kind": f"k{number % 50}", "number": number}
