"""Types that one serializer takes besides the registered ones; those given by name are imported."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Union

from signoff._modules import imported, real_name
from signoff.checkpoint.serde.kinds import kind_of
from signoff.checkpoint.serde.registry import REGISTRY, Entry, Registry, name_of
from signoff.errors import InvalidInput

__all__ = ["AllowList", "Allowed"]

Allowed = Union[type, tuple[str, ...]]  # noqa: UP007 - `type | tuple` is not an alias that can be documented
"""A class, or where to find it: `("package.module", "Name")`."""


@dataclass(frozen=True)
class AllowList:
    """Classes, names of classes, or simply everything."""

    classes: frozenset[type] = frozenset()
    names: frozenset[str] = frozenset()
    everything: bool = False

    @classmethod
    def of(cls, *lists: Iterable[Allowed] | Literal[True]) -> "AllowList":
        """The union of what was asked for."""
        found = cls(everything=any(allowed is True for allowed in lists))
        for allowed in lists:
            for one in () if allowed is True else allowed:
                found = found | _one(one)
        return found

    def __or__(self, other: "AllowList") -> "AllowList":
        return AllowList(self.classes | other.classes, self.names | other.names, self.everything or other.everything)

    def __bool__(self) -> bool:
        return bool(self.classes or self.names or self.everything)

    def registry(self) -> Registry:
        """A registry with these classes on top of those of the process."""
        registry = _OpenRegistry(self)
        for cls in self.classes:
            if kind_of(cls) is not None:  # else it is built in, or needs `register` with encode and decode
                registry.register(cls)
        return registry


def _one(allowed: Any) -> AllowList:
    if isinstance(allowed, type):
        return AllowList(classes=frozenset({allowed}))
    if isinstance(allowed, tuple) and len(allowed) > 1 and all(isinstance(part, str) for part in allowed):
        return AllowList(names=frozenset({f"{real_name('.'.join(allowed[:-1]))}:{allowed[-1]}"}))
    raise InvalidInput(f"An allow-list has classes and ('module', 'Name') in it, not {allowed!r}.")


class _OpenRegistry(Registry):
    """A registry that also takes what an allow-list names, and imports it when it is loaded."""

    def __init__(self, allowed: AllowList) -> None:
        super().__init__(REGISTRY)
        self._allowed = allowed

    def find_class(self, cls: type) -> Entry | None:
        """The entry of a class that is registered or allowed."""
        if (known := super().find_class(cls)) is not None:
            return known
        return self._take(cls) if self._allows(name_of(cls)) else None

    def find_name(self, name: str) -> Entry | None:
        """The entry of a name that is registered, or allowed and there to be imported."""
        if (known := super().find_name(name)) is not None:
            return known
        cls = _imported(name) if self._allows(name) else None
        return self._take(cls) if isinstance(cls, type) and name_of(cls) == name else None

    def _allows(self, name: str) -> bool:
        return self._allowed.everything or name in self._allowed.names

    def _take(self, cls: type) -> Entry | None:
        return self.register(cls) if kind_of(cls) is not None else None


def _imported(name: str) -> Any:
    module, _, qualname = name.partition(":")
    try:
        found: Any = imported(module)
        for part in qualname.split("."):
            found = getattr(found, part)
    except Exception:
        return None
    return found
