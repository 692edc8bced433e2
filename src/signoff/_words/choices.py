"""Choices: what a setting of a graph or of a call may say."""

from typing import Literal

__all__ = ["All", "Durability", "OnChanged", "OnPending", "StreamMode"]

All = Literal["*"]
"""Every node, for interrupt_before and interrupt_after."""

StreamMode = Literal["values", "updates", "checkpoints", "tasks", "debug", "messages", "tools", "custom"]
"""What a stream shows: whole states, changes, saved checkpoints, tasks, both, tokens, the nodes' own words."""

Durability = Literal["sync", "async", "exit"]
"""When a step is stored: before the next one starts, beside it, or when the run stops."""

OnPending = Literal["raise", "answer", "discard"]
"""What new input means for a thread with open questions: a mistake, the answer, or that nobody waits for one."""

OnChanged = Literal["raise", "accept"]
"""Whether an answer is handed over although the program asks something else in its place by now."""
