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
    return _OfHooks(checked_trace(middleware.trace_policy))


class _OfHooks(TracePolicy):
    """Looks for the default when a hook runs: where there is none, nothing is processed, and nothing copied for it."""

    def __init__(self, own: TracePolicy | None) -> None:
        object.__setattr__(self, "_own", own)

    @property
    def process_inputs(self) -> Callable[[Any], Any] | None:
        policy = self._policy
        return None if policy is None else policy.process_inputs

    @property
    def process_outputs(self) -> Callable[[Any], Any] | None:
        policy = self._policy
        return None if policy is None else policy.process_outputs

    @property
    def _policy(self) -> TracePolicy | None:
        own: TracePolicy | None = self.__dict__["_own"]
        return own or _default
