"""Where runs are kept: the shape of a checkpoint, its serialisation and the savers."""

from typing import NoReturn

from signoff._elsewhere import OF_SAVERS, tell_where


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_SAVERS)
