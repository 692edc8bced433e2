"""Commands: what a node or a person says beside the values: where to go, what to run, which answer, what to replace."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Generic, Literal, final

from typing_extensions import TypeVar

from signoff._reprs import repr_of
from signoff._words.naming import public
from signoff._words.policies import TimeoutPolicy
from signoff._words.slots import setters_of
from signoff.constants import MISSING, OVERWRITE

__all__ = ["Command", "Overwrite", "Send"]

N = TypeVar("N", bound=Hashable, default=Any)


@public
@final
class Send:
    """Run `node` once in the next step with `arg` as its input, whatever the state says."""

    __slots__ = ("arg", "node", "timeout")

    # LangGraph's serializer makes one again from all three by place: so a timeout comes back from its savers.
    def __init__(self, /, node: str, arg: Any, timeout: "float | timedelta | TimeoutPolicy | None" = None) -> None:
        self.node = node
        self.arg = arg
        self.timeout = None if timeout is None else TimeoutPolicy.coerce(timeout)

    def __hash__(self) -> int:
        return hash(self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Send) and (self.node, self.arg) == (other.node, other.arg)

    def __repr__(self) -> str:
        return f"Send(node={self.node!r}, arg={repr_of(self.arg)})"


@public
@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[N]):
    """From a node: change the state and say where to go. As input: answer a question, change, go."""

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    graph: str | None = None
    update: Any | None = None
    resume: Any = MISSING
    """The answer. None is one, too; without `resume=` there is none."""
    goto: Send | Sequence[Send | N] | N = ()
    by: str | None = None
    """Who answers, for the history."""

    def __init__(
        self,
        *,
        graph: str | None = None,
        update: Any | None = None,
        resume: Any = MISSING,
        goto: Send | Sequence[Send | N] | N = (),
        by: str | None = None,
    ) -> None:
        # As a frozen dataclass does it, without looking each slot up by its name: every answer comes in one of these.
        _set_graph(self, graph)
        _set_update(self, update)
        _set_resume(self, resume)
        _set_goto(self, goto)
        _set_by(self, by)

    def __repr__(self) -> str:
        said = {name: getattr(self, name) for name in ("graph", "update", "goto", "by") if getattr(self, name)}
        if self.resume is not MISSING:
            said["resume"] = self.resume
        return f"Command({', '.join(f'{name}={repr_of(value)}' for name, value in said.items())})"


_set_graph, _set_update, _set_resume, _set_goto, _set_by = setters_of(Command)


@public
@dataclass(frozen=True, slots=True)
class Overwrite:
    """A write that replaces a key's value instead of going through its reducer."""

    value: Any
    type: Literal["__overwrite__"] = OVERWRITE
