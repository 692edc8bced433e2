"""Finding what should not be passed on in a text, and what to put in its place."""

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Literal, get_args

from typing_extensions import TypedDict

from signoff._annotations import refuse_async
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

    def __init__(self, pii_type: str, matches: Sequence[PIIMatch], message_id: str | None = None) -> None:
        how = f'update_state(config, {{"messages": [RemoveMessage({message_id!r})]}})'
        mend = "Take it out" if message_id is None else f"Take it out of the thread, {how}, and call the agent again"
        super().__init__(
            f"A message has {pii_type} in it ({len(matches)} times), and was not passed on. {mend}; or choose "
            'another strategy: "redact", "mask" or "hash".'
        )
        self.pii_type = pii_type
        self.message_id = message_id
        self.matches = list(matches)


# Finding


def detector_of(kind: str, given: Detector | str | None) -> Detector:
    """What finds a kind: a given function or pattern, or one that is known."""
    check_text("pii_type", kind)
    if callable(given):
        refuse_async("detector", given, InvalidInput)
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
        for found in _search(pattern, is_one, text)
    ]


def _search(pattern: re.Pattern[str], is_one: Callable[[str], bool], text: str) -> Iterator[re.Match[str]]:
    """What fits a pattern and is what it seems. Inside of something that is not, there may be something that is."""
    begin = 0
    while (found := pattern.search(text, begin)) is not None:
        begin = found.start() + 1
        if is_one(found[0]):
            begin = max(begin, found.end())
            yield found


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


# Every part of a pattern has a greatest length, so that no text takes long to search. Beside a match there may be
# letters of a script that has no spaces between words, so that `\b` does not do.
_LETTERS = "A-Za-z\u00c0-\u024f"
_HOST = rf"(?:[{_LETTERS}0-9](?:[{_LETTERS}0-9-]{{0,61}}[{_LETTERS}0-9])?\.){{1,10}}[{_LETTERS}]{{2,63}}"
_REST = r"[^\s<>\"']{0,2000}[^\s<>\"'.,;:!?)\]}]"  # a full stop behind it belongs to the sentence
_IPV4 = r"(?a:(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w))"  # a port may stand behind it, and a name before
_IPV6 = r"(?a:(?:(?<![\w.:])|(?<=\w:))[0-9A-Fa-f:.]{1,44}(?:[0-9A-Fa-f]|::)(?!\w|:[\w:]|\.\w))"
_PATTERNS = {
    "email": rf"(?<![{_LETTERS}0-9_])[{_LETTERS}0-9._%+-]{{1,64}}@{_HOST}",
    "credit_card": r"(?<!\d)(?:\d{4}[\s-]?\d{4}[\s-]?\d{4}[\s-]?\d{1,7}|\d{4}[\s-]\d{6}[\s-]\d{5})(?!\d)",
    "ip": f"{_IPV4}|{_IPV6}",
    "mac_address": r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![0-9A-Za-z])",
    "url": rf"(?i:https?)://{_REST}|(?<![{_LETTERS}0-9])(?:(?i:www)\.{_HOST}|{_HOST}(?=/))(?:/{_REST})?",
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
        parts, rest = [], 0
        for start, end in _apart(found):
            parts += [text[rest:start], _instead(kind, strategy, text[start:end])]
            rest = end
        return "".join([*parts, text[rest:]]) if parts else text

    return replace


def _apart(found: Sequence[PIIMatch]) -> list[tuple[int, int]]:
    """Where something was found, in order; what overlaps is one."""
    places: list[tuple[int, int]] = []
    for one in found:
        start, end = one["start"], one["end"]
        if places and start < places[-1][1]:
            start, end = places[-1][0], max(end, places.pop()[1])
        places.append((start, end))
    return places


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
            return re.sub(r"\d(?=(?:[\s-]?\d){4})", "*", value)
        case "ip" if "." in value:
            return f"*.*.*.{value.rpartition('.')[2]}"
        case "mac_address":
            return re.sub(r"[0-9A-Fa-f](?=.{2})", "*", value)
        case "ip" | "url":
            return f"[MASKED_{kind.upper()}]"
    return f"****{value[-4:]}" if len(value) > 4 else "****"
