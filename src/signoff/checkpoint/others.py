"""Savers of others: how those that know only `put` and `put_writes` are called, and what they are told they lack."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from signoff._annotations import signature_of
from signoff.checkpoint.records import Commit, TaskWrites
from signoff.constants import RESUME, Missing

__all__ = ["check_answers", "lacks", "make_known", "path_for"]

_WORDS = [("signoff.types", name) for name in ("Command", "Interrupt", "Overwrite", "Send", "TimeoutPolicy")]


def make_known(saver: Any, types: Iterable[type] = ()) -> None:
    """Have a saver make our words again, and the classes of a program: LangGraph's may be told to make no others."""
    serde = getattr(saver, "serde", None)
    if not hasattr(getattr(serde, "serde", serde), "with_msgpack_allowlist"):  # one that encrypts has one inside
        return
    known = [*_WORDS, (Missing.__module__, Missing.__name__), *((one.__module__, one.__name__) for one in types)]
    extended = saver.with_allowlist(known)
    if extended is not saver:
        saver.serde = extended.serde


def check_answers(saver: Any, commits: Sequence[Commit]) -> None:
    """Refuse answers of which some can be stored and others not, while none of them is."""
    given = [one.writes for commit in commits for one in map(TaskWrites._make, commit.writes)]
    serde = getattr(saver, "serde", None)  # one of another kind may encode in a way of its own
    if serde is None or not any(name == RESUME for writes in given for name, _ in writes):
        return
    from signoff.checkpoint.encoding import encoded_writes

    for writes in given:
        encoded_writes(serde, writes)


def path_for(put_writes: Any, path: str) -> tuple[str, ...]:
    """The path of a task, for a saver that wants it; those written before there was one do not."""
    function = getattr(put_writes, "__func__", None)
    return (path,) if _takes_path(function or put_writes, 4 if function else 3) else ()


@lru_cache(maxsize=128)
def _takes_path(put_writes: Any, others: int) -> bool:
    parameters = signature_of(put_writes).parameters.values()
    by_name = any(one.name == "task_path" or one.kind is one.VAR_POSITIONAL for one in parameters)
    return by_name or len(parameters) > others


def lacks(saver: Any, method: str) -> str:
    """What is said of a saver that has only half of its methods."""
    twin = method.removeprefix("a") if method.startswith("a") else f"a{method}"
    way = "ainvoke, astream, aget_state" if not method.startswith("a") else "invoke, stream, get_state"
    return (
        f"{type(saver).__name__} has no {method}(). If it has {twin}(), use the graph's {way}, ...; else another saver."
    )
