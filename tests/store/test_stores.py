"""What every store promises, on every store."""

import pytest

from signoff.testing.conformance import stores


@pytest.mark.parametrize("check", stores.CHECKS, ids=str)
def test_the_promise(check, world):
    check(world)
