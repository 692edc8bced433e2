"""The names of keys and fields. All keys of a thread have one hash tag, so that a cluster has them in one place.

    {prefix:thread}:t      hash: epoch, holder, expires, changes; ended: who had it last;
                           @<namespace>: the id of its newest checkpoint; ?<id>: when an open question was noted down
    {prefix:thread}:c      hash: a checkpoint's row under its namespace and id
    {prefix:thread}:w      hash: the writes kept with a checkpoint under its namespace and id
    {prefix:thread}:l      set: the lineages of lists
    {prefix:thread}:l:...  list: the items of one lineage
    {prefix:thread}:b      hash: large values by digest
    {prefix:thread}:q      hash: the open questions by id
    {prefix:thread}:n      never there: no script runs while a cluster moves the thread, see _redis
    {prefix}:threads       sorted set: threads that may be there, by the time when they were noted down
    {prefix}:asked         sorted set: questions that may be open, as t<time><id><thread> and as i<id><thread><time>
    {prefix}:noted         hash: when each of these was noted down

The last three only say where to look. A thread is noted down there before it is begun, a question before it is asked;
the script that does so refuses if that was not done, or was done too long ago. What is not there any more is crossed
out by whoever finds that, but not before a while has passed. So nothing that is there can be missing in them.
"""

from signoff._redis.prefixes import checked_prefix
from signoff.errors import InvalidInput

__all__ = [
    "GRACE_S",
    "HEAD",
    "QUESTIONS",
    "ROWS",
    "Names",
    "by_id",
    "by_time",
    "encoded",
    "field_of",
    "of_id",
    "parts_of_field",
    "parts_of_member",
    "span_of",
]

GRACE_S = 3600
"""For how long what was noted down stays so, though there is nothing."""

HEAD, ROWS, QUESTIONS = 0, 1, 4
"""Which of the keys of a thread has what."""

_SEP = "\x00"


class Names:
    """The names of the keys that begin with a prefix."""

    def __init__(self, prefix: str) -> None:
        # Where it ends must be plain: else thread `b:c` of `a` would be thread `c` of `a:b`.
        self.prefix = checked_prefix(prefix).replace("%", "%25").replace(":", "%3A")
        self.threads = encoded(f"{{{self.prefix}}}:threads")
        self.asked = encoded(f"{{{self.prefix}}}:asked")
        self.noted = encoded(f"{{{self.prefix}}}:noted")

    def of_thread(self, thread_id: str) -> list[bytes]:
        """The keys of a thread but for those of lineages: t, c, w, b, q, l; and n, which is never there."""
        base = f"{{{self.prefix}:{thread_id}}}"
        return [encoded(f"{base}:{kind}") for kind in "tcwbqln"]

    def of_lineage(self, thread_id: str, lineage: int) -> bytes:
        """The key of a lineage."""
        return encoded(f"{{{self.prefix}:{thread_id}}}:l:{lineage}")


def field_of(ns: str, id: str) -> bytes:
    """A namespace and an id as the name of a field."""
    return encoded(f"{_escaped(ns)}{_SEP}{_escaped(id)}")


def encoded(text: str) -> bytes:
    """A text as Redis has it."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"Redis cannot store {text!r}: it has half of a surrogate pair in it.") from error


def parts_of_field(field: bytes) -> tuple[str, str]:
    """The namespace and the id."""
    ns, _, id = field.decode().partition(_SEP)
    return _plain(ns), _plain(id)


def by_time(asked_at: str, id: str, thread_id: str) -> bytes:
    """A question as it stands in the index, sorted by when it was asked."""
    return b"t" + _joined(asked_at, id, thread_id)


def by_id(asked_at: str, id: str, thread_id: str) -> bytes:
    """The same, to be found by its id."""
    return of_id(id) + _joined(thread_id, asked_at)


def of_id(id: str, thread_id: str | None = None) -> bytes:
    """How those begin that have an id, in one thread or in any."""
    return b"i" + _joined(id, *([] if thread_id is None else [thread_id]), "")


def parts_of_member(member: bytes) -> tuple[str, str, str]:
    """When a question was asked, its id, its thread."""
    one, two, three = (_plain(part) for part in member[1:].decode("utf-8", "surrogatepass").split(_SEP))
    return (one, two, three) if member.startswith(b"t") else (three, one, two)


def span_of(after: tuple[str, str] | None, asked_after: str | None, asked_before: str | None) -> tuple[bytes, bytes]:
    """Where the questions begin and end that were asked behind a place of the order, after and before some times."""
    begins = [b""]
    begins += [] if after is None else [_joined(*after, "") + _LAST]
    begins += [] if asked_after is None else [_joined(asked_after, "") + _LAST]
    return b"(t" + max(begins), b"(u" if asked_before is None else b"(t" + _joined(asked_before)


_LAST = b"\xff"
"""Behind whatever may follow."""


def _joined(*parts: str) -> bytes:
    return _SEP.join(map(_escaped, parts)).encode("utf-8", "surrogatepass")


def _escaped(text: str) -> str:
    return text.replace("\x01", "\x01\x02").replace(_SEP, "\x01\x01") if "\x00" in text or "\x01" in text else text


def _plain(text: str) -> str:
    return text.replace("\x01\x01", _SEP).replace("\x01\x02", "\x01") if "\x01" in text else text
