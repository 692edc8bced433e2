"""Between items and rows: how namespaces, values and times are written down."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from signoff._sqlite.effects import Row
from signoff.errors import NotStorable
from signoff.store.base import Item, SearchItem

__all__ = ["COLUMNS", "as_item", "as_namespace", "as_search_item", "as_text", "encoded"]

COLUMNS = "id, namespace, key, value, created_at, updated_at, ttl_minutes"

Load = Callable[[str], dict[str, Any]]


def as_text(namespace: tuple[str, ...]) -> str:
    """A namespace as it is stored."""
    return ".".join(namespace)


def as_namespace(text: str) -> tuple[str, ...]:
    """A stored namespace as its labels."""
    return tuple(text.split("."))


def as_item(row: Row, load: Load) -> Item:
    """The item in a row of COLUMNS."""
    return Item(namespace=as_namespace(row[1]), key=row[2], **_shown(row, load))


def as_search_item(row: Row, load: Load, score: float | None) -> SearchItem:
    """The found item in a row of COLUMNS."""
    return SearchItem(as_namespace(row[1]), row[2], **_shown(row, load), score=score)


def encoded(value: Mapping[str, Any], key: str) -> str:
    """A value as JSON that comes back equal, or an error that names the field that would not."""
    _check(value, "value", key)
    text = json.dumps(value if isinstance(value, dict) else dict(value), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair is no text for SQLite, but can be spelt out in JSON
        return json.dumps(dict(value))
    return text


def _shown(row: Row, load: Load) -> dict[str, Any]:
    return {
        "value": load(row[3]),
        "created_at": datetime.fromtimestamp(row[4], UTC),
        "updated_at": datetime.fromtimestamp(row[5], UTC),
    }


def _check(value: object, path: str, key: str) -> None:
    if isinstance(value, Mapping) and (path == "value" or isinstance(value, dict)):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise NotStorable(f"{path} of {key!r} has the key {name!r}: use strings as keys of a dict.")
            _check(inner, f"{path}[{name!r}]", key)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            _check(inner, f"{path}[{at}]", key)
    elif value is not None and not isinstance(value, str | int | float):
        raise NotStorable(
            f"{path} of {key!r} is a {type(value).__name__}, which would not come back equal from JSON: "
            "store a dict, list, string, number, bool or None."
        )
