"""Models that middleware calls for itself, for middleware of your own: such calls are not in `run.messages`."""

from typing import Any

from signoff.bridge.internal_calls import internal_call_metadata
from signoff.stream import ProtocolEvent, StreamTransformer

__all__ = ["InternalCallTransformer", "internal_call_metadata"]


class InternalCallTransformer(StreamTransformer):
    """For middleware written for LangChain, which has to name it in `transformers`.

    Here calls that are marked with `internal_call_metadata()` are not told in the first place, also not where the agent
    is nested in a graph that knows nothing of its middleware.
    """

    def init(self) -> dict[str, Any]:
        return {}

    def process(self, event: ProtocolEvent) -> bool | None:
        return True
