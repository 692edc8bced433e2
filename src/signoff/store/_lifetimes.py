"""Lifetimes: when an item expires, and from when on it is no longer seen."""

import math
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
]

SWEEP_INTERVAL_MINUTES = 5.0


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
    return minutes * 60


def check_ttl_config(config: TTLConfig | None) -> TTLConfig | None:
    """The config as it is; a misspelt setting would silently keep items for good, so it is refused."""
    for name, setting in (config or {}).items():
        if name not in TTLConfig.__optional_keys__:
            known = ", ".join(sorted(TTLConfig.__optional_keys__))
            raise InvalidInput(f"ttl has no setting {name!r}; it has {known}.")
        if name in ("default_ttl", "sweep_interval_minutes") and setting is not None:
            check_minutes(name, setting)
    return config


def check_minutes(name: str, minutes: Any) -> None:
    """Refuse a time that is not a positive number of minutes."""
    is_number = isinstance(minutes, int | float) and not isinstance(minutes, bool)
    if not is_number or not math.isfinite(minutes) or minutes <= 0:
        raise InvalidInput(f"{name}={minutes!r}: give minutes as a number above 0, or None for no end.")
