"""Real graphs on every saver: pauses, history, updates, forks, other processes, and death in the middle."""

import asyncio
import operator
import signal
import textwrap
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from signoff.checkpoint.base import Lease
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.errors import LeaseLost
from signoff.graph import END, START, StateGraph
from signoff.types import Command, Send, interrupt
from warm import run

CONFIG = {"configurable": {"thread_id": "t", "who": "ana"}}


class State(TypedDict, total=False):
    """A list that grows, a count, and a note that comes and goes."""

    log: Annotated[list, operator.add]
    count: int
    note: str


def plan(state):
    return {"log": ["plan"], "count": state.get("count", 0) + 1}


def ask(state):
    return {"log": [f"answered {interrupt({'ask': state['count']})}"]}


def beside(state):
    return {"log": ["beside"]}


def fan_out(state):
    return [Send("work", {"number": number}) for number in range(2)]


def work(state):
    return {"log": [f"work {state['number']}"]}


def inner(state):
    return {"log": ["inner"], "note": f"{interrupt('inside')}"}


def build():
    nested = StateGraph(State)
    nested.add_node("inner", inner)
    nested.add_edge(START, "inner")
    graph = StateGraph(State)
    for node in (plan, ask, beside, work):
        graph.add_node(node.__name__, node)
    graph.add_node("nested", nested.compile())
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "ask")
    graph.add_edge("plan", "beside")
    graph.add_edge(["ask", "beside"], "nested")
    graph.add_conditional_edges("nested", fan_out, ["work"])
    graph.add_edge("work", END)
    return graph


def masked(value: Any, names: dict[str, str]) -> Any:
    """The same with ids replaced by the order in which they show."""
    if isinstance(value, dict):
        return {masked(key, names): masked(item, names) for key, item in value.items() if key != "checkpoint_map"}
    if isinstance(value, list | tuple):
        return [masked(item, names) for item in value]
    if isinstance(value, str):
        return "|".join(
            ":".join(
                names.setdefault(part, f"id{len(names)}") if len(part) in (32, 36) else part
                for part in level.split(":")
            )
            for level in value.split("|")
        )
    return value


def seen(snapshot, names):
    tasks = [
        (task.name, task.error, [question.value for question in task.interrupts], task.result)
        for task in snapshot.tasks
    ]
    return masked(
        [
            snapshot.values,
            snapshot.next,
            snapshot.config,
            snapshot.metadata,
            snapshot.parent_config,
            sorted(tasks, key=str),
        ],
        names,
    )


def story(app):
    """A conversation with pauses, an update, a fork and a second turn; everything that can be seen of it."""
    results = [app.invoke({"log": ["start"]}, CONFIG)]
    results.append(app.invoke(Command(resume="one"), CONFIG))
    results.append(app.invoke(Command(resume="two"), CONFIG))
    app.update_state(CONFIG, {"log": ["by hand"]}, as_node="work")
    history = list(app.get_state_history(CONFIG))
    old = next(one for one in history if one.next == ("plan",))
    results.append(app.invoke(None, old.config))
    results.append(app.invoke(Command(resume="again"), CONFIG))
    results.append(app.invoke({"log": ["next turn"]}, CONFIG, on_pending="discard"))
    names: dict[str, str] = {}
    shown = [seen(one, names) for one in app.get_state_history(CONFIG)]
    filtered = [one.metadata["step"] for one in app.get_state_history(CONFIG, filter={"source": "loop"}, limit=3)]
    for result in results:
        result.pop("__interrupt__", None)
    return results, shown, filtered, seen(app.get_state(CONFIG, subgraphs=False), names)


class AsAsync:
    """A graph whose sync methods are its async ones."""

    def __init__(self, app, portal):
        self.app, self.portal = app, portal

    def invoke(self, *args, **named):
        return self.portal.run(self.app.ainvoke(*args, **named))

    def update_state(self, *args, **named):
        return self.portal.run(self.app.aupdate_state(*args, **named))

    def get_state(self, *args, **named):
        return self.portal.run(self.app.aget_state(*args, **named))

    def get_state_history(self, *args, **named):
        async def collected():
            return [one async for one in self.app.aget_state_history(*args, **named)]

        return iter(self.portal.run(collected()))


