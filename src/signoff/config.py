"""Configs as plain dicts, and what a running node can ask for: its config, store and stream writer."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from signoff import _scope

if TYPE_CHECKING:
    from signoff.store.base import BaseStore

__all__ = ["RunnableConfig", "StreamWriter", "get_config", "get_store", "get_stream_writer", "merge_configs"]

StreamWriter = Callable[[Any], None]
"""What a node writes its own words to; they arrive in the `custom` stream."""


class RunnableConfig(TypedDict, total=False):
    """The same shape as LangChain's: what a call is told beside its input."""

    tags: list[str]
    metadata: dict[str, Any]
    callbacks: Any
    run_name: str
    run_id: Any
    max_concurrency: int | None
    recursion_limit: int
    configurable: dict[str, Any]


ConfigLike = RunnableConfig | Mapping[str, Any]
"""A config as callers have it: mostly a dict that no annotation calls a config, or LangChain's."""


def get_config() -> RunnableConfig:
    """The config of the node or task that is running."""
    config: RunnableConfig = _scope.current("get_config()").config
    return config


def get_store() -> "BaseStore":
    """The store that the running graph was compiled with."""
    store: BaseStore = _scope.current("get_store()").runtime.store
    return store


def get_stream_writer() -> StreamWriter:
    """What to call with a value that should appear in the `custom` stream."""
    writer: StreamWriter = _scope.current("get_stream_writer()").writer
    return writer


def merge_configs(*configs: ConfigLike | None) -> RunnableConfig:
    """One config out of several: later ones win; tags, metadata and configurable are joined."""
    merged: dict[str, Any] = {}
    for config in configs:
        for name, value in (config or {}).items():
            if value is not None:
                merged[name] = _joined(name, merged[name], value) if name in merged else value
    return merged  # type: ignore[return-value]


CONFIG_KEYS = frozenset(RunnableConfig.__annotations__)
"""What a config has of its own; all else in it is the program's."""


def gathered(config: ConfigLike) -> RunnableConfig:
    """A config whose own settings are all under `configurable`: a thread_id may also be written beside it."""
    own = {name: value for name, value in config.items() if name not in CONFIG_KEYS}
    known: dict[str, Any] = {name: value for name, value in config.items() if name in CONFIG_KEYS}
    return {**known, "configurable": {**(known.get("configurable") or {}), **own}}  # type: ignore[typeddict-item]


_SHOWN = ("thread_id", "checkpoint_id", "checkpoint_ns", "task_id", "run_id", "assistant_id", "graph_id")
"""What streams and traces show of the `configurable` part of a config."""


def shown_metadata(config: RunnableConfig) -> dict[str, Any]:
    """The metadata of a config, as streams and traces show it: with where the call belongs."""
    return {**shown_place(config), **(config.get("metadata") or {})}


def shown_place(config: RunnableConfig) -> dict[str, Any]:
    """What a config says about where a call belongs, for its metadata; what the caller says there himself stands."""
    place, own = config.get("configurable") or {}, config.get("metadata") or {}
    said = {name: place.get(name) for name in _SHOWN if name not in own}
    return {name: value for name, value in said.items() if value and isinstance(value, str | int)}


def shown_tags(tags: Iterable[str] | None) -> list[str]:
    """Tags as streams show them: without those that LangChain gives to the parts of a chain."""
    return [tag for tag in tags or () if not tag.startswith("seq:step")]


def _joined(name: str, first: Any, second: Any) -> Any:
    match name:
        case "metadata" | "configurable":
            return {**first, **second}
        case "tags":
            return [*first, *(tag for tag in second if tag not in first)]
        case "callbacks":
            return _joined_callbacks(first, second)
    return second


def _joined_callbacks(first: Any, second: Any) -> Any:
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return [*first, *second]
    manager, handlers = (second, first) if isinstance(first, list | tuple) else (first, second)
    manager = manager.copy()
    for handler in getattr(handlers, "handlers", handlers):
        manager.add_handler(handler, inherit=True)
    return manager
