"""Rules: which calls need no question. Written in code, or made by a person who says "from here on"."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, TypedDict
from urllib.parse import unquote

from signoff._annotations import is_async
from signoff.errors import InvalidInput

__all__ = ["Rule", "StoredRule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Calls that may run without a question.

    tool: the tool's name, or a pattern such as "read_*"; "*" is every tool.
    args: for some arguments the value, or a pattern ("/tmp/*"), that they must have. Others may be anything.
    when: a function from the request to whether the rule holds.
    until: the moment at which it ends.
    """

    tool: str = "*"
    args: Mapping[str, Any] = field(default_factory=dict)
    when: Callable[[Any], bool] | None = None
    until: datetime | None = None
    name: str | None = None
    """How the history calls it; by default what it covers."""

    def __post_init__(self) -> None:
        if not isinstance(self.tool, str):
            raise InvalidInput(f"The tool of a rule is a name or a pattern, such as 'read_*', not {self.tool!r}.")
        if not isinstance(self.args, Mapping):
            raise InvalidInput(f"The args of the rule for {self.tool!r} are a dict of patterns, not {self.args!r}.")
        check_predicate(self.when, f"The `when` of the rule for {self.tool!r}")
        if self.until is not None and getattr(self.until, "tzinfo", None) is None:
            raise InvalidInput(f"The rule for {self.tool!r} ends at {self.until}, in no time zone. Add tzinfo=UTC.")

    def covers(self, request: Any, now: datetime) -> bool:
        """Whether a call may run by this rule."""
        call = request.tool_call
        return (
            fits(self.tool, self.args, call["name"], call["args"])
            and (self.until is None or now < self.until)
            and (self.when is None or bool(self.when(request)))
        )

    def record(self) -> dict[str, Any]:
        """What the history says of a call that passed by this rule."""
        about: dict[str, Any] = {"name": self.name or self.tool, "tool": self.tool}
        if self.args:
            about["args"] = dict(self.args)
        if self.until is not None:
            about["until"] = self.until.isoformat()
        return {"type": "rule", "rule": about}


def check_predicate(function: Any, what: str) -> None:
    """Refuse what is no function, and one that is async: what it returns is true, whatever it would say."""
    if not (function is None or callable(function)):
        raise InvalidInput(f"{what} is a function, not {function!r}.")
    if function is not None and is_async(function):
        raise InvalidInput(f"{what} is async, and nobody would wait for what it says. Give a plain function.")


class StoredRule(TypedDict, total=False):
    """A rule that a person made, as it is stored."""

    id: str
    tool: str
    args: dict[str, Any]
    until: str
    by: str | None
    at: str | None
    because: dict[str, Any]
    """The decision that it rests on: the question, and the call that was approved."""


def holds(rule: StoredRule, request: Any, now: datetime) -> bool:
    """Whether a call may run by a stored rule."""
    call = request.tool_call
    until = rule.get("until")
    return fits(rule["tool"], rule.get("args", {}), call["name"], call["args"]) and (
        until is None or now < as_moment(until)
    )


def as_moment(text: str) -> datetime:
    """A time as people write it; in UTC where they say nothing else."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def merge_rules(known: dict[str, Any] | None, changes: dict[str, Any]) -> dict[str, Any]:
    """The rules of a thread after a change: None takes one away."""
    both = {**(known or {}), **changes}
    return {id: rule for id, rule in both.items() if rule is not None}


def as_rules(given: Sequence[Rule | str]) -> list[Rule]:
    """Rules as they are written in code; a bare name or pattern is an allow-list's entry."""
    # A bare text would be taken letter by letter, and the star in it for a rule that lets everything pass.
    is_list = isinstance(given, Iterable) and not isinstance(given, str)
    wrong = [one for one in given if not isinstance(one, Rule | str)] if is_list else [given]
    if wrong:
        raise InvalidInput(f"rules is a list of rules and names, such as ['read_*', Rule(...)], and has {wrong[0]!r}.")
    return [Rule(tool=one) if isinstance(one, str) else one for one in given]


# Matching


def fits(tool: str, args: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> bool:
    """Whether a call is one that a pattern means."""
    return fnmatchcase(name, tool) and all(
        key in given and _is_meant(key, wanted, given[key]) for key, wanted in args.items()
    )


def _is_meant(key: str, wanted: Any, value: Any) -> bool:
    if not isinstance(wanted, str) or not isinstance(value, str):
        return bool(wanted == value)
    if wanted in ("*", value):
        return True
    # A pattern is for what it seems to say: "/tmp/*" not for "/tmp/../etc", "git *" not for "git log; rm -rf /".
    leads_away = _does_more(value, wanted) if key in _COMMANDS else _climbs(value)
    return fnmatchcase(value, wanted) and not leads_away


_COMMANDS = {"bash", "cmd", "code", "command", "commands", "script", "shell", "shell_command"}
"""How arguments are called that a shell reads."""
_CHAINING = set(";|&$`<>\n\r(){}")
"""What makes more of a command than one."""
_GLOBBING = set("*?[]")
"""What a shell makes names of, which nobody has seen: those of files that lead out of a folder, too."""
_QUOTING = ("..", "\\", "'", '"', "~", "^", "%", "!")
"""What leads elsewhere, and what may hide that it does: a shell reads it as something else than it looks like. Where a
pattern says it, it is meant, but no star stands for it."""


def _does_more(command: str, pattern: str) -> bool:
    """Whether a shell would do something else than a pattern seems to say."""
    is_more = (_CHAINING | _GLOBBING) & set(command)
    return bool(is_more) or any(command.count(part) > pattern.count(part) for part in _QUOTING)


def _climbs(value: str) -> bool:
    """Whether a path in a text climbs, wherever it stands: not "a..b", which is a name."""
    plain = unquote(value)  # in an address, %2e%2e climbs as well
    return any(_CLIMBING.search(text) for text in (plain, _LEFT_OUT.sub("", plain)))


_LEFT_OUT = re.compile("[\t\n\r]")
"""What is left out of an address before it is read."""
_CLIMBING = re.compile(r"(?<![\w.~-])\.\.(?![\w.~-])")
