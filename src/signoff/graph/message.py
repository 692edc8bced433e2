"""Messages in the state: the reducer that merges them, and a state that has it.

`add_messages` appends what is new, replaces what has a known id, and removes what a `RemoveMessage` names.
LangChain's message classes come from the extra `signoff[agents]` and are imported when a message is met.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from os import urandom
from types import ModuleType
from typing import Annotated, Any, Literal, overload

from typing_extensions import TypedDict

from signoff._elsewhere import OF_GRAPHS, tell_where
from signoff.errors import InvalidInput, InvalidUpdateError, MissingExtra
from signoff.graph.histories import Histories, History

__all__ = [
    "InvalidMessage",
    "Messages",
    "MessagesState",
    "MissingExtra",
    "REMOVE_ALL_MESSAGES",
    "UnknownMessage",
    "add_messages",
    "add_messages_at_once",
    "push_message",
]

REMOVE_ALL_MESSAGES = "__remove_all__"
"""The id of a `RemoveMessage` that empties the list before the rest of the update is applied."""

Messages = Any
"""What `add_messages` takes on either side: one message or a list of them, in any form. For annotations."""

Format = Literal["langchain-openai"] | None

_id_of = attrgetter("id")

_histories = Histories()


class InvalidMessage(InvalidUpdateError, ValueError, NotImplementedError):
    """A value cannot become a message. (Also the two classes that LangChain raises for it.)"""


class UnknownMessage(InvalidUpdateError, ValueError):
    """A `RemoveMessage` names an id that no message has."""


@overload
def add_messages(left: Any, right: Any, *, format: Format = None) -> list[Any]: ...
@overload
def add_messages(
    left: None = None, right: None = None, *, format: Format = None
) -> Callable[[Any, Any], list[Any]]: ...
def add_messages(left: Any = None, right: Any = None, *, format: Format = None) -> Any:
    """Merge an update into a list of messages; without both lists, return the reducer with this format.

    Either side may be one message or a list of them, each as a message, a string, a (role, content) pair or a
    dict. Messages without an id are given one. Returns a new list.
    """
    if format not in (None, "langchain-openai"):
        raise InvalidInput(f"add_messages() knows no format {format!r}. Use 'langchain-openai', or leave it out.")
    if left is None and right is None:
        reducer = partial(_reduce, format=format)
        reducer.leaves_items, reducer.completes = True, _with_ids  # type: ignore[attr-defined]
        return reducer
    return _reduce(left, right, format=format)


def _with_ids(update: Any) -> Any:
    """An update whose messages have the ids under which they are kept. What is no message is refused when merged."""
    try:
        given = update if isinstance(update, list) else [update]
        messages = [_as_message(one) for one in given]
    except (InvalidMessage, MissingExtra):
        return update
    _give_ids(messages)
    return messages if isinstance(update, list) else messages[0]


add_messages.leaves_items = True  # type: ignore[attr-defined]
add_messages.completes = _with_ids  # type: ignore[attr-defined]


def add_messages_at_once(value: Any, writes: Sequence[Any]) -> list[Any]:
    """The same for all updates of a step: the reducer of `Annotated[list, DeltaChannel(add_messages_at_once)]`.

    One that removes a message which is not there removes nothing: another one of the step may have done so.
    """
    messages = value
    for write in writes:
        update = _as_list(write)
        if any(map(_is_removal, update)):
            kept = [message for message in [*_as_list(messages), *update] if not _is_removal(message)]
            there = {REMOVE_ALL_MESSAGES, *map(_id_of, kept)}
            update = [message for message in update if not _is_removal(message) or message.id in there]
        messages = _reduce(messages, update, format=None)
    return messages if messages is not value else list(value)


add_messages_at_once.leaves_items = True  # type: ignore[attr-defined]
add_messages_at_once.makes_items = True  # type: ignore[attr-defined]
add_messages_at_once.completes = _with_ids  # type: ignore[attr-defined]

_messages_delta_reducer = add_messages_at_once
"""As LangGraph's is called."""


class MessagesState(TypedDict):
    """A state whose `messages` grow."""

    messages: Annotated[list[Any], add_messages]


def push_message(message: Any, *, state_key: str | None = "messages") -> Any:
    """Show a message in the stream now and write it to `state_key` (None: only show it); returns it."""
    from signoff._scope import current

    pushed = _as_message(message)
    if not pushed.id:
        raise InvalidMessage("push_message() needs a message with an id. Give it one: AIMessage(..., id='...').")
    current("push_message()").push_message(pushed, state_key)
    return pushed


def _reduce(left: Any, right: Any, *, format: Format) -> list[Any]:
    """The two-argument reducer behind `add_messages`."""
    if left is None or right is None:
        missing = "left" if left is None else "right"
        raise InvalidMessage(f"add_messages() merges two lists, but {missing!r} is None. Pass [] for no messages.")
    merged = _merge(*_as_history(left), _as_list(right))
    return merged if format is None else _as_openai(merged)


