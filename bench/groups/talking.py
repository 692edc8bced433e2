"""Rows of conversations that grow."""

from functools import partial

from bench.cases import Case, Comparison, Figure, Growth, Limit
from bench.programs import histories
from bench.programs.histories import DELTA, LIST
from bench.storage import MEMORY, POSTGRES


def history_rows() -> list[Case]:
    """Turns, warm and cold, and what they store."""
    return [*_turns(), *_cold(), *_bytes()]


def _turns() -> list[Case]:
    late = partial(Comparison, rounds=9, is_counted=False)
    thousandth = partial(histories.warm_turn, turns=1000)
    return [
        Comparison("turn 10, SQLite", histories.early_turn),
        late("turn 100, SQLite", partial(histories.warm_turn, turns=100)),
        late("turn 1,000, SQLite", thousandth, must=60, stretch=150),
        late("turn 1,000, SQLite, against DeltaChannel", partial(thousandth, chat=DELTA), must=30, stretch=90),
        late("turn 1,000, SQLite, plain list", partial(thousandth, chat=LIST)),
        late("turn 1,000, memory", partial(thousandth, kind=MEMORY)),
        late("turn 1,000, Postgres", partial(thousandth, kind=POSTGRES)),
        Growth("turn 1,000, against turn 10, SQLite", histories.early_turn, thousandth, must=1.3, rounds=9),
    ]


def _cold() -> list[Case]:
    read, turn = histories.cold_read, histories.cold_turn
    late = partial(Comparison, rounds=9, is_counted=False)
    return [
        Comparison("cold read at turn 10, messages", partial(read, turns=10), is_counted=False),
        Comparison("cold read at turn 100, messages", partial(read, turns=100), is_counted=False),
        late("cold read at turn 1,000, messages", partial(read, turns=1000), must=5, stretch=10),
        late("cold read at turn 1,000, against DeltaChannel", partial(read, turns=1000, chat=DELTA)),
        late("cold read at turn 1,000, plain list", partial(read, turns=1000, chat=LIST), must=1, stretch=2),
        late("cold read at turn 1,000, messages, Postgres", partial(read, turns=1000, kind=POSTGRES)),
        late("cold turn 10, messages", partial(turn, turns=10)),
        late("cold turn 100, messages", partial(turn, turns=100)),
        late("cold turn 1,000, messages", partial(turn, turns=1000)),
    ]


def _bytes() -> list[Case]:
    size = histories.bytes_per_turn
    return [
        Figure("bytes per turn at turn 1,000", "bytes", partial(size, turns=1000), must=300, stretch=700, rounds=1),
        Figure(
            "bytes per turn at turn 1,000, against DeltaChannel",
            "bytes",
            partial(size, turns=1000, chat=DELTA),
            must=4,
            stretch=8,
            rounds=1,
        ),
        Figure("bytes per turn at turn 1,000, Postgres", "bytes", partial(size, turns=1000, kind=POSTGRES)),
        Limit("bytes per turn, in raw bytes, SQLite", "x", histories.bytes_in_raw_bytes, must=3, rounds=1),
        Limit(
            "bytes per turn, in raw bytes, Postgres",
            "x",
            partial(histories.bytes_in_raw_bytes, kind=POSTGRES),
            must=3,
            rounds=1,
        ),
        Limit("bytes per turn at turn 1,000, against turn 10", "x", histories.growth_of_bytes, must=1.2, rounds=1),
    ]
