"""How dates, times and time zones are written."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.wire import Decode, Encode, Pack, ext
from signoff.errors import NotStorable

__all__ = ["DECODERS", "ENCODERS"]


def _zone(zone: tzinfo | None) -> Any:
    """A zone as plain values: None, the key of a ZoneInfo, or [microseconds off UTC, name or None]."""
    if zone is None:
        return None
    if type(zone) is timezone:
        return _fixed_zone(zone)
    if type(zone) is ZoneInfo and zone.key:
        return zone.key
    raise NotStorable(
        f"a time zone of type {type(zone).__module__}.{type(zone).__qualname__}. "
        "Use zoneinfo.ZoneInfo or datetime.timezone"
    )


def _fixed_zone(zone: timezone) -> list[Any]:
    offset, name = zone.utcoffset(None), zone.tzname(None)
    given = name if name != timezone(offset).tzname(None) else None
    return [offset // timedelta(microseconds=1), given]


def _make_zone(state: Any) -> tzinfo | None:
    if state is None:
        return None
    if type(state) is str:
        return ZoneInfo(state)
    microseconds, name = state
    offset = timedelta(microseconds=expect(microseconds, int))
    return timezone(offset) if name is None else timezone(offset, name)


def _moment(plain: int, zoned: int) -> Encode:
    """For datetime and time: its ISO text in the common case, else [ISO text without zone, fold, zone]."""

    def encode(obj: Any, pack: Pack) -> Any:
        if (obj.tzinfo is None or obj.tzinfo is UTC) and not obj.fold:
            return ext(plain, obj.isoformat().encode())
        return ext(zoned, pack([obj.replace(tzinfo=None).isoformat(), obj.fold, _zone(obj.tzinfo)]))

    return encode


def _make_moment(read: Callable[[str], Any], state: Any) -> Any:
    text, fold, zone = state
    return read(text).replace(tzinfo=_make_zone(zone), fold=fold)


def _take_timedelta(obj: timedelta) -> list[int]:
    return [obj.days, obj.seconds, obj.microseconds]


def _make_timedelta(state: Any) -> timedelta:
    days, seconds, microseconds = (expect(part, int) for part in state)
    return timedelta(days, seconds, microseconds)


ENCODERS: dict[type, Encode] = {
    datetime: _moment(wire.DATETIME, wire.ZONED_DATETIME),
    time: _moment(wire.TIME, wire.ZONED_TIME),
    date: lambda obj, pack: ext(wire.DATE, obj.isoformat().encode()),
    timedelta: lambda obj, pack: ext(wire.TIMEDELTA, pack(_take_timedelta(obj))),
    timezone: lambda obj, pack: ext(wire.TIMEZONE, pack(_zone(obj))),
    ZoneInfo: lambda obj, pack: ext(wire.ZONE_INFO, pack(_zone(obj))),
}

DECODERS: dict[int, Decode] = {
    wire.DATETIME: lambda payload, load: datetime.fromisoformat(payload.decode()),
    wire.TIME: lambda payload, load: time.fromisoformat(payload.decode()),
    wire.ZONED_DATETIME: lambda payload, load: _make_moment(datetime.fromisoformat, load(payload)),
    wire.ZONED_TIME: lambda payload, load: _make_moment(time.fromisoformat, load(payload)),
    wire.DATE: lambda payload, load: date.fromisoformat(payload.decode()),
    wire.TIMEDELTA: lambda payload, load: _make_timedelta(load(payload)),
    wire.TIMEZONE: lambda payload, load: _make_zone(expect(load(payload), list)),
    wire.ZONE_INFO: lambda payload, load: _make_zone(expect(load(payload), str)),
}
