"""The registry: which classes may be stored, and under which name.

A value's class travels as a name. Loading looks the name up here and nowhere else, so that stored bytes can
never make the program import or build something that it did not ask for.

    from signoff.checkpoint.serde import register

    @register
    @dataclass
    class Order: ...

    register(Money, name="money", encode=lambda money: money.cents, decode=Money.from_cents)

The classes that a graph's schemas name are registered by `compile()`; `register` is for the others:
subclasses, plain classes, exceptions that should come back as themselves.

A class that is defined again under its name takes the name over. The older one is still taken for as long as it lives:
it may belong to a graph that is still in use (`own.py`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, overload
from weakref import WeakKeyDictionary, WeakSet

from signoff._forks import free
from signoff._locks import Lock
from signoff._modules import module_of
from signoff.checkpoint.serde.kinds import REGISTRABLE, Kind, Plan, kind_of
from signoff.checkpoint.serde.plans import plan_for
from signoff.errors import InvalidInput

__all__ = ["Entry", "REGISTRY", "Registry", "has_lost_its_name", "name_of", "register", "register_types"]

C = TypeVar("C", bound=type)
Encoder = Callable[[Any], Any]
Decoder = Callable[[Any], Any]


@dataclass(slots=True, eq=False)
class Entry:
    """A class that may be stored: its name on the wire and its plan."""

    cls: type
    name: str
    kind: Kind | None
    plan: Plan
    is_redefined: bool = False
    """Whether there have been other classes of this name: to some reader it may mean one of those."""
    encode: Callable[[Any, Any], Any] | None = None
    """What writes instances, once somebody has asked for it."""


class Watcher(Protocol):
    """Somebody who remembers what a registry said."""

    def forget(self) -> None:
        """Ask the registry again."""
        ...


class Registry:
    """Classes by name and names by class; what is not here is looked for in the parent."""

    def __init__(self, parent: "Registry | None" = None) -> None:
        self.parent = parent
        self._by_name: dict[str, Entry] = {}
        self._by_class: dict[type, Entry] = {}
        self._by_place: dict[str, Entry] = {}
        """Classes by module and name: what they were called before they were given a name of their own."""
        self._watchers: WeakSet[Watcher] = WeakSet()
        self._later: list[Callable[[], Iterable[type]]] = []
        self._lock = free(Lock())

    def register(
        self,
        cls: type,
        *,
        name: str | None = None,
        encode: Encoder | None = None,
        decode: Decoder | None = None,
    ) -> Entry:
        """Let instances of this class be stored."""
        entry = _entry(cls, name, encode, decode)
        with self._lock:
            return self._add(entry)

    def _add(self, entry: Entry) -> Entry:
        known = self._by_name.get(entry.name)
        if known is not None and known.cls is not entry.cls:
            _check_same_place(known.cls, entry)
            self._set_aside(known)
        if known is not None:
            entry = replace(entry, is_redefined=known.is_redefined or known.cls is not entry.cls)
        self._by_class[entry.cls] = self._by_name[entry.name] = entry
        if entry.kind is not None:
            self._by_place[name_of(entry.cls)] = entry
        for watcher in list(self._watchers):
            watcher.forget()
        return entry

    def _set_aside(self, known: Entry) -> None:
        """Leave a class that has lost its name to whoever still has it."""
        if self._by_class.get(known.cls) is known and (aside := _aside(known.cls)) is not None:
            aside[self] = known
            del self._by_class[known.cls]

    def find_class(self, cls: type) -> Entry | None:
        """The entry of exactly this class."""
        if cls not in self._by_class and self._later:
            self._settle()
        found = self._by_class.get(cls) or self._older(cls)
        return found or (self.parent.find_class(cls) if self.parent else None)

    def _older(self, cls: type) -> Entry | None:
        found = cls.__dict__.get(_ASIDE, {}).get(self)
        return found if found is not None and found.cls is cls else None

    def classes(self) -> list[type]:
        """The classes that are registered here, without those whose names were taken over."""
        with self._lock:
            return list(self._by_class)

    def find_name(self, name: str) -> Entry | None:
        """The entry of this name."""
        if name not in self._by_name and self._later:
            self._settle()
        found = self._by_name.get(name) or (self.parent.find_name(name) if self.parent else None)
        return found or self._by_place.get(name)

    def add_later(self, named: Callable[[], Iterable[type]]) -> None:
        """Classes that cannot be named yet: they are asked for, once, when somebody looks for one that is not here."""
        self._later.append(named)

    def _settle(self) -> None:
        later, self._later = self._later, []
        for named in later:
            register_types(named(), self)

    def watch(self, watcher: Watcher) -> None:
        """Tell the watcher, for as long as it lives, when something is registered here or in a parent."""
        self._watchers.add(watcher)
        if self.parent:
            self.parent.watch(watcher)


class _Aside(WeakKeyDictionary[Registry, Entry]):
    """What registries know of a class that has lost its name. The class has it, so that it goes when the class does."""

    def __reduce__(self) -> Any:
        return _Aside, ()  # for those who pickle classes as a whole: other processes have registries of their own


_ASIDE = "__signoff_aside__"


def _aside(cls: type) -> _Aside | None:
    """The place on a class for this; None if it is written in C, and stays for ever."""
    aside = cls.__dict__.get(_ASIDE)
    if aside is None:
        aside = _Aside()
        try:
            type.__setattr__(cls, _ASIDE, aside)
        except TypeError:
            return None
    return aside


REGISTRY = Registry()
"""The registry of the process."""


@overload
def register(cls: C, *, name: str | None = None, encode: Encoder | None = None, decode: Decoder | None = None) -> C: ...


@overload
def register(
    cls: None = None, *, name: str | None = None, encode: Encoder | None = None, decode: Decoder | None = None
) -> Callable[[C], C]: ...


def register(
    cls: Any = None, *, name: str | None = None, encode: Encoder | None = None, decode: Decoder | None = None
) -> Any:
    """Let instances of a class be stored, in every graph of this process. Also a decorator.

    Args:
        name: What the class is called in stored bytes, `module:qualname` by default. Give one to be free to
            move the class later.
        encode: From an instance to a value that can be stored; needed only for classes whose attributes do
            not say it all.
        decode: From that value to the instance.
    """
    if cls is None:
        return lambda cls: register(cls, name=name, encode=encode, decode=decode)
    REGISTRY.register(cls, name=name, encode=encode, decode=decode)
    return cls


def register_types(classes: Iterable[type], registry: Registry = REGISTRY) -> None:
    """Register the classes that a schema names, as found by `types_in`."""
    for cls in classes:
        if kind_of(cls) in REGISTRABLE and registry.find_class(cls) is None:
            registry.register(cls)


def has_lost_its_name(cls: type) -> bool:
    """Whether another class of the same name was registered since."""
    return _ASIDE in cls.__dict__


def name_of(cls: type) -> str:
    """What a class is called in stored bytes unless it was given a name."""
    return f"{module_of(cls)}:{cls.__qualname__}"


def _entry(cls: type, name: str | None, encode: Encoder | None, decode: Decoder | None) -> Entry:
    if not isinstance(cls, type):
        raise InvalidInput(f"register() takes a class, not {cls!r}.")
    if (encode is None) != (decode is None):
        raise InvalidInput(f"register({cls.__qualname__}) needs both `encode` and `decode`, or neither.")
    kind = kind_of(cls)
    if encode is not None and decode is not None:
        return Entry(cls, name or name_of(cls), None, Plan(encode, decode))
    if kind is None:
        raise InvalidInput(
            f"register({cls.__qualname__}) needs `encode` and `decode`: the class builds on one written in "
            "C, and its attributes do not say it all."
        )
    return Entry(cls, name or name_of(cls), kind, plan_for(cls, kind))


def _check_same_place(known: type, entry: Entry) -> None:
    if name_of(known) != name_of(entry.cls):
        raise InvalidInput(
            f"The name {entry.name!r} is taken by {name_of(known)}; it cannot be given to "
            f"{name_of(entry.cls)}. Choose another with register(..., name=...)."
        )
