"""What the checks of a saver or a store say about one that lacks something."""

import subprocess
import sys

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.testing.conformance import savers


class WithoutCopies:
    """A saver that has only what it is asked for most."""

    def __init__(self):
        inner = InMemorySaver()
        self.put, self.put_writes, self.get_tuple, self.list = inner.put, inner.put_writes, inner.get_tuple, inner.list
        self.serde = inner.serde


class Forgets(InMemorySaver):
    def get_tuple(self, config):
        return None


class TakesNoPath(InMemorySaver):
    def put_writes(self, config, writes):
        raise AssertionError("never called")


def failures(saver):
    """What each check that fails says, by its name."""
    said = {}
    for check in savers.CHECKS:
        try:
            check(savers.World(saver))
        except AssertionError as error:
            said[check.name] = str(error)
    return said


@pytest.mark.parametrize(
    ("saver", "lack"),
    [
        (WithoutCopies, "WithoutCopies has no 'delete_thread'"),
        (Forgets, "it returned None, and not something with 'checkpoint'"),
        (TakesNoPath, "positional argument"),
    ],
)
def test_a_check_that_fails_says_its_name_and_what_the_saver_lacks(saver, lack):
    said = failures(saver)
    assert any(lack in text and text.startswith(f"{name}: ") for name, text in said.items()), said


def test_checks_that_python_leaves_out_are_not_passed():
    checked = (
        "from signoff.checkpoint.memory import InMemorySaver\n"
        "from signoff.testing.conformance import savers\n"
        "savers.CHECKS[0](savers.World(InMemorySaver))"
    )
    ran = subprocess.run([sys.executable, "-O", "-c", checked], capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "InvalidInput: python -O leaves out" in ran.stderr
