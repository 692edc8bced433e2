"""What every saver promises. The checks know nothing of a saver but its public methods."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import ERROR
from signoff.errors import InvalidInput
from signoff.testing.conformance import savers
from signoff.testing.conformance._saver_words import at, ids, made, put

LONG = {"memory", "sqlite", "postgres", "redis"}
"""Those that are tried with 10,000 checkpoints; the others go the same way to the same database."""


WHOLE = ["memory", "memory_by_async", "sqlite", "sqlite_aio", "postgres", "postgres_aio", "redis", "redis_aio"]
CROSSED = ["sqlite_by_async", "sqlite_aio_by_sync"]
"""Savers of one kind that are called in the other way: they differ in who waits for whom alone, so some checks do."""

CHECKS = [*savers.CHECKS, *savers.OWN_CHECKS, *savers.RANDOM_CHECKS]
EACH = [(name, check) for name in WHOLE for check in CHECKS] + [
    (name, check) for name in CROSSED for check in CHECKS[::4]
]


@pytest.mark.parametrize(("open_saver", "check"), EACH, ids=str, indirect=["open_saver"])
def test_saver(check, open_saver, request):
    is_long = request.node.callspec.params["open_saver"] in LONG
    check(savers.World(open_saver, checkpoints=10_000 if is_long else 200))


@pytest.mark.parametrize(
    "name",
    ["sqlite", "sqlite_by_async", "sqlite_aio", "sqlite_aio_by_sync", "postgres", "postgres_aio", "redis", "redis_aio"],
)
@pytest.mark.parametrize("check", savers.LOG_CHECKS, ids=str)
def test_saver_with_a_log(check, openers, name):
    check(savers.World(openers[name]))


# Whatever happens, in whatever order

names = st.sampled_from("ab")
steps = st.one_of(
    st.tuples(
        st.just("put"),
        names,  # thread
        st.sampled_from(["", "n"]),  # namespace
        st.integers(-1, 12),  # parent
        st.dictionaries(st.sampled_from("xyz"), st.one_of(st.none(), st.integers(0, 3)), max_size=3),
        st.sampled_from(["r1", "r2", None]),  # run
    ),
    st.tuples(st.just("put_writes"), names, st.integers(0, 12), st.sampled_from([ERROR, "x", "y"])),
    st.tuples(st.just("again"), names, st.integers(0, 12), st.integers(0, 3)),
    st.tuples(st.just("prune"), names, st.sampled_from(["keep_latest", "delete"])),
    st.tuples(st.just("delete_for_runs"), st.sampled_from(["r1", "r2"])),
    st.tuples(st.just("copy_thread"), names, names),
    st.tuples(st.just("get_tuple"), names),
)


class Story:
    """Things that happen to several savers alike."""

    def __init__(self, savers):
        self.savers = savers
        self.states = {}
        self.next_id = 0

    def tell(self, step):
        kind, *rest = step
        outcomes = list(map(getattr(self, kind)(*rest), self.savers))
        assert all(outcome == outcomes[0] for outcome in outcomes), (step, outcomes)
        listings = [list(saver.list(None)) for saver in self.savers]
        assert all(listing == listings[0] for listing in listings), step

    def put(self, thread, ns, parent, changes, run):
        """A checkpoint after one that was there at some time, or after none; a None in changes removes."""
        parent = f"{parent:02}" if parent >= 0 else None
        values, versions = self.states.get((thread, ns, parent), ({}, {}))
        values, versions = {**values, **changes}, {**versions, **dict.fromkeys(changes, self.next_id)}
        values = {name: value for name, value in values.items() if value is not None}
        id, self.next_id = f"{self.next_id:02}", self.next_id + 1
        self.states[thread, ns, id] = values, versions
        new = {name: versions[name] for name in changes}
        checkpoint, metadata = made(id, values, versions), {"run_id": run}
        return lambda saver: saver.put(at(parent, thread=thread, ns=ns), checkpoint, metadata, new)

    def again(self, thread, number, value):
        """A checkpoint that is stored once more, with other values."""
        id = f"{number:02}"
        checkpoint = made(id, {"x": value}, {"x": 100 + number})
        return lambda saver: saver.put(at(thread=thread), checkpoint, {}, {"x": 100 + number})

    def put_writes(self, thread, number, channel):
        return lambda saver: saver.put_writes(at(f"{number:02}", thread=thread), [(channel, self.next_id)], "t")

    def prune(self, thread, strategy):
        return lambda saver: saver.prune([thread], strategy=strategy)

    def delete_for_runs(self, run):
        return lambda saver: saver.delete_for_runs([run])

    def get_tuple(self, thread):
        return lambda saver: saver.get_tuple(at(thread=thread))

    def copy_thread(self, source, target):
        def copy(saver):
            try:
                return saver.copy_thread(source, target)
            except InvalidInput as error:
                return str(error)

        return copy


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(steps, max_size=25))
def test_whatever_happens_every_saver_holds_the_same(openers, monkeypatch, told):
    from signoff.checkpoint.log import plans

    monkeypatch.setattr(plans, "MAX_DEPTH", 2)  # so that snapshots and deltas take turns in a short story
    story = Story([InMemorySaver(), openers["sqlite"](":memory:")])
    for step in told:
        story.tell(step)


@pytest.mark.parametrize("name", ["postgres", "redis"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(steps, max_size=20))
def test_whatever_happens_a_server_holds_the_same_as_memory(openers, monkeypatch, name, told):
    from signoff.checkpoint.log import plans

    monkeypatch.setattr(plans, "MAX_DEPTH", 2)
    server = openers[name]()
    for thread in "ab":
        server.delete_thread(thread)
    story = Story([InMemorySaver(), server])
    for step in told:
        story.tell(step)


def test_a_run_with_an_empty_id_is_not_one_without(open_saver):
    saver = open_saver()
    for id, metadata in {"1": {"run_id": ""}, "2": {}, "3": {"run_id": ":"}}.items():
        put(saver, id, metadata=metadata)
    saver.delete_for_runs([""])
    assert ids(saver.list(at())) == ["3", "2"]


def test_what_a_config_says_beside_its_place_is_metadata_of_what_is_put_there(open_saver):
    saver = open_saver()
    place = {"thread_id": "t", "checkpoint_ns": "", "tenant": "acme", "__private": "secret"}
    saver.put({"configurable": place, "metadata": {"run_id": "r-1"}}, made("1"), {"source": "loop", "step": 1}, {})
    (found,) = saver.list(None, filter={"run_id": "r-1", "tenant": "acme"})
    assert found.metadata == {"source": "loop", "step": 1, "run_id": "r-1", "tenant": "acme"}
