"""Lifetimes: when an item expires, and from when on it is no longer seen."""

import math
import threading
from collections.abc import Mapping
from typing import Any

from signoff.errors import InvalidInput
from signoff.store.base import TTLConfig

__all__ = [
    "SWEEP_INTERVAL_MINUTES",
    "check_minutes",
    "check_ttl_config",
    "expiry",
    "horizon",
    "refreshed",
    "sweep_interval_s",
    "timeout_s",
]

SWEEP_INTERVAL_MINUTES = 5.0

_MOST_MINUTES = 1e300
"""For good, in other words, and still a number when it is told in seconds."""


def expiry(ttl_minutes: float | None, now: float) -> float | None:
    """When an item put, or refreshed, now is over; None if never."""
    return None if ttl_minutes is None else now + ttl_minutes * 60


def refreshed(expires_at: float | None, ttl_minutes: float | None, now: float) -> float | None:
    """When an item that is read now is over: no earlier than before, though the clock may be behind that of the put."""
    anew = expiry(ttl_minutes, now)
    return anew if anew is None or expires_at is None else max(anew, expires_at)


def horizon(config: TTLConfig | None, now: float) -> float:
    """What expired at this time or before is not seen."""
    return now if (config or {}).get("omit_expired", True) else -math.inf


def sweep_interval_s(config: TTLConfig | None, minutes: float | None) -> float:
    """Seconds between two sweeps: as asked, else as configured, else the default."""
    if minutes is None:
        minutes = (config or {}).get("sweep_interval_minutes")
    if minutes is None:
        minutes = SWEEP_INTERVAL_MINUTES
    check_minutes("sweep_interval_minutes", minutes)
    return min(minutes * 60, threading.TIMEOUT_MAX)


def check_ttl_config(config: TTLConfig | None) -> TTLConfig | None:
    """The config as it is; a misspelt setting would silently keep items for good, so it is refused."""
    if config is None:
        return None
    if not isinstance(config, Mapping):
        raise InvalidInput(f"ttl={config!r}: give a dict, such as {{'default_ttl': 60}}, or None.")
    for name, setting in config.items():
        if name not in TTLConfig.__optional_keys__:
            known = ", ".join(sorted(TTLConfig.__optional_keys__))
            raise InvalidInput(f"ttl has no setting {name!r}; it has {known}.")
        if name in ("default_ttl", "sweep_interval_minutes") and setting is not None:
            check_minutes(name, setting)
    return config


def timeout_s(timeout: float | None) -> float | None:
    """Seconds to wait at most, no more than a thread can; None for as long as it takes."""
    if timeout is None:
        return None
    if not isinstance(timeout, int | float) or timeout != timeout:  # NaN would end the event loop
        raise InvalidInput(f"timeout={timeout!r}: give seconds as a number, or None to wait for as long as it takes.")
    return max(0.0, min(timeout, threading.TIMEOUT_MAX))


def check_minutes(name: str, minutes: Any) -> None:
    """Refuse a time that is not a positive number of minutes."""
    is_number = isinstance(minutes, int | float) and not isinstance(minutes, bool)
    if not is_number or not 0 < minutes <= _MOST_MINUTES:
        raise InvalidInput(f"{name}={minutes!r}: give minutes as a number above 0, or None for no end.")
