"""How middleware calls models of its own."""

from signoff.config import RunnableConfig, get_config
from signoff.constants import TAG_NOSTREAM

__all__ = ["unheard"]


def unheard() -> RunnableConfig:
    """The config for a call whose words are not shown: in a stream they would pass for those of the agent."""
    config = get_config()
    return {**config, "tags": [*(config.get("tags") or ()), TAG_NOSTREAM]}
