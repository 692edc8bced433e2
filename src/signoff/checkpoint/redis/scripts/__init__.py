"""The scripts. Each is one transaction, and doing it twice is the same as doing it once.

KEYS are those of one thread: t, c, w, b, q, l, n. What is written is one argument, packed. A row of `c` is
{parent, depth, seal, run, body}, one of `w` a list of {task, index, path, writes}.
"""

from signoff.checkpoint.redis.scripts.asking import CROSS_OUT_ASKED, NOTE_ASKED
from signoff.checkpoint.redis.scripts.reading import CHILDREN, EVERYTHING, FETCH, PARTS, SINGLES
from signoff.checkpoint.redis.scripts.tidying import CLEAN, COPY, DELETE, DOOM
from signoff.checkpoint.redis.scripts.words import DONE, LOST, MOVED, NOT_NOTED, STALE
from signoff.checkpoint.redis.scripts.writing import APPEND, CROSS_OUT, NOTE, RENEW

__all__ = ["APPEND", "CHILDREN", "CLEAN", "COPY", "CROSS_OUT", "CROSS_OUT_ASKED", "DELETE", "DONE", "DOOM",
           "EVERYTHING", "FETCH", "LOST", "MOVED", "NOTE", "NOTE_ASKED", "NOT_NOTED", "PARTS", "RENEW", "SINGLES",
           "STALE"]  # fmt: skip
