"""What traces record of a node: all of it, or what its TracePolicy makes of it."""

import logging
from collections.abc import Callable
from copy import copy
from typing import Any

from signoff._copies import copied

_logger = logging.getLogger(__name__)


def recorded(value: Any, process: Callable[[Any], Any] | None) -> Any:
    """A value as traces record it. What cannot be processed is not recorded: perhaps nobody may see it.

    What is processed is a copy: whoever takes words out of it does not take them from the node, or from the state.
    """
    if process is None:
        return value
    try:
        return process(copied(value))
    except Exception:
        _logger.exception("A TracePolicy failed, so nothing is recorded of what it was given")
        return {}


def parted(run: Any) -> tuple[Any, Any]:
    """A run, or what begins one, for the caller's own handlers, and for tracers."""
    handlers, tracers = copy(run), copy(run)
    tracers.handlers = [one for one in run.handlers if _traces(one)]
    handlers.handlers = [one for one in run.handlers if one not in tracers.handlers]
    return handlers, tracers


def _traces(handler: Any) -> bool:
    """Whether a handler records runs; what astream_events and its like show goes to the caller of the graph."""
    from langchain_core.tracers import BaseTracer

    return isinstance(handler, BaseTracer) and not follows_output(handler)


def follows_output(handler: Any) -> bool:
    """Whether a handler wants to see output as it comes: one that only has methods of the same names does not."""
    from langchain_core.tracers._streaming import _StreamingCallbackHandler

    return _StreamingCallbackHandler in type(handler).__mro__
