"""Signals whose handlers raise, heard at chosen moments.

Python hears signals when a function begins, and when one that is written in C has returned. A profiler is told of the
same moments, and what it raises arises there.
"""

import dis
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType

_PROJECT = str(Path(__file__).parents[1])


class Interrupted(BaseException):
    """What the handler of a signal raises."""


def interrupted_at(number: int, files: Sequence[str], call: Callable[[], object]) -> bool:
    """Make a call, and have a signal heard at the n-th moment of files whose paths have one of these in them.

    The paths are those inside of the project, wherever that lies. Returns whether there was such a moment.
    """
    left = number
    known: dict[CodeType, bytes | None] = {}

    def hear(frame: FrameType, event: str, argument: object) -> None:
        nonlocal left
        code = frame.f_code
        if code not in known:
            path = code.co_filename.removeprefix(_PROJECT)
            known[code] = code.co_code if any(file in path for file in files) else None
        watched = known[code]
        if watched is None or event not in ("call", "c_return"):
            return
        if event == "call" and not _begins(watched, frame.f_lasti):
            return
        if _is_of_with(argument):
            return
        left -= 1
        if left == 0:
            raise Interrupted

    sys.setprofile(hear)
    try:
        call()
    except Interrupted:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


def _is_of_with(called: object) -> bool:
    """Whether a function in C has returned to `with`: since Python 3.15 a profiler is told, but no signal is heard."""
    return sys.version_info >= (3, 15) and getattr(called, "__name__", "") == "__enter__"


def _begins(code: bytes, at: int) -> bool:
    """Whether a function begins here, or goes on behind a yield of its own: not one that hands on what others yield."""
    return code[at] == dis.opmap["RESUME"] and code[at + 1] < 2
