"""What all tests may use: real servers."""

import pytest

pytest_plugins = ["servers.plugin"]

# The checks of the conformance suite fail by plain asserts, which pytest explains if it is told to.
pytest.register_assert_rewrite("signoff.testing.conformance")
