"""Runs to follow: `graph.stream_events(input, config, version="v3")`, its projections, and how to make your own."""

from signoff.stream.events import ProtocolEvent
from signoff.stream.run_stream import AsyncGraphRunStream, AsyncSubgraphRunStream, GraphRunStream, SubgraphRunStream
from signoff.stream.stream_channel import StreamChannel
from signoff.stream.transformer import StreamTransformer
from signoff.stream.transformers import (
    CheckpointsTransformer,
    CustomTransformer,
    DebugTransformer,
    LifecyclePayload,
    LifecycleTransformer,
    SubgraphStatus,
    SubgraphTransformer,
    TasksTransformer,
    UpdatesTransformer,
)

__all__ = [
    "AsyncGraphRunStream",
    "AsyncSubgraphRunStream",
    "CheckpointsTransformer",
    "CustomTransformer",
    "DebugTransformer",
    "GraphRunStream",
    "LifecyclePayload",
    "LifecycleTransformer",
    "ProtocolEvent",
    "StreamChannel",
    "StreamTransformer",
    "SubgraphRunStream",
    "SubgraphStatus",
    "SubgraphTransformer",
    "TasksTransformer",
    "UpdatesTransformer",
]
