"""Numbers in order, as near as can be to where they want to be."""

from collections.abc import Sequence
from itertools import accumulate
from math import floor

__all__ = ["fit", "fit_between", "spread"]


def fit(wanted: Sequence[float], weights: Sequence[float], steps: Sequence[int]) -> list[int]:
    """The positions nearest to the wanted ones (by weighted squares) that keep their order and distance.

    `steps[i]` is the least distance from position i to position i + 1. (Isotonic regression: neighbours that
    are too near are pooled and moved together.)
    """
    offsets = [0, *accumulate(steps)][: len(wanted)]
    pools: list[tuple[float, float, int]] = []  # weighted sum, weight, how many
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        pools.append(((want - offset) * weight, weight, 1))
        while len(pools) > 1 and _mean(pools[-2]) >= _mean(pools[-1]):
            later, earlier = pools.pop(), pools.pop()
            pools.append((earlier[0] + later[0], earlier[1] + later[1], earlier[2] + later[2]))
    # One rounded mean per pool keeps the distances, since the offsets are whole numbers.
    means = [floor(_mean(pool) + 0.5) for pool in pools for _ in range(pool[2])]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def fit_between(wanted: Sequence[float], weights: Sequence[float], step: int, low: int, high: int) -> list[int]:
    """Positions near the wanted ones, `step` apart, from low to high, which must have room for them."""
    last = len(wanted) - 1
    assert high - low >= step * last, "a side has room for the lines that touch it"
    free = fit(wanted, weights, [step] * last)
    return [min(max(at, low + step * i), high - step * (last - i)) for i, at in enumerate(free)]


def spread(count: int, low: int, high: int) -> list[float]:
    """`count` positions at equal distances, around the middle of low and high."""
    return [low + (high - low) * (2 * index + 1) / (2 * count) for index in range(count)]


def _mean(pool: tuple[float, float, int]) -> float:
    return pool[0] / pool[1]
