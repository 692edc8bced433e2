"""Messages that can be read while they are written: LangChain's streams of them."""

from collections.abc import Callable
from typing import Any

from signoff.errors import MissingExtra


def written(id: Any, node: str | None, *, is_async: bool, pull: Callable[[], Any]) -> Any:
    """A message that is about to be written. Whoever reads it pulls the run along."""
    message = _kind(is_async)(namespace=[], node=node, message_id=None if id is None else str(id))
    (message.set_arequest_more if is_async else message.set_request_more)(pull)
    return message


def write_whole(stream: Any, message: Any) -> None:
    """Write a message that is there already."""
    from langchain_core.language_models._compat_bridge import message_to_events

    for told in message_to_events(message, message_id=message.id):
        stream.dispatch(told)


def _kind(is_async: bool) -> Any:
    try:
        from langchain_core.language_models.chat_model_stream import AsyncChatModelStream, ChatModelStream
    except ImportError as error:
        raise too_old() from error
    return AsyncChatModelStream if is_async else ChatModelStream


def too_old() -> MissingExtra:
    """The error for a LangChain that does not know of such messages."""
    return MissingExtra(
        'To follow messages with stream_events(version="v3") takes langchain-core 1.4 or newer: '
        'pip install --upgrade "langchain-core>=1.4".'
    )
