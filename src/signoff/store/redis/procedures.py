"""The store's procedures, written once for sync and async: each asks for a script to be run, is told its result."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from signoff._redis.effects import Part, Run
from signoff._redis.prefixes import checked_prefix
from signoff.errors import SignoffError, Undecodable
from signoff.steps import Steps
from signoff.store._batches import listed
from signoff.store._filters import passes
from signoff.store._lanes import LANES, Lane
from signoff.store._lifetimes import expiry, horizon
from signoff.store._prepared import Answer, Found, Prepared, Put, Settings, answer, literal_prefix, loaded, prepare
from signoff.store._shells import Procedures
from signoff.store._vectors import ranked
from signoff.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp
from signoff.store.redis.scripts import BATCH, SET_UP, VERSION

__all__ = ["StoreTooNew", "procedures_of"]

LONG_AGO = -1e300
"""Before everything that ever expired."""

NO_LANE = Lane("", 0)
"""For what may be done twice, since it answers the same each time, or nothing."""


class StoreTooNew(SignoffError):
    """The store in Redis was written by a newer signoff; nothing was changed in it."""


def procedures_of(prefix: str) -> Procedures:
    """The procedures of the store whose keys begin with the prefix."""
    kept = _Store(f"{{{checked_prefix(prefix)}}}")
    return Procedures(kept.set_up, kept.batch, kept.sweep)


@dataclass(frozen=True, slots=True)
class _Store:
    base: str

    @property
    def keys(self) -> tuple[str, str]:
        return self.base, f"{self.base}:version"

    def set_up(self) -> Steps[None]:
        """See that the keys are such as this version knows. Any number of processes may do so at once."""
        version = yield Run(SET_UP, self.keys, (VERSION,))
        if version > VERSION:
            raise StoreTooNew(
                f"The store {self.base} in Redis is of version {version}, this signoff knows {VERSION}: "
                "upgrade signoff."
            )

    def batch(self, settings: Settings, ops: Iterable[Op], now: float) -> Steps[list[Result]]:
        """Perform operations in one call; reads see what was there before."""
        prepared = yield from prepare(settings, ops)
        if not prepared.ops:
            return []
        reads = [op for op in prepared.ops if not isinstance(op, PutOp)]
        seen_after = max(horizon(settings.ttl, now), LONG_AGO)
        asked = [part for op in reads for part in _asked(op, prepared)]
        told = [part for put in prepared.puts for part in _told(put, now)]
        call = self._once if told else self._call
        raw = yield from call(repr(seen_after), (*asked, *told))
        answers = [_answer(settings, op, prepared, one) for op, one in zip(reads, raw, strict=False)]
        yield from self._refresh(reads, answers, now)
        results = iter(answers)
        return [None if isinstance(op, PutOp) else next(results)[0] for op in prepared.ops]

    def sweep(self, now: float) -> Steps[int]:
        """Remove expired items and say how many."""
        raw = yield from self._once(repr(now), (b"sweep", repr(now)))
        count: int = raw[0]
        return count

    def _refresh(self, reads: Sequence[Op], answers: Sequence[Answer], now: float) -> Steps[None]:
        # Apart from the reads: what a filter lets pass is known only now.
        refreshing = (found for op, (_, found) in zip(reads, answers, strict=True) if getattr(op, "refresh_ttl", False))
        places = dict.fromkeys(one.id for found in refreshing for one in found if one.has_ttl)
        if places:
            parts = [part for place in places for part in (b"refresh", *place, repr(now))]
            yield from self._call(repr(LONG_AGO), parts)

    def _once(self, seen_after: str, parts: Sequence[Part]) -> Steps[Any]:
        """Call the script, and not a second time if its answer is lost."""
        lane = LANES.take()
        try:
            return (yield from self._call(seen_after, parts, lane))
        finally:
            LANES.give(lane)

    def _call(self, seen_after: str, parts: Sequence[Part], lane: Lane = NO_LANE) -> Steps[Any]:
        return (yield Run(BATCH, self.keys, (seen_after, *lane, *parts)))


def _asked(op: Op, prepared: Prepared) -> Sequence[Part]:
    match op:
        case GetOp():
            return (b"get", _name(op.namespace), op.key.encode())
        case SearchOp():
            has_query = prepared.query_of(op) is not None
            # A filter or a vector is judged here, on everything there is; without them a page is all that is needed.
            page = (0, -1) if has_query or op.filter else (op.offset, op.limit)
            return (b"search", _name(op.namespace_prefix), *page, int(has_query))
        case ListNamespacesOp():
            return (b"list", _name(literal_prefix(op)))
        case PutOp():
            raise AssertionError("a put is told, not asked")


def _told(put: Put, now: float) -> Sequence[Part]:
    op = put.op
    if put.text is None:
        return (b"delete", _name(op.namespace), op.key.encode())
    times = (repr(now), _or_nothing(op.ttl), _or_nothing(expiry(op.ttl, now)))
    return (b"put", _name(op.namespace), op.key.encode(), put.text.encode(), *times, len(put.vectors), *put.vectors)


def _answer(settings: Settings, op: Op, prepared: Prepared, raw: Any) -> Answer:
    match op:
        case GetOp():
            return answer(op, [_found(raw)] if raw else [], settings.load)
        case SearchOp():
            return _searched(settings, op, prepared.query_of(op), raw)
        case _:
            assert isinstance(op, ListNamespacesOp), "puts have no answer"
            return listed((_labels(one) for one in raw), op), []


def _searched(settings: Settings, op: SearchOp, query: bytes | None, raw: Sequence[Any]) -> Answer:
    found = {one.id: one for one in map(_found, raw)}
    ids = [one for one in found if not op.filter or passes(loaded(settings.load, found[one].text), op.filter)]
    scored: list[tuple[Any, float | None]] = [(one, None) for one in ids]
    if query is not None:
        passing = set(ids)
        vectors = ((_place(one), vector) for one in raw if _place(one) in passing for vector in one[6])
        scored = ranked(ids, vectors, query)
    if query is not None or op.filter:
        scored = scored[op.offset : op.offset + op.limit]
    shown = [(found[one], score) for one, score in scored]
    return [one.search_item(settings.load, score) for one, score in shown], [one for one, _ in shown]


def _found(raw: Sequence[Any]) -> Found:
    namespace, key, text, created_at, updated_at, ttl = raw[:6]
    if text is None:
        raise _evicted(_labels(namespace), key.decode())
    place = (namespace, key)
    return Found(
        place, _labels(namespace), key.decode(), text.decode(), float(created_at), float(updated_at), bool(ttl)
    )


def _evicted(namespace: tuple[str, ...], key: str) -> Undecodable:
    return Undecodable(
        f"Item {key!r} of {namespace!r} is not there any more: Redis has evicted it to make room (its maxmemory-policy "
        f"must be noeviction), or somebody has removed the key. put() it again, or delete({namespace!r}, {key!r})."
    )


def _place(raw: Sequence[Any]) -> tuple[bytes, bytes]:
    return raw[0], raw[1]


def _name(namespace: tuple[str, ...]) -> bytes:
    return ".".join(namespace).encode()


def _labels(name: bytes) -> tuple[str, ...]:
    return tuple(name.decode().split("."))


def _or_nothing(number: float | None) -> str:
    return "" if number is None else repr(float(number))
