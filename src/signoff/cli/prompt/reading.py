"""Reading a question: what it is about, what may be decided, and how the answer has to look.

actions     {"action_requests": [...], "review_configs": [...]}  ->  {"decisions": [{"type": "approve"}, ...]}
one action  {"type": "tool_approval", "name": ..., "args": ...}  ->  {"type": "approve"}
interrupts  [{"action_request": ..., "config": ...}, ...]        ->  [{"type": "accept", "args": None}, ...]
a form      anything with a response_schema                      ->  what fits the schema
a choice    {"options": [...], ...}                              ->  one of the options
plain       anything else                                        ->  True, False, or what is typed
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from signoff._words.questions import Interrupt
from signoff.cli.prompt.changes import Change, change_in, is_diff

Kind = Literal["actions", "action", "interrupts", "form", "choice", "plain"]

Way = Literal["approve", "reject", "edit", "respond", "accept", "skip", "fill", "choose"]
"""What a person may do. `accept` is approve from here on; `skip` leaves the question open."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decide on."""

    title: str
    text: str = ""
    args: Any = None
    """What an action would be done with."""
    change: Change | None = None
    """What it would change in a file, as a unified diff."""
    ways: tuple[Way, ...] = ()
    args_schema: dict[str, Any] | None = None
    """What edited arguments must look like."""
    asker: str = ""
    """The subagents on the way to the one that asks."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about one item."""

    way: Way
    value: Any = None
    """The reason, the edited arguments, the words, or the answer itself."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A question, read."""

    kind: Kind
    items: tuple[Item, ...]
    schema: dict[str, Any] | None = None
    options: tuple[Any, ...] = ()

    @property
    def takes_reasons(self) -> bool:
        """Whether a rejection may say why. To a plain question it may not: a text is true, so it would be a yes."""
        return self.kind in ("actions", "action")

    def answer(self, decisions: Sequence[Decision]) -> Any:
        """The answer that decisions amount to, one for each item."""
        pairs = list(zip(self.items, decisions, strict=True))
        match self.kind:
            case "actions":
                return {"decisions": [_action_decision(item, one) for item, one in pairs]}
            case "action":
                return _action_decision(*pairs[0])
            case "interrupts":
                return [_response(item, one) for item, one in pairs]
            case _:
                return _bare(decisions[0])


def read(question: Interrupt[Any]) -> Reading:
    """What a question is about."""
    value, schema = question.value, question.response_schema
    if _is_actions(value):
        items = _actions(value, _takes_from_here_on(schema, "decisions"))
        return Reading("actions", tuple(replace(item, asker=_asker(value)) for item in items), schema)
    if _is_action(value):
        item = _action(value, value.get("review_config") or {}, _takes_from_here_on(schema))
        return Reading("action", (replace(item, asker=_asker(value)),), schema)
    if _is_interrupts(value):
        return Reading("interrupts", tuple(map(_interrupt, value)), schema)
    if schema is not None:
        return _form(_plain(value), schema)
    if isinstance(value, Mapping) and isinstance(value.get("options"), list) and value["options"]:
        rest = {name: part for name, part in value.items() if name != "options"}
        return Reading("choice", (_with_ways(_plain(rest), "choose", "skip"),), options=tuple(value["options"]))
    return Reading("plain", (_with_ways(_plain(value), "approve", "reject", "respond", "skip"),))


# Actions


def _is_actions(value: Any) -> bool:
    wanted = value.get("action_requests") if isinstance(value, Mapping) else None
    return isinstance(wanted, list) and bool(wanted) and all(map(_is_call, wanted))


def _is_action(value: Any) -> bool:
    is_meant = isinstance(value, Mapping) and value.get("type") == "tool_approval"
    return is_meant and _is_call(value) and isinstance(value.get("review_config") or {}, Mapping)


def _is_call(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("name"), str)


def _asker(value: Mapping[str, Any]) -> str:
    path = value.get("path")
    return " > ".join(map(str, path)) if isinstance(path, list) else ""


def _actions(value: Mapping[str, Any], from_here_on: bool) -> list[Item]:
    given = value.get("review_configs")
    reviews = [review for review in given if isinstance(review, Mapping)] if isinstance(given, list) else []
    return [_action(request, _review_of(request, reviews), from_here_on) for request in value["action_requests"]]


