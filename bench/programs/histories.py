"""Conversations that grow: two messages of 200 characters a turn, on a thread that already has many of them."""

import operator
import uuid
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, TypedDict

from langchain_core.messages import AIMessage, HumanMessage

from bench import postgres
from bench.library import THEIRS, Library
from bench.measuring import Run, Work
from bench.meters import sqlite_bytes
from bench.programs.words import between
from bench.storage import SQLITE_FULL, Kind, Storage

WORDS = "x" * 200
RAW_BYTES = 2 * (len(WORDS) + len(str(uuid.uuid4())))
"""What a turn has to say: two messages with their ids."""


_CONFIG = {"configurable": {"thread_id": "1"}}


class Memo(TypedDict):
    notes: Annotated[list[str], operator.add]


class Chat(NamedTuple):
    """What a conversation is made of."""

    name: str
    state: Callable[[Library], Any]
    turn: Callable[[], dict[str, Any]]
    reply: Callable[[Any], dict[str, Any]]
    last_turns: int = 10
    """How many turns show what LangGraph does with such a conversation."""


def _delta_state(lib: Library) -> Any:
    """LangGraph's channel that stores what was added; signoff does that with the plain state."""
    if lib.root != THEIRS:
        return lib.MessagesState
    from langgraph.channels import DeltaChannel

    def fold(messages: Any, writes: Sequence[Any]) -> Any:
        return lib.add_messages(messages, [one for write in writes for one in write])

    make: Any = TypedDict
    return make("Delta", {"messages": Annotated[list[Any], DeltaChannel(fold)]})


def _says(message: type) -> dict[str, Any]:
    return {"messages": [message(WORDS, id=str(uuid.uuid4()))]}


MESSAGES = Chat("messages", lambda lib: lib.MessagesState, lambda: _says(HumanMessage), lambda state: _says(AIMessage))
DELTA = MESSAGES._replace(name="DeltaChannel", state=_delta_state, last_turns=100)
LIST = Chat("plain list", lambda lib: Memo, lambda: {"notes": [WORDS]}, lambda state: {"notes": [WORDS]})


def early_turn(lib: Library) -> Work:
    """A turn of a conversation that has about ten."""
    thread = _Thread(lib, MESSAGES, Storage(lib, SQLITE_FULL))

    def talking(turns: int) -> Run:
        def talk() -> None:
            config = thread.storage.new_thread()
            for _ in range(turns):
                thread.turn(config)

        return talk

    return between(talking, long=15, short=5, storage=thread.storage)


def warm_turn(lib: Library, turns: int, chat: Chat = MESSAGES, kind: Kind = SQLITE_FULL) -> Work:
    """One more turn of a conversation that this process has kept going."""
    thread = _thread(lib, turns, chat, kind)

    def talk() -> None:
        for _ in range(5):
            thread.turn()

    return Work(talk, 5)


def cold_turn(lib: Library, turns: int) -> Work:
    """One more turn of a conversation that this process hears of for the first time."""
    thread = _thread(lib, turns, MESSAGES, SQLITE_FULL)
    return Work(lambda: thread.stranger().turn(), minus=thread.stranger, tidy=thread.storage.forget)


def cold_read(lib: Library, turns: int, chat: Chat = MESSAGES, kind: Kind = SQLITE_FULL) -> Work:
    """The state of a conversation that this process hears of for the first time."""
    thread = _thread(lib, turns, chat, kind)
    return Work(lambda: thread.stranger().read(), minus=thread.stranger, tidy=thread.storage.forget)


def bytes_per_turn(lib: Library, turns: int, chat: Chat = MESSAGES, kind: Kind = SQLITE_FULL) -> float:
    """What the database grows by with a turn, over the next turns."""
    thread = _thread(lib, turns, chat, kind)
    more = chat.last_turns if lib.root == THEIRS else 100
    before = thread.size()
    for _ in range(more):
        thread.turn()
    return (thread.size() - before) / more


def bytes_in_raw_bytes(lib: Library, kind: Kind = SQLITE_FULL) -> float:
    """How many times what a turn has to say is stored for it."""
    return bytes_per_turn(lib, 1000, kind=kind) / RAW_BYTES


def growth_of_bytes(lib: Library) -> float:
    """What a late turn stores, against an early one."""
    return bytes_per_turn(lib, 1000) / bytes_per_turn(lib, 10)


def _thread(lib: Library, turns: int, chat: Chat, kind: Kind) -> "_Thread":
    return lib.once((turns, chat.name, kind), lambda: _Thread(lib, chat, Storage(lib, kind)).grown(turns))


class _Thread:
    """A conversation and where it is stored."""

    def __init__(self, lib: Library, chat: Chat, storage: Storage, saver: Any = None) -> None:
        self.lib, self.chat, self.storage = lib, chat, storage
        graph = lib.StateGraph(chat.state(lib))
        graph.add_node("reply", chat.reply)
        graph.add_edge(lib.START, "reply")
        self._app = graph.compile(checkpointer=saver or storage.saver)

    def grown(self, turns: int) -> "_Thread":
        """With so many turns behind it, the last ones taken one by one.

        LangGraph takes long over many turns, so there the first ones are given in one go, as they are wherever memory
        is all there is. What the last ones store is the same: all of a plain list, and of a DeltaChannel a snapshot now
        and then, which a hundred turns contain.
        """
        if turns > self.chat.last_turns and (self.lib.root == THEIRS or self.storage.address is None):
            self._begin(turns - self.chat.last_turns)
            turns = self.chat.last_turns
        for _ in range(turns):
            self.turn()
        return self

    def _begin(self, turns: int) -> None:
        first = [self.chat.turn() for _ in range(2 * turns - 1)]
        (key,) = first[0]
        self._app.invoke({key: [one for turn in first for one in turn[key]]}, _CONFIG)

    def turn(self, config: Any = _CONFIG) -> None:
        self._app.invoke(self.chat.turn(), config)

    def read(self) -> Any:
        return self._app.get_state(_CONFIG).values

    def stranger(self) -> "_Thread":
        """The same conversation, through a connection and a saver that know nothing yet."""
        return _Thread(self.lib, self.chat, self.storage, self.storage.stranger())

    def size(self) -> int:
        is_schema = isinstance(self.storage.address, postgres.Schema)
        return postgres.bytes_in(self.storage.address.name) if is_schema else sqlite_bytes(self.storage.address)
