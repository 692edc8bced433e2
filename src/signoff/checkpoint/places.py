"""Which checkpoint a config means."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from signoff._reprs import repr_of
from signoff._tuples import made
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_NS, CONF, THREAD_ID
from signoff.errors import InvalidInput, MissingThreadId, Undecodable

__all__ = [
    "Place",
    "Selection",
    "already_there",
    "check_texts",
    "checked_filter",
    "checked_limit",
    "checked_runs",
    "checked_strategy",
    "checked_thread",
    "checked_threads",
    "not_there",
    "place_of",
    "place_of_writes",
    "reading_of",
    "selection_of",
    "thread_name",
]


class Place(NamedTuple):
    """A thread, a namespace in it, and a checkpoint there; without an id, the newest one."""

    thread_id: str
    ns: str
    id: str | None


@contextmanager
def reading_of(thread_id: str, ns: str = "") -> Iterator[None]:
    """What cannot be read in this context belongs to a thread, and says so."""
    try:
        yield
    except Undecodable as error:
        error.say_where(thread_id, ns)
        raise


def place_of(config: RunnableConfig) -> Place:
    """The place that a config names."""
    try:
        place = config.get(CONF) or {}
        thread_id = place.get(THREAD_ID)
    except AttributeError:
        thread_id = None
    if thread_id is None:
        raise MissingThreadId(
            'A saver must know which thread: config={"configurable": {"thread_id": "..."}}, and here is '
            f"{repr_of(config)}."
        )
    ns, id = place.get(CHECKPOINT_NS) or "", place.get(CHECKPOINT_ID) or None
    if type(ns) is not str or (id is not None and type(id) is not str):
        check_texts(place)
    return made(Place, (thread_name(thread_id), ns, id))


def thread_name(thread_id: Any) -> str:
    """The id of a thread as a text. What would be another text for each object, or in each process, is refused."""
    kind: Any = type(thread_id)
    if kind is str:
        return thread_id  # type: ignore[no-any-return]
    is_unnamed = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    if not (is_unnamed or isinstance(thread_id, dict | list | set) or callable(thread_id)):
        with suppress(Exception):  # such as a number of thousands of digits
            return str(thread_id)
    raise InvalidInput(f"The thread_id is {repr_of(thread_id)}. Give a text that names the thread, such as 'order-7'.")


def check_texts(place: Mapping[str, Any]) -> None:
    """Refuse a namespace, or the id of a checkpoint, that is no text."""
    for name in (CHECKPOINT_NS, CHECKPOINT_ID):
        if not isinstance(place.get(name) or "", str):
            raise InvalidInput(
                f"The config has {place[name]!r} as {name}, and that is a text: take the config of a snapshot, "
                "get_state(config).config, or of one in get_state_history(config)."
            )


def checked_thread(thread_id: str) -> str:
    """The id of a thread, which is to be copied or deleted: None is a forgotten one."""
    if thread_id is None:
        raise MissingThreadId("Which thread? The id is None.")
    return thread_name(thread_id)


def place_of_writes(config: RunnableConfig) -> Place:
    """The place of the checkpoint that writes are kept with."""
    place = place_of(config)
    if place.id is None:
        raise InvalidInput(
            "Writes are kept with a checkpoint: put_writes needs its configurable.checkpoint_id, and here is "
            f"{repr_of(config)}."
        )
    return place


class Selection(NamedTuple):
    """Which checkpoints a list is to have: of one thread or of all, of one namespace or of each."""

    thread_id: str | None
    ns: str | None
    id: str | None
    before: str | None

    def has(self, thread_id: str, ns: str, id: str) -> bool:
        """Whether the list has this one."""
        return (
            self.thread_id in (None, thread_id)
            and self.ns in (None, ns)
            and self.id in (None, id)
            and (self.before is None or id < self.before)
        )


def selection_of(config: RunnableConfig | None, before: RunnableConfig | None) -> Selection:
    """What a list is asked for; it need not name a thread."""
    for given in (config, before):
        if not isinstance(given, Mapping | None):
            mend = "its config" if hasattr(given, "config") else '{"configurable": {"thread_id": "..."}}'
            raise InvalidInput(f"{repr_of(given)} is no config: give {mend}.")
    place, bound = (config or {}).get(CONF) or {}, (before or {}).get(CONF) or {}
    for part in (place, bound):
        if not isinstance(part, Mapping):
            raise InvalidInput(f'{repr_of(part)} names no thread: give {{"configurable": {{"thread_id": "..."}}}}.')
        check_texts(part)
    thread_id = place.get(THREAD_ID)
    return Selection(
        None if thread_id is None else thread_name(thread_id),
        place.get(CHECKPOINT_NS),
        place.get(CHECKPOINT_ID) or None,
        bound.get(CHECKPOINT_ID) or None,
    )


def already_there(thread_id: str) -> InvalidInput:
    """The error for a copy to a thread that has begun."""
    return InvalidInput(
        f"Thread {thread_id!r} is not empty, and two histories cannot be mixed: copy to a new thread id, or "
        f"call delete_thread({thread_id!r}) first."
    )


def not_there(thread_id: str) -> InvalidInput:
    """The error for a copy of a thread that has not begun."""
    return InvalidInput(
        f"There is no thread {thread_id!r} here, so there is nothing to copy. See whether it is the right thread id, "
        "and the right database."
    )


def checked_limit(limit: int | None) -> int | None:
    """How many a list may have."""
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        raise InvalidInput(f"limit must be 0 or more, or None for no limit, not {limit!r}.")
    return None if limit is None or limit > sys.maxsize else limit  # no database counts that far


def checked_filter(filter: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What the metadata of listed checkpoints must have."""
    if filter is not None and not isinstance(filter, Mapping):
        raise InvalidInput(f'filter must be a dict of metadata, such as {{"source": "loop"}}, not {filter!r}.')
    return filter or {}


def checked_threads(thread_ids: Iterable[str]) -> list[str]:
    """The names of threads that are listed."""
    return [thread_name(id) for id in _listed(thread_ids, "threads")]


def checked_runs(run_ids: Iterable[str]) -> list[str]:
    """The names of runs that are listed."""
    return [str(id) for id in _listed(run_ids, "runs")]


def _listed(names: Iterable[str], what: str) -> Iterable[str]:
    """Names, of which there may be several. A bare text would be taken letter by letter."""
    if isinstance(names, str):
        raise InvalidInput(f"Give a list of {what}: [{names!r}], and not {names!r}.")
    if not isinstance(names, Iterable):
        raise InvalidInput(f"Give a list of {what}, and not {names!r}.")
    return names


def checked_strategy(strategy: str) -> str:
    """What a prune leaves."""
    if strategy not in ("keep_latest", "delete"):
        raise InvalidInput(f'strategy must be "keep_latest" or "delete", not {strategy!r}.')
    return strategy
