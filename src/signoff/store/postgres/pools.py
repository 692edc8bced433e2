"""Pools of a store: connections at an address, as many as a config says."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict, TypeVar

from signoff._postgres.sources import checked_address
from signoff.errors import InvalidInput

__all__ = ["PoolConfig", "pool_at"]

PoolT = TypeVar("PoolT")


class PoolConfig(TypedDict, total=False):
    """How big a pool of connections is, and how each is opened."""

    min_size: int
    max_size: int | None
    kwargs: dict[str, Any]


def pool_at(conn_string: str, config: PoolConfig, kind: Callable[..., PoolT]) -> PoolT:
    """A pool of a kind, not open yet."""
    address = checked_address(conn_string)
    if not isinstance(config, Mapping):
        raise InvalidInput(f"pool_config={config!r}: give a dict, such as {{'min_size': 1, 'max_size': 10}}, or None.")
    try:
        return kind(address, open=False, **config)
    except (TypeError, ValueError) as error:
        # The settings are not shown: there may be a password among them.
        raise InvalidInput(
            f"No pool can be made with this pool_config ({error}): give min_size, max_size and kwargs, or other "
            "settings of psycopg_pool."
        ) from error
