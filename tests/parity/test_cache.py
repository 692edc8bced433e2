"""Caches: results of earlier runs with the same input."""

from .harness import Programs, thread, unordered
from .states import Counted, Log, a

program = Programs()


def _counting(calls):
    def work(state):
        calls.append(state["count"])
        return {"log": [f"work {state['count']}"]}

    return work


def _cached(lib, calls, **policy):
    graph = lib.StateGraph(Counted)
    graph.add_node("work", _counting(calls), cache_policy=lib.CachePolicy(**policy))
    return lib.connect(graph, "START>work>END")


@program
def p56_the_same_input_is_computed_once(lib):
    calls = []
    app = lib.app(_cached(lib, calls), cache=lib.InMemoryCache())
    yield app.invoke({"log": [], "count": 1})
    yield app.invoke({"log": [], "count": 1})
    yield app.invoke({"log": [], "count": 2})
    yield calls


@program
def p56_a_hit_is_streamed_with_the_cached_mark(lib):
    app = lib.app(_cached(lib, []), cache=lib.InMemoryCache())
    yield app.stream({"log": [], "count": 1}, mode=["updates", "values"])
    yield app.stream({"log": [], "count": 1}, mode=["updates", "values"])


@program
def p56_a_cache_is_shared_over_threads(lib):
    calls = []
    app = lib.saved(_cached(lib, calls), cache=lib.InMemoryCache())
    yield app.invoke({"log": [], "count": 1}, thread("1"))
    yield app.invoke({"log": [], "count": 1}, thread("2"))
    yield calls
    yield [(snapshot.values, snapshot.next) for snapshot in app.history(thread("2"))]


@program
def p56_a_cache_can_be_cleared(lib):
    calls = []
    app = lib.app(_cached(lib, calls), cache=lib.InMemoryCache())
    app.invoke({"log": [], "count": 1})
    app.clear_cache()
    app.invoke({"log": [], "count": 1})
    app.clear_cache(["work"])
    app.invoke({"log": [], "count": 1})
    yield calls


@program
def p56_a_key_of_ones_own(lib):
    calls = []
    app = lib.app(_cached(lib, calls, key_func=lambda state: str(state["count"] % 2)), cache=lib.InMemoryCache())
    yield app.invoke({"log": [], "count": 1})
    yield app.invoke({"log": [], "count": 3})
    yield app.invoke({"log": [], "count": 2})
    yield calls


@program
def p56_no_cache_no_caching(lib):
    calls = []
    app = lib.app(_cached(lib, calls))
    app.invoke({"log": [], "count": 1})
    app.invoke({"log": [], "count": 1})
    yield calls


@program
def p56_caching_of_sends(lib):
    calls = []

    def work(state):
        calls.append(state["n"])
        return {"log": [f"work {state['n']}"]}

    graph = lib.StateGraph(Log)
    graph.add_node("work", work, cache_policy=lib.CachePolicy())
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", {"n": n}) for n in (1, 2)])
    app = lib.app(graph, cache=lib.InMemoryCache())
    yield app.invoke({"log": []})
    yield unordered(app.stream({"log": []}, mode="updates"))
    yield sorted(calls)


@program
def p56_a_default_policy_for_all_nodes(lib):
    calls = []
    graph = lib.StateGraph(Counted)
    graph.set_node_defaults(cache_policy=lib.CachePolicy())
    graph.add_node("work", _counting(calls))
    app = lib.app(lib.connect(graph, "START>work>END"), cache=lib.InMemoryCache())
    app.invoke({"log": [], "count": 1})
    app.invoke({"log": [], "count": 1})
    yield calls


@program
def p56_a_cached_node_that_routes(lib):
    calls = []

    def go(state):
        calls.append(1)
        return lib.Command(update={"log": ["go"]}, goto="a")

    graph = lib.StateGraph(Log)
    graph.add_node("go", go, cache_policy=lib.CachePolicy()).add_node("a", a)
    app = lib.app(lib.connect(graph, "START>go, a>END"), cache=lib.InMemoryCache())
    yield app.invoke({"log": []})
    yield app.invoke({"log": []})
    yield calls


