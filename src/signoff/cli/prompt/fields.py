"""Filling in a form: field by field from a JSON Schema, each checked where it is typed."""

import json
from collections.abc import Mapping
from typing import Any

from signoff import forms
from signoff.cli.given import read_text
from signoff.cli.plain import printable
from signoff.cli.prompt.choosing import Option, choose
from signoff.cli.prompt.lines import line

MISSING, NEEDED = object(), object()

_GIVE_UP = object()


class GivenUp(Exception):
    """The person does not go on filling in."""


def fill_in(schema: Mapping[str, Any], now: Any = MISSING) -> Any:
    """A value that fits a schema. `now` is what the fields begin with. Raises GivenUp."""
    while True:
        value = _field("", schema, schema, now)
        refused = forms.refusal(dict(schema), value)
        if refused is None:
            return value
        # Each field fits, but not all of them together.
        print(printable(f"  {refused}"))
        now = value


def _field(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], now: Any, *, is_needed: bool = True) -> Any:
    blank = _blank(schema, is_needed)
    schema = resolved(schema, root)
    label = str(schema.get("title") or name or "answer")
    if schema.get("type") == "object" and schema.get("properties"):
        return _object(schema, root, now)
    now = schema.get("default", MISSING) if now is MISSING else now
    if values := _values(schema):
        return _choice(label, values, now, blank)
    return _typed(label, schema, root, now, blank)


def _blank(schema: Mapping[str, Any], is_needed: bool) -> Any:
    """What a field means that is left empty: MISSING, None, or, where something must be typed, NEEDED."""
    if not is_needed:
        return MISSING
    return None if any(part.get("type") == "null" for part in schema.get("anyOf", ())) else NEEDED


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], now: Any) -> dict[str, Any]:
    values = _unnamed(schema, now)
    needed = schema.get("required", ())
    for name, part in schema["properties"].items():
        before = now.get(name, MISSING) if isinstance(now, Mapping) else MISSING
        value = _field(name, part, root, before, is_needed=name in needed)
        if value is not MISSING:
            values[name] = value
    return values


def _unnamed(schema: Mapping[str, Any], now: Any) -> dict[str, Any]:
    """What is there, and may be, though the schema has no field for it: nobody has said that it is to go."""
    if not isinstance(now, Mapping) or schema.get("additionalProperties") is False:
        return {}
    return {name: value for name, value in now.items() if name not in schema["properties"]}


def _values(schema: Mapping[str, Any]) -> list[Any]:
    """What a field may be, if that is one of a few. Even where it is one only, nobody but a person says so."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema.get("enum", (True, False) if schema.get("type") == "boolean" else ()))


def _choice(label: str, values: list[Any], now: Any, blank: Any) -> Any:
    """One of some values, or none. What is there now is chosen before, or that nothing is, never what nobody said."""
    options = [Option(value, _shown(value)) for value in values]
    if blank is not NEEDED:
        options.append(Option(blank, "(leave out)" if blank is MISSING else "(nothing)"))
    first = 0 if blank is NEEDED else len(values)
    options.append(Option(_GIVE_UP, "give up", "g"))
    chosen = choose(options, f"{label}:", chosen=values.index(now) if now in values else first)
    if chosen is _GIVE_UP:
        raise GivenUp
    print(printable(f"  {label}: {'(left out)' if chosen is MISSING else _shown(chosen)}"))
    return chosen


def _shown(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _typed(label: str, schema: Mapping[str, Any], root: Mapping[str, Any], now: Any, blank: Any) -> Any:
    """A field that is typed; what does not fit is told below it, and can be mended."""
    whole = {**schema, **{name: root[name] for name in ("$defs", "definitions") if name in root}}
    begun = text = "" if now in (MISSING, None) else now if isinstance(now, str) else json.dumps(now)
    while True:
        text = line(f"  {label}{_hint(schema)}: ", text)
        if not text.strip() and blank is not NEEDED:
            return blank
        # The text "5" stays one, where the schema would take a number, too.
        value = now if text and text == begun else parsed(text, schema)
        refused = forms.refusal(whole, value)
        if refused is None:
            return value
        print(printable(f"    {refused.removeprefix('answer: ')}"))


def _hint(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    return f" ({kind})" if kind in ("integer", "number", "array", "object") else ""


def parsed(text: str, schema: Mapping[str, Any]) -> Any:
    """What a text means in a field: JSON, or itself where the schema takes a text."""
    return text if schema.get("type") in ("string", ["string"]) else read_text(text)


def resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a schema, with the definition that it refers to in its place; of `X or nothing`, X."""
    while "$ref" in schema:
        _, kind, name = str(schema["$ref"]).split("/", 2)
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**root.get(kind, {}).get(name, {}), **rest}
    some = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if len(some) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return resolved({**some[0], **rest}, root)
    return schema
