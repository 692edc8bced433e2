"""Runs that a signal is heard in, and that must end."""

import signal

import pytest


class Stuck(BaseException):
    """The run does not end."""


@pytest.fixture
def not_for_ever():
    def give_up(*_):
        raise Stuck

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(50)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