@pytest.fixture(params=["sqlite", "sqlite async", "sqlite_aio", "sqlite_aio from a thread"])
def app(request, openers, portal):
    """The graph on a saver in a file."""
    if request.param.startswith("sqlite_aio"):
        compiled = build().compile(checkpointer=openers["sqlite_aio_by_sync"]())
    else:
        compiled = build().compile(checkpointer=openers["sqlite"]())
    return compiled if request.param in ("sqlite", "sqlite_aio from a thread") else AsAsync(compiled, portal)


def test_the_same_story_on_every_saver(app):
    expected = story(build().compile(checkpointer=InMemorySaver()))
    assert story(app) == expected
    assert expected[0][2]["log"][-2:] == ["work 0", "work 1"]


@contextmanager
def reopened(path):
    with SqliteSaver.from_conn_string(path) as saver:
        yield build().compile(checkpointer=saver)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_is_answered_by_another_saver_of_the_same_file(tmp_path, durability):
    path, inputs = str(tmp_path / "saver.db"), [{"log": []}, Command(resume="one"), Command(resume="two")]
    kept = build().compile(checkpointer=InMemorySaver())
    for input in inputs:
        expected = kept.invoke(input, CONFIG, durability=durability)
        with reopened(path) as app:
            result = app.invoke(input, CONFIG, durability=durability)
        assert result["log"] == expected["log"]
    assert result == expected
    assert result["note"] == "two"
    with reopened(path) as app:
        steps = [one.metadata["step"] for one in app.get_state_history(CONFIG)]
    assert steps == [one.metadata["step"] for one in kept.get_state_history(CONFIG)]


class Counted:
    """A saver that counts what goes through its puts."""

    count = 0

    def put(self, *args):
        self.count += 1
        return super().put(*args)


class CountedAsync:
    """The same for an async one."""

    count = 0

    async def aput(self, *args):
        self.count += 1
        return await super().aput(*args)


class CountedMemory(Counted, InMemorySaver):
    pass


class CountedSqlite(Counted, SqliteSaver):
    pass


class CountedAsyncSqlite(CountedAsync, AsyncSqliteSaver):
    pass


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("cls", [CountedMemory, CountedSqlite, CountedAsyncSqlite])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_saver_with_a_put_of_its_own_is_asked_for_every_checkpoint(portal, tmp_path, cls, is_async, durability):
    def converse(saver):
        app = build().compile(checkpointer=saver)
        app = AsAsync(app, portal) if is_async else app
        for input in ({"log": []}, Command(resume="one"), Command(resume="two")):
            result = app.invoke(input, CONFIG, durability=durability)
        return result, [one.metadata["step"] for one in app.get_state_history(CONFIG)]

    async def opened():
        async with CountedAsyncSqlite.from_conn_string(str(tmp_path / "saver.db")) as saver:
            return await asyncio.to_thread(converse, saver), saver.count, [one async for one in saver.alist(None)]

    expected = converse(InMemorySaver())
    if cls is CountedAsyncSqlite:
        shown, count, stored = asyncio.run(opened())
    else:
        with ExitStack() as stack:
            by_file = cls is CountedSqlite
            saver = stack.enter_context(cls.from_conn_string(str(tmp_path / "saver.db"))) if by_file else cls()
            shown, count, stored = converse(saver), saver.count, list(saver.list(None))
    assert shown == expected
    assert count == len(stored)


def test_a_long_conversation_is_read_back_as_it_was(tmp_path):
    path = str(tmp_path / "saver.db")
    graph = StateGraph(State)
    graph.add_node("plan", plan)
    graph.add_edge(START, "plan")
    with SqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        for turn in range(40):
            app.invoke({"log": [turn]}, CONFIG)
    with SqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        history = list(app.get_state_history(CONFIG))
    expected = [item for turn in range(40) for item in (turn, "plan")]
    assert history[0].values == {"log": expected, "count": 40}
    ends = [one.values for one in history if not one.next]
    assert ends == [{"log": expected[: 2 * turns], "count": turns} for turns in range(40, 0, -1)]


