"""What traces record of the hooks of middleware."""

from collections.abc import Callable
from typing import Any

from signoff._words.policies import TracePolicy
from signoff.agents.middleware.base import AgentMiddleware
from signoff.engine.policies import checked_trace

__all__ = ["configure_trace_policy", "policy_of"]

_default: TracePolicy | None = None


def configure_trace_policy(policy: TracePolicy | None) -> None:
    """Say what traces record of the hooks of all middleware in this process that has no policy of its own."""
    global _default
    _default = checked_trace(policy)


def policy_of(middleware: AgentMiddleware[Any, Any]) -> TracePolicy:
    """The policy for the hooks of a middleware: its own; else the one that is the default when a hook runs."""
    own = checked_trace(middleware.trace_policy)
    inputs, outputs = (_processing(own, part) for part in ("process_inputs", "process_outputs"))
    return TracePolicy(process_inputs=inputs, process_outputs=outputs)


def _processing(own: TracePolicy | None, part: str) -> Callable[[Any], Any]:
    def process(value: Any) -> Any:
        policy = own or _default
        processed = policy and getattr(policy, part)
        return processed(value) if processed else value

    return process
