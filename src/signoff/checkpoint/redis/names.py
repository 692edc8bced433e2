"""The names of keys and fields. All keys of a thread have one hash tag, so that a cluster has them in one place.

    {prefix:thread}:t      hash: epoch, holder, expires, changes, and h<namespace>: the id of its newest checkpoint
    {prefix:thread}:c      hash: a checkpoint's row under its namespace and id
    {prefix:thread}:w      hash: the writes kept with a checkpoint under its namespace and id
    {prefix:thread}:l      set: the lineages of lists
    {prefix:thread}:l:...  list: the items of one lineage
    {prefix:thread}:b      hash: large values by digest
    {prefix:thread}:q      hash: the open questions by id
    {prefix:thread}:n      never there: no script runs while a cluster moves the thread, see _redis
    {prefix}:threads       sorted set: threads that may be there, by the time when they were noted down
    {prefix}:asking        sorted set: threads that may have open questions, the same

The last two only say where to look. A thread is noted down there before it is begun, or before it asks; the script
that does so refuses if that was not done, or was done too long ago. One that has nothing any more is crossed out by
whoever finds that, but not before a while has passed. So nothing that is there can be missing in them.
"""

from signoff._redis.prefixes import checked_prefix
from signoff.errors import InvalidInput

__all__ = ["GRACE_S", "Names", "encoded", "field_of", "parts_of_field"]

GRACE_S = 3600
"""For how long a thread that was noted down stays so, though it has nothing."""

_SEP = "\x00"


class Names:
    """The names of the keys that begin with a prefix."""

    def __init__(self, prefix: str) -> None:
        # Where it ends must be plain: else thread `b:c` of `a` would be thread `c` of `a:b`.
        self.prefix = checked_prefix(prefix).replace("%", "%25").replace(":", "%3A")
        self.threads = encoded(f"{{{self.prefix}}}:threads")
        self.asking = encoded(f"{{{self.prefix}}}:asking")

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


def _escaped(text: str) -> str:
    return text.replace("\x01", "\x01\x02").replace(_SEP, "\x01\x01") if "\x00" in text or "\x01" in text else text


def _plain(text: str) -> str:
    return text.replace("\x01\x01", _SEP).replace("\x01\x02", "\x01") if "\x01" in text else text
