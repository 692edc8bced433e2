"""Dates, times and time zones come back equal, with their zone and fold."""

from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from signoff.checkpoint.serde.codec import dumps
from signoff.errors import NotStorable

PARIS = ZoneInfo("Europe/Paris")
INDIA = timezone(timedelta(hours=5, minutes=30))
NAMED = timezone(timedelta(hours=-3), "BRT")
ODD = timezone(timedelta(hours=1, seconds=7, microseconds=11))

MOMENTS = [
    datetime(2024, 2, 29, 12, 30, 15, 123456),
    datetime.min,
    datetime.max,
    datetime(2024, 1, 1, tzinfo=UTC),
    datetime(2024, 1, 1, tzinfo=INDIA),
    datetime(2024, 1, 1, tzinfo=NAMED),
    datetime(2024, 1, 1, tzinfo=ODD),
    datetime(2024, 7, 1, tzinfo=PARIS),
    datetime(2024, 10, 27, 2, 30, tzinfo=PARIS),
    datetime(2024, 10, 27, 2, 30, tzinfo=PARIS, fold=1),
    datetime(2024, 3, 31, 2, 30, tzinfo=PARIS),
    datetime(2024, 10, 27, 2, 30, fold=1),
    time(1, 2, 3, 4),
    time(1, 2, tzinfo=UTC),
    time(1, 2, tzinfo=NAMED),
    time(1, 2, tzinfo=PARIS),
    time(1, 2, fold=1),
    time.max,
]


@pytest.mark.parametrize("moment", MOMENTS, ids=repr)
def test_a_moment_comes_back_with_zone_and_fold(again, moment):
    loaded = again(moment)
    assert loaded.fold == moment.fold
    assert loaded.replace(tzinfo=None) == moment.replace(tzinfo=None)
    assert type(loaded.tzinfo) is type(moment.tzinfo)
    assert loaded.tzname() == moment.tzname()
    assert loaded.utcoffset() == moment.utcoffset()


@pytest.mark.parametrize(
    "value",
    [
        date.min,
        date.max,
        timedelta.min,
        timedelta.max,
        timedelta(days=-1, microseconds=5),
        UTC,
        INDIA,
        NAMED,
        PARIS,
    ],
    ids=repr,
)
def test_dates_durations_and_zones_come_back(again, value):
    again(value)


def test_the_common_zone_is_the_very_same_object(again):
    assert again(datetime.now(UTC)).tzinfo is UTC
    assert again(datetime.now(PARIS)).tzinfo is PARIS


class HomeMade(tzinfo):
    def utcoffset(self, moment):
        return timedelta(hours=1)


def test_a_zone_of_another_library_is_refused_with_the_path():
    with pytest.raises(NotStorable, match=r"values\.due: a time zone of type .*HomeMade.*Use zoneinfo\.ZoneInfo"):
        dumps({"due": datetime(2024, 1, 1, tzinfo=HomeMade())})


class Moment(datetime):
    pass


def test_a_subclass_of_datetime_is_not_flattened():
    with pytest.raises(NotStorable, match=r"values\[0\]: .*Moment is a subclass of datetime"):
        dumps([Moment(2024, 1, 1)])