@program
def p56_a_failure_is_not_cached(lib):
    calls = []

    def fragile(state):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("first")
        return {"log": ["done"]}

    graph = lib.StateGraph(Log)
    graph.add_node("fragile", fragile, cache_policy=lib.CachePolicy())
    app = lib.app(lib.connect(graph, "START>fragile>END"), cache=lib.InMemoryCache())
    yield app.invoke({"log": []}, fails=True)
    yield app.invoke({"log": []})
    yield app.invoke({"log": []})
    yield calls


@program
def p56_a_node_that_changes_its_input_in_place(lib):
    calls = []

    def work(state):
        calls.append(list(state["log"]))
        state["log"].append("changed")
        return {"count": len(state["log"])}

    graph = lib.StateGraph(Counted)
    graph.add_node("work", work, cache_policy=lib.CachePolicy())
    app = lib.app(lib.connect(graph, "START>work>END"), cache=lib.InMemoryCache())
    for log in ([], [], ["changed"], ["changed"]):
        yield app.invoke({"log": log, "count": 0})["count"]
    yield calls


@program
def p56_a_call_that_changes_its_arguments_in_place(lib):
    calls = []

    @lib.task(cache_policy=lib.CachePolicy())
    def work(items):
        calls.append(list(items))
        items.append("changed")
        return len(items)

    app = lib.flow(lambda items: work(list(items)).result(), cache=lib.InMemoryCache())
    for items in ([], [], ["changed"]):
        yield app.invoke(items)
    yield calls


@program
def p56_the_key_of_a_call_is_made_of_its_arguments(lib):
    calls, asked = [], []

    def key(n, *, by=2):
        asked.append((n, by))
        return f"{n % 2} {by}"

    @lib.task(cache_policy=lib.CachePolicy(key_func=key))
    def times(n, *, by=2):
        calls.append((n, by))
        return n * by

    app = lib.flow(lambda given: times(*given[0], **given[1]).result(), cache=lib.InMemoryCache())
    for given in (((1,), {}), ((3,), {}), ((1,), {"by": 3}), ((), {"by": 3, "n": 1})):
        yield app.invoke(given)
    yield calls, asked


def _told_to_say(lib, word, calls, **options):
    """A graph out of many that one function makes: their nodes have the same names."""

    def say(state):
        calls.append(word)
        return {"log": [word]}

    graph = lib.StateGraph(Counted).add_node("say", say, cache_policy=lib.CachePolicy(key_func=lambda state: "same"))
    return lib.connect(graph, "START>say>END").compile(**options)


@program
def p56_a_nested_graph_has_no_cache_but_its_own(lib):
    calls = []
    graph = lib.StateGraph(Counted)
    for name, options in (("a", {}), ("b", {}), ("c", {"cache": lib.InMemoryCache()})):
        graph.add_node(name, _told_to_say(lib, name, calls, **options))
    called = _told_to_say(lib, "d", calls)
    graph.add_node("d", lambda state: {"count": len(called.invoke(state)["log"])})
    app = lib.app(lib.connect(graph, "START>a>b>c>d>END"), cache=lib.InMemoryCache())
    yield app.invoke({"log": [], "count": 1})
    yield app.invoke({"log": [], "count": 1})
    yield calls


def _shown(chunks):
    return [{name: value for name, value in chunk.items() if name != "id"} for chunk in chunks]


@program
def p56_a_hit_is_seen_to_begin(lib):
    app = lib.app(_cached(lib, []), cache=lib.InMemoryCache())
    for _ in range(2):
        yield _shown(app.stream({"log": [], "count": 1}, mode="tasks"))


@program
def p56_a_hit_beside_a_node_that_runs(lib):
    graph = lib.StateGraph(Counted)
    graph.add_node("work", _counting([]), cache_policy=lib.CachePolicy())
    graph.add_node("also", lambda state: {"log": ["also"]})
    app = lib.app(lib.connect(graph, "START>work>END, START>also>END"), cache=lib.InMemoryCache())
    for _ in range(2):
        shown = app.stream({"log": [], "count": 1}, mode=["tasks", "updates"])
        yield unordered([(mode, *_shown([chunk])) for mode, chunk in shown])


@program
def p56_a_cached_call_is_seen_to_begin(lib):
    @lib.task(cache_policy=lib.CachePolicy())
    def double(n):
        return n * 2

    app = lib.flow(lambda n: double(n).result(), cache=lib.InMemoryCache())
    for _ in range(2):
        yield _shown(app.stream(1, mode="tasks"))
        yield app.stream(1, mode="updates")


test_same = program.as_test()
