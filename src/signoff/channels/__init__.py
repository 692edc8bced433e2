"""The rules for merging writes into the keys of a state."""

from signoff.channels.any_value import AnyValue
from signoff.channels.base import BaseChannel
from signoff.channels.binop import BinaryOperatorAggregate
from signoff.channels.delta import DeltaChannel
from signoff.channels.ephemeral_value import EphemeralValue
from signoff.channels.last_value import LastValue, LastValueAfterFinish
from signoff.channels.named_barrier_value import NamedBarrierValue, NamedBarrierValueAfterFinish
from signoff.channels.topic import Topic
from signoff.channels.untracked_value import UntrackedValue

__all__ = [
    "BaseChannel",
    "AnyValue",
    "LastValue",
    "LastValueAfterFinish",
    "UntrackedValue",
    "EphemeralValue",
    "BinaryOperatorAggregate",
    "DeltaChannel",
    "NamedBarrierValue",
    "NamedBarrierValueAfterFinish",
    "Topic",
]
