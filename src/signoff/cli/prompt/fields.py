"""Filling in a form: field by field from a JSON Schema, each checked where it is typed."""

import json
from collections.abc import Mapping
from typing import Any

from signoff import forms
from signoff.cli.given import fitting, read_text
from signoff.cli.plain import as_json, plain, printable
from signoff.cli.prompt.choosing import Option, choose
from signoff.cli.prompt.lines import line
from signoff.cli.prompt.schemas import resolved, values_of

MISSING, _FILL_IN, _GIVE_UP = object(), object(), object()


class GivenUp(Exception):
    """The person does not go on filling in."""


def fill_in(schema: Mapping[str, Any], now: Any = MISSING) -> Any:
    """A value that fits a schema. `now` is what is there, which Enter everywhere gives back. Raises GivenUp."""
    now = _default(schema, schema) if now is MISSING else now
    while True:
        value = _field("", schema, schema, now)
        refused = forms.refusal(dict(schema), value)
        if refused is None:
            return value
        # Each field fits, but not all of them together.
        print(printable(f"  {refused}"))
        now = value


def _field(name: str, part: Any, root: Mapping[str, Any], now: Any, *, is_needed: bool = True) -> Any:
    schema, is_nullable = resolved(part, root)
    blanks = [blank for blank, may_be in ((MISSING, not is_needed), (None, is_nullable)) if may_be]
    title = part.get("title") if isinstance(part, Mapping) else None
    label = _label(str(title or name or schema.get("title") or "answer"))
    if schema.get("type") == "object" and schema.get("properties"):
        return _object(label, schema, root, now, blanks)
    if values := values_of(schema):
        return _choice(label, values, now, blanks)
    return _typed(label, schema, root, now, blanks)


def _label(name: str) -> str:
    """A name on one line, so that it looks like no other field."""
    return as_json(name) if "\n" in name else printable(name)


def _default(part: Any, root: Mapping[str, Any]) -> Any:
    """What a field begins with where nothing is there yet."""
    default = resolved(part, root)[0].get("default")
    return MISSING if default is None else default


def _object(label: str, schema: Mapping[str, Any], root: Mapping[str, Any], now: Any, blanks: list[Any]) -> Any:
    """An object, field by field; where there may be none, a person says first whether there is to be one."""
    if blanks:
        chosen = _choice(label, [_FILL_IN], _FILL_IN if isinstance(now, Mapping) else now, blanks)
        if chosen is not _FILL_IN:
            return chosen
    values = _unnamed(schema, now)
    needed = schema.get("required", ())
    for name, part in schema["properties"].items():
        before = now.get(name, MISSING) if isinstance(now, Mapping) else _default(part, root)
        value = _field(name, part, root, before, is_needed=name in needed)
        if value is not MISSING:
            values[name] = value
    return values


def _unnamed(schema: Mapping[str, Any], now: Any) -> dict[str, Any]:
    """What is there, and may be, though the schema has no field for it: nobody has said that it is to go."""
    if not isinstance(now, Mapping) or schema.get("additionalProperties") is False:
        return {}
    return {name: value for name, value in now.items() if name not in schema["properties"]}


def _choice(label: str, values: list[Any], now: Any, blanks: list[Any]) -> Any:
    """One of some values, or none. What is there now is chosen before; where nothing is, and may be, nothing."""
    offered = [*values, *blanks]
    first = len(values) if blanks else 0
    first = offered.index(now) if now in offered else first
    options = [*(Option(value, _shown(value)) for value in offered), Option(_GIVE_UP, "give up", "g")]
    chosen = choose(options, f"{label}:", chosen=first)
    if chosen is _GIVE_UP:
        raise GivenUp
    print(printable(f"  {label}: {_shown(chosen)}"))
    return chosen


def _shown(value: Any) -> str:
    for word, meant in (("(leave out)", MISSING), ("(nothing)", None), ("fill in", _FILL_IN)):
        if value is meant:
            return word
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _typed(label: str, schema: Mapping[str, Any], root: Mapping[str, Any], now: Any, blanks: list[Any]) -> Any:
    """A field that is typed; what does not fit is told below it, and can be mended."""

    def refusal(value: Any) -> str | None:
        return None if value in blanks else forms.refusal(dict(root), value, dict(schema))

    begun = text = _begun(now)
    is_fit = now is not MISSING and refusal(now) is None
    while True:
        text = line(f"  {label}{_hint(schema)}: ", text)
        # What nobody has changed stays: the text "5" is no number, where the schema would take that, too.
        value = now if text == begun and is_fit else fitting(_meant(text, schema, blanks), text, refusal)
        refused = refusal(value)
        if refused is None:
            return value
        print(printable(f"    {refused.removeprefix('answer: ')}"))


def _begun(now: Any) -> str:
    """What is there, as it would be typed."""
    shown = "" if now in (MISSING, None) else plain(now)
    return shown if isinstance(shown, str) else json.dumps(shown)


def _meant(text: str, schema: Mapping[str, Any], blanks: list[Any]) -> Any:
    return blanks[0] if blanks and not text.strip() else parsed(text, schema)


def _hint(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    return f" ({kind})" if kind in ("integer", "number", "array", "object") else ""


def parsed(text: str, schema: Mapping[str, Any]) -> Any:
    """What a text means in a field: JSON, or itself where the schema takes a text."""
    return text if schema.get("type") in ("string", ["string"]) else read_text(text)
