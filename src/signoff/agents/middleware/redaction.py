"""Finding what should not be passed on in a text, and what to put in its place."""

import ipaddress
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Literal, get_args

from typing_extensions import TypedDict

from signoff.agents.middleware.checks import check_text
from signoff.errors import InvalidInput, SignoffError

__all__ = ["Detector", "PIIDetectionError", "PIIMatch", "Strategy", "detector_of", "replacing"]

Strategy = Literal["block", "redact", "mask", "hash"]


class PIIMatch(TypedDict):
    """Something that was found in a text."""

    type: str
    value: str
    start: int
    end: int


Detector = Callable[[str], Sequence[PIIMatch]]


class PIIDetectionError(SignoffError):
    """Something was found that must not be passed on."""

    def __init__(self, pii_type: str, matches: Sequence[PIIMatch]) -> None:
        super().__init__(
            f"A message has {pii_type} in it ({len(matches)} times), and was not passed on. Take it out, or choose "
            'another strategy: "redact", "mask" or "hash".'
        )
        self.pii_type = pii_type
        self.matches = list(matches)


# Finding


def detector_of(kind: str, given: Detector | str | None) -> Detector:
    """What finds a kind: a given function or pattern, or one that is known."""
    check_text("pii_type", kind)
    if callable(given):
        return given
    if given is not None:
        check_text("detector", given)
    if given is None and kind not in _PATTERNS:
        raise InvalidInput(
            f"How is {kind!r} found? Give a detector, a function or a pattern; known are: {', '.join(_PATTERNS)}."
        )
    try:
        pattern = re.compile(_PATTERNS[kind] if given is None else given)
    except re.error as error:
        raise InvalidInput(f"The detector {given!r} is no pattern: {error}.") from error
    is_one = _CHECKS.get(kind, _anything) if given is None else _anything
    return lambda text: [
        PIIMatch(type=kind, value=found[0], start=found.start(), end=found.end())
        for found in pattern.finditer(text)
        if is_one(found[0])
    ]


def _anything(text: str) -> bool:
    return True


def _is_card(text: str) -> bool:
    """Whether the digits add up as those of a card do (Luhn)."""
    digits = [int(digit) for digit in text if digit.isdecimal()]
    doubled = [2 * digit - 9 if digit > 4 else 2 * digit for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


# Every part of a pattern has a greatest length, so that no text takes long to search.
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,10}[A-Za-z]{2,63}"
_REST = r"[^\s<>\"']{0,2000}[^\s<>\"'.,;:!?)\]}]"  # a full stop behind it belongs to the sentence
_PATTERNS = {
    "email": rf"\b[A-Za-z0-9._%+-]{{1,64}}@{_HOST}\b",
    "credit_card": r"(?<!\d)(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{5})(?!\d)",
    "ip": r"(?<![\w.:])[0-9A-Fa-f:.]{1,44}[0-9A-Fa-f:](?![\w:])(?!\.\w)",
    "mac_address": r"\b[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}\b",
    "url": rf"\bhttps?://{_REST}|\b(?:www\.{_HOST}|{_HOST}(?=/))(?:/{_REST})?",
}
_CHECKS = {"credit_card": _is_card, "ip": _is_address}


# Replacing


def replacing(kind: str, strategy: Strategy, find: Detector) -> Callable[[str], str]:
    """What makes of a text one that may be passed on; the same text, if there is nothing in it."""
    if strategy not in get_args(Strategy):
        raise InvalidInput(f'strategy must be "block", "redact", "mask" or "hash", not {strategy!r}.')

    def replace(text: str) -> str:
        found = sorted(find(text), key=lambda one: one["start"])
        if found and strategy == "block":
            raise PIIDetectionError(kind, found)
        parts, end = [], 0
        for one in found:
            if one["start"] >= end:  # else it is in what was found before
                parts += [text[end : one["start"]], _instead(kind, strategy, text[one["start"] : one["end"]])]
                end = one["end"]
        return "".join([*parts, text[end:]]) if parts else text

    return replace


def _instead(kind: str, strategy: Strategy, value: str) -> str:
    match strategy:
        case "hash":
            return f"<{kind}_hash:{sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}>"
        case "mask":
            return _masked(kind, value)
    return f"[REDACTED_{kind.upper()}]"


def _masked(kind: str, value: str) -> str:
    """So much of it that whoever knows it recognises it."""
    match kind:
        case "email":
            name, _, host = value.partition("@")
            return f"{name}@****.{host.rpartition('.')[2]}"
        case "credit_card":
            return re.sub(r"\d(?=(?:[ -]?\d){4})", "*", value)
        case "ip" if "." in value:
            return f"*.*.*.{value.rpartition('.')[2]}"
        case "mac_address":
            return re.sub(r"[0-9A-Fa-f](?=.{2})", "*", value)
        case "ip" | "url":
            return f"[MASKED_{kind.upper()}]"
    return f"****{value[-4:]}" if len(value) > 4 else "****"