PROGRAM = textwrap.dedent(
    """
    import operator, os, signal, sys
    from typing import Annotated
    from typing_extensions import TypedDict
    from signoff.checkpoint.sqlite import SqliteSaver
    from signoff.graph import START, StateGraph
    from signoff.types import Command, interrupt

    path, effects, dies_at = sys.argv[1], sys.argv[2], sys.argv[3]

    class State(TypedDict, total=False):
        log: Annotated[list, operator.add]
        answer: str

    def step(name):
        def node(state):
            if name == dies_at:
                os.kill(os.getpid(), signal.SIGKILL)
            with open(effects, "a") as file:
                file.write(name + "\\n")
            return {"log": [name]}
        return node

    def ask(state):
        return {"answer": interrupt("go on?"), "log": ["ask"]}

    graph = StateGraph(State)
    graph.add_sequence([(name, step(name)) for name in ("a", "b", "c")])
    graph.add_node("ask", ask)
    graph.add_sequence([(name, step(name)) for name in ("d", "e")])
    graph.add_edge(START, "a")
    graph.add_edge("c", "ask")
    graph.add_edge("ask", "d")
    config = {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        begun = app.get_state(config)
        if not begun.values and not begun.next:
            app.invoke({"log": []}, config, durability="sync")
        elif begun.interrupts:
            app.invoke(Command(resume="yes"), config, durability="sync")
        else:
            app.invoke(None, config, durability="sync")
        print(app.get_state(config).values, app.get_state(config).next)
    """
)


def run_program(tmp_path, dies_at):
    return run(["-c", PROGRAM, tmp_path / "saver.db", tmp_path / "effects", dies_at])


@pytest.mark.parametrize("dies_at", ["a", "b", "c", "d", "e"])
def test_a_run_that_was_killed_goes_on_in_another_process_and_repeats_nothing(tmp_path, dies_at):
    outputs = []
    for death in (dies_at, "", "", ""):
        done = run_program(tmp_path, death)
        while death and done.returncode == 0:  # not there yet: it paused before
            done = run_program(tmp_path, death)
        assert done.returncode == (-signal.SIGKILL if death else 0), done.stderr
        outputs.append(done.stdout)
    assert (tmp_path / "effects").read_text().split() == ["a", "b", "c", "d", "e"]
    final = {"log": ["a", "b", "c", "ask", "d", "e"], "answer": "yes"}
    assert outputs[-1].strip() == f"{final} ()"


def test_a_run_that_is_cancelled_while_it_stores_leaves_a_thread_that_goes_on(tmp_path):
    async def slow(state):
        started.set()
        await asyncio.sleep(60)

    async def program():
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as saver:
            graph = StateGraph(State)
            graph.add_node("plan", plan)
            graph.add_node("slow", slow)
            graph.add_edge(START, "plan")
            graph.add_edge("plan", "slow")
            run = asyncio.create_task(graph.compile(checkpointer=saver).ainvoke({"log": []}, CONFIG))
            await started.wait()
            run.cancel()
            await asyncio.wait([run])
            snapshot = await graph.compile(checkpointer=saver).aget_state(CONFIG)
            return snapshot.values, snapshot.next

    started = asyncio.Event()
    assert asyncio.run(program()) == ({"log": ["plan"], "count": 1}, ("slow",))


@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
@pytest.mark.parametrize("begins_with", [[], ["one"]])
@pytest.mark.parametrize("many", [20, 100])
def test_a_short_list_that_many_tasks_write_to_in_one_step(openers, name, begins_with, many):
    graph = StateGraph(State).add_node("each", lambda number: {"log": [number]})
    graph.add_conditional_edges(START, lambda state: [Send("each", number) for number in range(many)], ["each"])
    app = graph.compile(openers[name]())
    whole = [*begins_with, *range(many)]
    assert app.invoke({"log": begins_with}, CONFIG) == {"log": whole}
    assert app.get_state(CONFIG).values == {"log": whole}


# Items that are changed in place


def put_into(items, news):
    """A reducer that changes what is there."""
    for new in news:
        old = next((item for item in items if item["id"] == new["id"]), None)
        if old is None:
            items.append(new)
        else:
            old.update(new)
    return items


class Items(TypedDict, total=False):
    items: Annotated[list, put_into]
    more: Annotated[list, operator.add]


def fresh(many):
    return [{"id": number, "text": "new"} for number in range(many)]


@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_reducer_does_to_an_item_in_place_is_stored(openers, name, durability):
    graph = StateGraph(Items).add_node("change", lambda state: {"items": [{"id": 3, "text": len(state["items"])}]})
    app = graph.add_edge(START, "change").compile(openers[name]())
    for number in (20, 21, 22):
        app.invoke({"items": fresh(number)[19:] if number > 20 else fresh(20)}, CONFIG, durability=durability)
        changed = [{**item, "text": number} if item["id"] == 3 else item for item in fresh(number)]
        assert app.get_state(CONFIG).values["items"] == changed


