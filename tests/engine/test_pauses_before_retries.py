"""How long a node that has failed is left alone before it is tried again."""

import pytest

from signoff.engine.attempts.retries import pause_before
from signoff.types import RetryPolicy


def test_the_first_pause_is_the_initial_interval_and_each_is_longer_up_to_the_longest():
    policy = RetryPolicy(initial_interval=1.5, backoff_factor=2, max_interval=5)
    assert [pause_before(policy, tries) for tries in (1, 2, 3, 4)] == [1.5, 3.0, 5, 5]


@pytest.mark.parametrize("factor", [2, 2.0])
def test_a_node_may_be_tried_again_for_days(factor):
    """By then the pause would be greater than any number that there is."""
    policy = RetryPolicy(initial_interval=0.5, backoff_factor=factor, max_interval=1)
    assert pause_before(policy, 100_000) == 1
    assert pause_before(policy._replace(initial_interval=0), 100_000) == 0
