"""How middleware calls models of its own."""

from signoff._scope import running
from signoff.bridge.internal_calls import internal_call_metadata
from signoff.config import RunnableConfig, get_config
from signoff.constants import TAG_NOSTREAM

__all__ = ["hushed", "internal_call", "unheard"]


def unheard(source: str) -> RunnableConfig:
    """The config for a call whose words are not shown: in a stream they would pass for those of the agent.

    Callbacks are told of its source.
    """
    return hushed(internal_call(source))


def hushed(config: RunnableConfig) -> RunnableConfig:
    """A config for a call whose words no stream shows as they come."""
    return {**config, "tags": [*(config.get("tags") or ()), TAG_NOSTREAM]}


def internal_call(source: str) -> RunnableConfig:
    """The config for a call that streams of tokens show with its source, and that followed runs leave out."""
    config = _config()
    return {**config, "metadata": {**(config.get("metadata") or {}), "lc_source": source, **internal_call_metadata()}}


def _config() -> RunnableConfig:
    """The config of the running task; none where somebody tries a middleware on its own, outside of any run."""
    return {} if running.get() is None else get_config()