def replaced(items, news):
    ids = {id(item) for item in items}
    return [*items, *(new for new in news if id(new) not in ids)]


class Returned(TypedDict, total=False):
    items: Annotated[list, replaced]


@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_an_item_that_a_node_has_changed_and_returned_is_stored(openers, name, durability):
    def change(state):
        state["items"][3]["text"] = len(state["items"])
        return {"items": [state["items"][3]]}

    graph = StateGraph(Returned).add_node("change", change).add_node("other", lambda state: {"items": [{"id": "x"}]})
    app = graph.add_edge(START, "change").add_edge(START, "other").compile(openers[name]())
    for turn in range(3):
        app.invoke({"items": fresh(20) if turn == 0 else []}, CONFIG, durability=durability)
        items = app.get_state(CONFIG).values["items"]
        assert items[3] == {"id": 3, "text": 20 + turn}
        assert len(items) == 21 + turn


class Pile(TypedDict):
    items: list


@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
def test_a_list_that_a_node_puts_twice_into_its_result(openers, name):
    def twice(state):
        return {"items": [*state["items"], {"n": "once"}, *state["items"], {"n": "twice"}]}

    graph = StateGraph(Pile).add_node("more", lambda state: {"items": [*state["items"], {"n": "more"}]})
    app = graph.add_node(twice).add_edge(START, "more").add_edge("more", "twice").compile(openers[name]())
    result = app.invoke({"items": [{"n": number, "text": "x" * 50} for number in range(300)]}, CONFIG)
    assert len(result["items"]) == 604
    assert app.get_state(CONFIG).values == result


@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
def test_a_step_of_a_run_whose_thread_was_taken_over_is_not_stored(openers, name):
    saver = openers[name]()
    other = saver if name == "memory" else openers[name]()

    def count(state):
        if state["count"] == 2:
            standing = other.look(CONFIG)[1]
            elsewhere = other.look({"configurable": {"thread_id": "another"}})[1]
            other.store([], Lease("another", standing.holder, elsewhere.seen))  # which has its epoch
            other.store([], Lease("t", "other", standing.seen))
        return {"count": state["count"] + 1}

    graph = StateGraph(State).add_sequence([(f"count {number}", count) for number in range(5)])
    app = graph.add_edge(START, "count 0").compile(checkpointer=saver)
    with pytest.raises(LeaseLost):
        app.invoke({"count": 0, "note": "stays"}, CONFIG, durability="sync")
    found, standing = other.look(CONFIG)
    assert (found.checkpoint["channel_values"]["count"], standing.holder) == (2, "other")


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
def test_a_checkpoint_of_a_run_that_is_put_again_leaves_those_after_it_as_they_are(openers, name, is_first):
    saver = openers[name]()
    graph = StateGraph(State).add_sequence([(f"log {number}", lambda state: {"log": ["more"]}) for number in range(3)])
    app = graph.add_edge(START, "log 0").compile(checkpointer=saver)
    app.invoke({"log": ["first"], "note": "as it was"}, CONFIG)
    before = list(saver.list(CONFIG))
    changed = before[-1 if is_first else 2]
    values, versions = changed.checkpoint["channel_values"], changed.checkpoint["channel_versions"]
    edited = {
        **changed.checkpoint,
        "channel_values": {**values, "note": "edited"},
        "channel_versions": {**versions, "note": 99},
    }
    saver.put(changed.parent_config or CONFIG, edited, changed.metadata, {"note": 99})
    now = list(saver.list(CONFIG))
    assert [one.checkpoint for one in now] == [edited if one is changed else one.checkpoint for one in before]
    assert app.invoke({"log": ["again"]}, CONFIG)["note"] == "as it was"


@pytest.mark.parametrize("name", ["memory", "sqlite", "postgres", "redis"])
def test_what_each_node_has_written_is_told_with_the_checkpoint_that_it_began_at(openers, name):
    def count(state):
        return {"count": state["count"] + 1}

    graph = StateGraph(State).add_sequence([(f"count {number}", count) for number in range(3)])
    app = graph.add_edge(START, "count 0").compile(checkpointer=openers[name]())
    thread = {"configurable": {"thread_id": "t"}}
    app.invoke({"count": 0}, thread, durability="sync")
    told = [task.result for snapshot in app.get_state_history(thread) for task in snapshot.tasks]
    assert told == [{"count": 3}, {"count": 2}, {"count": 1}, {"count": 0}]