def _review_of(request: Mapping[str, Any], reviews: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next((review for review in reversed(reviews) if review.get("action_name") == request["name"]), {})


def _action(request: Mapping[str, Any], review: Mapping[str, Any], from_here_on: bool) -> Item:
    allowed, args_schema = review.get("allowed_decisions"), review.get("args_schema")
    if not allowed or not isinstance(allowed, Sequence) or isinstance(allowed, str):
        allowed = ("approve", "edit", "reject")
    ways: list[Way] = [way for way in ("approve", "reject", "edit", "respond") if way in allowed]
    if "approve" in ways and from_here_on:
        ways.append("accept")
    args = request.get("args")
    return Item(
        request["name"],
        str(request.get("description") or ""),
        args,
        _previewed(request.get("preview"), change_in(args)),
        (*ways, "skip"),
        args_schema if isinstance(args_schema, dict) else None,
    )


def _previewed(preview: Any, found: Change | None) -> Change | None:
    """A preview is shown in place of what was found in the arguments; only a diff makes any of these needless."""
    if not preview:
        return found
    told = found.told if found is not None and is_diff(preview) else frozenset[str]()
    return Change(str(preview), told)


def _takes_from_here_on(schema: dict[str, Any] | None, *inside: str) -> bool:
    """Whether the form of the answer knows "from here on"."""
    parts: Any = schema
    for name in inside:
        listed = _properties(parts).get(name)
        parts = (listed.get("prefixItems") or [listed.get("items")])[0] if isinstance(listed, Mapping) else None
    return "from_here_on" in _properties(parts)


def _properties(schema: Any) -> Mapping[str, Any]:
    """The fields of a part of a schema, which may be a bare yes or no, too."""
    return schema.get("properties") or {} if isinstance(schema, Mapping) else {}


def _action_decision(item: Item, decision: Decision) -> dict[str, Any]:
    match decision.way:
        case "accept":
            return {"type": "approve", "from_here_on": True}
        case "edit":
            return {"type": "edit", "edited_action": {"name": item.title, "args": decision.value}}
        case "reject" | "respond" if decision.value:
            return {"type": decision.way, "message": decision.value}
        case way:
            return {"type": way}


# The older shape


def _is_interrupts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_interrupt, value))


def _is_interrupt(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("config") or {}, Mapping):
        return False
    request = value.get("action_request")
    return isinstance(request, Mapping) and isinstance(request.get("action"), str)


_ALLOWED: tuple[tuple[str, Way], ...] = (
    ("allow_accept", "approve"),
    ("allow_ignore", "reject"),
    ("allow_edit", "edit"),
    ("allow_respond", "respond"),
)


def _interrupt(value: Mapping[str, Any]) -> Item:
    request, config = value["action_request"], value.get("config") or {}
    ways = tuple(way for setting, way in _ALLOWED if config.get(setting))
    args = request.get("args")
    return Item(request["action"], str(value.get("description") or ""), args, change_in(args), (*ways, "skip"))


def _response(item: Item, decision: Decision) -> dict[str, Any]:
    match decision.way:
        case "edit":
            return {"type": "edit", "args": {"action": item.title, "args": decision.value}}
        case "respond":
            return {"type": "response", "args": decision.value}
        case "reject":
            return {"type": "ignore", "args": None}
        case _:
            return {"type": "accept", "args": None}


# Forms and plain questions

_TEXTS = ("question", "message", "prompt", "text", "description", "title")
"""Under which names people put what they ask into a dict."""


def _plain(value: Any) -> Item:
    if isinstance(value, str):
        return Item("", value)
    if isinstance(value, Mapping):
        name = next((name for name in _TEXTS if isinstance(value.get(name), str)), None)
        rest = {key: part for key, part in value.items() if key != name}
        return Item("", str(value[name]) if name else "", rest or None, change_in(value))
    return Item("", "", value)


def _with_ways(item: Item, *ways: Way) -> Item:
    return replace(item, ways=ways)


def _form(item: Item, schema: dict[str, Any]) -> Reading:
    if schema.get("type") == "boolean" and "const" not in schema:
        return Reading("plain", (_with_ways(item, "approve", "reject", "skip"),), schema)
    if isinstance(schema.get("enum"), list):
        return Reading("choice", (_with_ways(item, "choose", "skip"),), schema, tuple(schema["enum"]))
    if "const" in schema:
        return Reading("choice", (_with_ways(item, "choose", "skip"),), schema, (schema["const"],))
    return Reading("form", (_with_ways(item, "fill", "skip"),), schema)


def _bare(decision: Decision) -> Any:
    match decision.way:
        case "approve" | "accept":
            return True
        case "reject":
            return False
        case _:
            return decision.value
