"""`run.subagents`: the agents with a name that are called in another one."""

from signoff.stream.nesting import Began
from signoff.stream.transformers import SubgraphTransformer

__all__ = ["SubagentTransformer"]


class SubagentTransformer(SubgraphTransformer):
    """Of the nested graphs, those that are agents; `create_agent(name=...)` gives one its name."""

    key = "subagents"

    def shows(self, began: Began) -> bool:
        return began.is_agent
