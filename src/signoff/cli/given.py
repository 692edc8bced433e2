"""What users give to commands: JSON, files, stdin, lengths of time."""

import getpass
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from signoff.errors import InvalidInput

_UNITS = {"s": "seconds", "min": "minutes", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def value_of(text: str | None, *, what: str) -> Any:
    """A value: JSON, or a text as it is, from where `text_of` takes it."""
    return None if text is None else meant_by(text_of(text, what=what), what=what)


def text_of(text: str, *, what: str) -> str:
    """A text, what is in an `@file`, or with `-` what comes on stdin."""
    if text == "-":
        text = _from_stdin(what)
        if not text.strip():
            raise InvalidInput(f"{what} was to come on stdin, and nothing came. An empty text is '\"\"'.")
    elif text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8-sig")  # some programs begin a text with a mark
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{what} {text!r} cannot be read: {error}.") from error
    return text.strip()


def meant_by(text: str, *, what: str) -> Any:
    """What a text means as JSON; itself where it is none."""
    try:
        return read_text(text)
    except RecursionError:
        raise InvalidInput(f"{what} is nested too deep.") from None


def read_json(text: str) -> Any:
    """What JSON means. NaN and Infinity are words, and no numbers that JSON has."""
    return json.loads(text, parse_constant=_no_number)


def read_text(text: str) -> Any:
    """What a text means as JSON; itself where it is none."""
    try:
        return read_json(text)
    except ValueError:
        return text


def fitting(value: Any, text: str, refusal: Callable[[Any], str | None]) -> Any:
    """What was read from a text; the text itself, if only that fits, or has more digits: it is a name, or an amount."""
    is_rounded = isinstance(value, float) and Decimal(text) != Decimal(repr(value))
    return text if (is_rounded or refusal(value) is not None) and refusal(text) is None else value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _from_stdin(what: str) -> str:
    try:
        return "" if sys.stdin is None else sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{what} came on stdin, and is no text in {error.encoding}: {error}.") from error


def json_of(text: str, *, what: str) -> Any:
    """JSON, from where `value_of` takes it."""
    value = value_of(text, what=what)
    if isinstance(value, str) and not text.lstrip().startswith('"') and not text.startswith(("@", "-")):
        raise InvalidInput(f"{what} is no JSON: {text!r}. Quote it, such as '{{\"amount\": 5}}', or use @file.")
    return value


def length_of(text: str | None) -> timedelta | None:
    """A length of time: 30s, 10min, 2h, 7d, 1w."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]+)", text.strip())
    try:
        if found is not None and found[2] in _UNITS:
            length = timedelta(**{_UNITS[found[2]]: float(found[1])})
            datetime.now(UTC) - length  # fails if there was no such time
            return length
    except OverflowError:
        pass
    raise InvalidInput(f"{text!r:.60} is no length of time. Use 30s, 10min, 2h, 7d or 1w.")


def person(by: str | None) -> str | None:
    """Who answers: as said, or the user of this machine."""
    if by is not None:
        return by
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return None
