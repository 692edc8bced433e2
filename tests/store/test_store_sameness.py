"""The same program has the same results on every store: random programs, side by side."""

from contextlib import ExitStack

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from servers import postgres, redis
from signoff.store.base import PutOp
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import PostgresStore
from signoff.store.redis import RedisStore
from signoff.store.sqlite import SqliteStore

namespaces = st.lists(st.sampled_from(["a", "b", "ab", "*", "\0"]), min_size=1, max_size=3).map(tuple)
keys = st.sampled_from(["x", "y", "", "\1"])
values = st.fixed_dictionaries(
    {"text": st.text("abcd", max_size=3), "n": st.none() | st.integers(0, 3) | st.sampled_from([10**30, "1", -0.0])},
    optional={"more": st.just([1]), "odd": st.sampled_from(["\ud800", "\0", {"n": 1}])},
)
puts = st.builds(
    PutOp,
    namespaces,
    keys,
    st.none() | values,
    st.sampled_from([None, False, ["n"]]),
    st.none() | st.integers(1, 3),
)
filters = st.none() | st.sampled_from([{"n": 1}, {"n": {"$gt": 0}}, {"more": [1]}, {"n": None}, {"odd.n": 1}])
counts = st.sampled_from([0, 1, 4, 10**30])


def letters(texts):
    return [[float(text.count(letter)) for letter in "abcd"] for text in texts]


class SideBySide(RuleBasedStateMachine):
    @initialize(refreshes=st.booleans(), omits=st.booleans())
    def open(self, refreshes, omits):
        self.now = 1_700_000_000.0
        options = {
            "index": {"dims": 4, "embed": letters, "fields": ["text"]},
            "ttl": {"refresh_on_read": refreshes, "omit_expired": omits},
            "clock": lambda: self.now,
        }
        self.opened = ExitStack()
        opened = self.opened.enter_context
        postgres_url = opened(postgres.schema(postgres.shared_url()))
        prefix = opened(redis.prefix(redis.shared_url()))
        self.stores = (
            InMemoryStore(**options),
            opened(SqliteStore.from_conn_string(":memory:", **options)),
            opened(PostgresStore.from_conn_string(postgres_url, **options)),
            opened(RedisStore.from_conn_string(redis.shared_url(), prefix=prefix, **options)),
        )

    def teardown(self):
        if hasattr(self, "opened"):
            self.opened.close()

    def same(self, action):
        results = [action(store) for store in self.stores]
        assert all(result == results[0] for result in results), results
        return results[0]

    @rule(ops=st.lists(puts, min_size=1, max_size=4))
    def put(self, ops):
        self.same(lambda store: store.batch(ops))

    @rule(namespace=namespaces, key=keys)
    def get(self, namespace, key):
        self.same(lambda store: store.get(namespace, key))

    @rule(
        prefix=st.just(()) | namespaces,
        filter=filters,
        query=st.sampled_from([None, "a", "bc"]),
        limit=counts,
        offset=counts,
    )
    def search(self, prefix, filter, query, limit, offset):
        found = self.same(lambda store: store.search(prefix, filter=filter, query=query, limit=limit, offset=offset))
        self.same(lambda store: [item.score for item in store.search(prefix, filter=filter, query=query)])
        assert len(found) <= limit

    @rule(prefix=st.none() | namespaces, max_depth=st.none() | st.integers(0, 3))
    def list(self, prefix, max_depth):
        self.same(lambda store: store.list_namespaces(prefix=prefix, max_depth=max_depth))

    @rule(minutes=st.integers(1, 2))
    def wait(self, minutes):
        self.now += minutes * 60

    @rule()
    def sweep(self):
        self.same(lambda store: store.sweep_ttl())


TestSideBySide = SideBySide.TestCase
TestSideBySide.settings = settings(
    max_examples=25, stateful_step_count=25, suppress_health_check=[HealthCheck.too_slow]
)
