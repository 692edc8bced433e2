"""Editing the arguments of an action: in $EDITOR as JSON, or field by field."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from signoff import forms
from signoff.cli.given import read_json
from signoff.cli.plain import as_json, printable
from signoff.cli.prompt.choosing import Option, choose
from signoff.cli.prompt.fields import GivenUp, fill_in


def edit(args: Any, schema: dict[str, Any] | None) -> Any:
    """Arguments as a person wants them; what does not fit the schema is shown, and can be mended. Raises GivenUp."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        return fill_in(schema or schema_of(args), args)
    text = as_json(args, indent=2)
    while True:
        try:
            text = _edited(editor, text)
            reason = _wrong(text, schema)
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            reason = f"{editor} did not work: {error}."
        if reason is None:
            return read_json(text)
        print(printable(f"  {reason}"))
        if choose([Option(True, "edit again", "e"), Option(False, "give up", "g")]) is False:
            raise GivenUp


def _edited(editor: str, text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arguments.json"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor), str(file)], check=True)
        return file.read_text(encoding="utf-8-sig")


def _wrong(text: str, schema: dict[str, Any] | None) -> str | None:
    try:
        value = read_json(text)
    except ValueError as error:
        return f"This is no JSON: {error}."
    return None if schema is None else forms.refusal(schema, value)


_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def schema_of(args: Any) -> dict[str, Any]:
    """A schema for arguments that came without one: what they are now."""
    if isinstance(args, dict):
        fields = {name: {"type": _TYPES[type(value)]} if type(value) in _TYPES else {} for name, value in args.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}
    return {}
