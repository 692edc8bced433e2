"""The counts of the gate as rows of the table."""

from collections.abc import Iterator

from bench.gate import LIMITS, counted
from bench.rows import Row

GROUP = "counts"


def rows() -> Iterator[Row]:
    """What signoff needs of what does not depend on the machine."""
    for name, count in counted().items():
        limit = LIMITS[name]
        yield Row(GROUP, name, count, None, limit.what, limit.most, is_limit=True)
