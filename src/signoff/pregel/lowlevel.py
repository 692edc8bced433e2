"""Pregel: a graph out of nodes and channels, without a StateGraph."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic

from typing_extensions import TypeVar

from signoff._words.choices import All, StreamMode
from signoff._words.policies import CachePolicy, RetryPolicy
from signoff.channels import BaseChannel
from signoff.engine.policies import as_policies
from signoff.engine.program import UNNAMED, Node
from signoff.pregel.builder import NodeBuilder, low_level_program
from signoff.pregel.main import Compiled

__all__ = ["Pregel"]


StateT = TypeVar("StateT", default=Any)
ContextT = TypeVar("ContextT", default=Any)
InputT = TypeVar("InputT", default=Any)
OutputT = TypeVar("OutputT", default=Any)


class Pregel(Compiled, Generic[StateT, ContextT, InputT, OutputT]):
    """Nodes that run when a channel they listen to was written."""

    def __init__(
        self,
        *,
        nodes: Mapping[str, Node | NodeBuilder],
        channels: Mapping[str, BaseChannel] | None,
        input_channels: str | Sequence[str],
        output_channels: str | Sequence[str],
        stream_channels: str | Sequence[str] | None = None,
        stream_mode: StreamMode = "values",
        interrupt_after_nodes: All | Sequence[str] = (),
        interrupt_before_nodes: All | Sequence[str] = (),
        retry_policy: RetryPolicy | Sequence[RetryPolicy] = (),
        cache_policy: CachePolicy | None = None,
        name: str = UNNAMED,
        **settings: Any,
    ) -> None:
        retry = as_policies(retry_policy)
        program = low_level_program(
            name, nodes, channels or {}, input_channels, output_channels, stream_channels, retry, cache_policy
        )
        self._set_up(
            program,
            interrupt_before=interrupt_before_nodes,
            interrupt_after=interrupt_after_nodes,
            stream_mode=stream_mode,
            **settings,
        )