def _as_history(value: Any) -> tuple[list[Any], History]:
    """A new list of whole messages, and what is known of it."""
    messages = value[:] if isinstance(value, list) else [value]
    history = _histories.begun(messages)
    known = len(history.messages)
    new = messages[known:] = _as_list(messages[known:])
    history.learn(new)
    _histories.keep(history)
    return messages, history


def _merge(merged: list[Any], known: History, update: list[Any]) -> list[Any]:
    """Fold the update into `merged`, which belongs to us."""
    _give_ids(update)
    update_ids = [message.id for message in update]
    if REMOVE_ALL_MESSAGES in update_ids and (ends := _where_all_is_removed(update)):
        return _merge([], History(), update[ends[-1] + 1 :])
    fresh = set(update_ids)
    # Usually nothing in the update is in the history, and all of that has ids.
    if not known.ids.isdisjoint({None, *fresh}) or not known.places.isdisjoint(map(id, update)):
        _replace_without_id(merged)
        return _fold(merged, update)
    if len(fresh) < len(update) or any(map(_is_removal, update)):
        return _fold(merged, update)
    merged += update
    return merged


def _fold(merged: list[Any], update: list[Any]) -> list[Any]:
    """Replace, remove and append one by one, in the order of the update."""
    place = dict(zip(map(_id_of, merged), range(len(merged)), strict=True))
    gone: set[str] = set()
    for message in update:
        at = place.get(message.id)
        if _is_removal(message):
            gone.add(_known(message.id, at))
        elif at is None:
            place[message.id] = len(merged)
            merged.append(message)
        else:
            gone.discard(message.id)
            merged[at] = message
    return [message for message in merged if message.id not in gone] if gone else merged


def _where_all_is_removed(update: list[Any]) -> list[int]:
    # The id alone is not enough: a person's message may carry any id.
    return [at for at, m in enumerate(update) if m.id == REMOVE_ALL_MESSAGES and _is_removal(m)]


def _known(message_id: str, at: int | None) -> str:
    if at is None:
        raise UnknownMessage(
            f"RemoveMessage(id={message_id!r}) removes a message that is not there. Pass the id of a message "
            "in the state, or REMOVE_ALL_MESSAGES to remove them all."
        )
    return message_id


def _new_id() -> str:
    """A version 4 UUID. The standard library's takes four times as long, and a while to import."""
    digits = urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _give_ids(update: list[Any]) -> None:
    # In place, so that the node that made a message sees the id under which it is kept.
    # An empty id is none: with it, all that is said without one would be one message.
    for message in update:
        if not message.id and not _is_removal(message):
            message.id = _new_id()


def _replace_without_id(merged: list[Any]) -> None:
    # Copies, not in place: these messages belong to a state that was saved as it is.
    for at, message in enumerate(merged):
        if message.id is None:
            merged[at] = message.model_copy(update={"id": _new_id()})


def _as_list(value: Any) -> list[Any]:
    """A new list of whole messages; those that are already messages stay the objects they are."""
    if not isinstance(value, list):
        return [_as_whole(value)]
    # The set of types is built in C: a long history costs no Python call per message.
    if all(_is_whole(kind) for kind in set(map(type, value))):
        return value.copy()
    return [_as_whole(item) for item in value]


def _as_whole(value: Any) -> Any:
    """A message that is not a chunk."""
    message = _as_message(value)
    if _is_whole(type(message)):
        return message
    return _messages_module().message_chunk_to_message(message)


def _as_message(value: Any) -> Any:
    """A message, or a chunk of one."""
    module = _messages_module()
    if isinstance(value, module.BaseMessage):
        return value
    try:
        return module.convert_to_messages([value])[0]
    except (ValueError, TypeError, NotImplementedError) as error:
        raise InvalidMessage(
            f"{value!r:.200} cannot become a message. Pass a message, a string, a (role, content) pair or a "
            "dict with 'role' and 'content'; several of them in a list."
        ) from error


def _as_openai(messages: list[Any]) -> list[Any]:
    # One message may become several (tool results), which is why ids do not survive this.
    module = _messages_module()
    try:
        return list(module.convert_to_messages(module.convert_to_openai_messages(messages)))
    except ValueError as error:
        raise InvalidMessage(f"The messages have no 'langchain-openai' format: {error}") from error


def _is_whole(kind: type[Any]) -> bool:
    module = _messages_module()
    return issubclass(kind, module.BaseMessage) and not issubclass(kind, module.BaseMessageChunk)


def _is_removal(message: Any) -> bool:
    return isinstance(message, _messages_module().RemoveMessage)


def _messages_module() -> ModuleType:
    try:
        import langchain_core.messages as module
    except ImportError as error:
        raise MissingExtra('Messages need langchain-core. Install it with: pip install "signoff[agents]"') from error
    return module


def __getattr__(name: str) -> Any:
    if name != "AnyMessage":  # LangChain's, which many programs import from here
        tell_where(__name__, name, OF_GRAPHS)
    return _messages_module().AnyMessage
