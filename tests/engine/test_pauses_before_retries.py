"""How long a node that has failed is left alone before it is tried again."""

from signoff.engine.retrying import pause_before
from signoff.types import RetryPolicy


def test_the_first_pause_is_the_initial_interval_and_each_is_longer_up_to_the_longest():
    policy = RetryPolicy(initial_interval=1.5, backoff_factor=2, max_interval=5)
    assert [pause_before(policy, tries) for tries in (1, 2, 3, 4)] == [1.5, 3.0, 5, 5]
