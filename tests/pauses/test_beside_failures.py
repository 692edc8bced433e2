"""What is asked beside a failure stays asked: it can be answered before that is mended, and nothing runs twice."""

import asyncio

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Wanted
from signoff.errors import InvalidUpdateError, OutsideOfRun, ReplayMismatch
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, Log, Works, asking, beside
from .ways import CONFIG, ONE_SERVER

ON_SERVERS = ONE_SERVER


class Shop:
    """Calls of which one asks, one works, and one fails until it is mended."""

    def __init__(self):
        self.works, self.is_broken = Works(), True

    def calls(self):
        @task
        def ask():
            self.works.done["ask"] += 1
            return interrupt("pay?")

        @task
        def work():
            self.works.done["work"] += 1
            return "worked"

        @task
        def mend():
            self.works.done["mend"] += 1
            if self.is_broken:
                raise LookupError("broken")
            return "mended"

        return [ask, work, mend]

    def node(self, state):
        futures = [call() for call in self.calls()]
        return {"log": [future.result() for future in reversed(futures)]}


def failing(app, input):
    with pytest.raises(LookupError, match="broken"):
        app.invoke(input)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_call_asks_can_be_answered_before_the_failure_of_another_is_mended(open_app, durability):
    shop = Shop()
    app = open_app(beside(shop=shop.node))
    with pytest.raises(LookupError, match="broken"):
        app.invoke(NEW, durability=durability)
    (asked,) = app.get_state().interrupts
    assert (asked.value, app.get_state().next) == ("pay?", ("shop",))
    assert [question.id for question in app.filed()] == [asked.id]
    failing(app, Command(resume="yes"))
    assert (app.questions(), app.filed()) == ([], [])
    shop.is_broken = False
    assert app.invoke(None) == {"log": ["mended", "worked", "yes"]}
    assert shop.works.done == {"ask": 2, "work": 1, "mend": 3}


def test_the_failure_can_be_mended_before_what_is_asked_beside_it_is_answered(open_app):
    shop = Shop()
    app = open_app(beside(shop=shop.node))
    failing(app, NEW)
    before = app.ids()
    failing(app, None)
    assert app.ids() == before
    shop.is_broken = False
    assert app.ask(None) == ["pay?"]
    assert app.ids() == before
    assert [question.id for question in app.filed()] == list(before.values())
    assert app.invoke(Command(resume="yes")) == {"log": ["mended", "worked", "yes"]}
    assert shop.works.done == {"ask": 2, "work": 1, "mend": 3}
    assert app.filed() == []


def test_what_coroutines_ask_beside_one_that_fails_can_be_answered(open_async_app):
    broken = [True]

    async def ask(what):
        return interrupt(what)

    async def fail():
        if broken:
            raise LookupError("broken")
        return "mended"

    async def node(state):
        return {"log": await asyncio.gather(fail(), ask("pay?"))}

    app = open_async_app(beside(node=node))
    failing(app, NEW)
    assert app.questions() == ["pay?"]
    broken.clear()
    assert app.invoke(Command(resume="yes")) == {"log": ["mended", "yes"]}


async def grouped(*coroutines):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(coroutine) for coroutine in coroutines]
    return [task.result() for task in tasks]


class Group:
    """A group of coroutines in a node: both ask, and when one has its answer, it fails until it is mended."""

    def __init__(self):
        self.is_broken, self.tries = True, 0

    async def node(self, state):
        return {"log": await grouped(self.pay(), self.ask("ship?"))}

    async def ask(self, what):
        return interrupt(what)

    async def pay(self):
        answer = interrupt("pay?")
        self.tries += 1
        if self.is_broken:
            raise LookupError("broken")
        return answer


def test_a_failure_in_a_group_of_coroutines_is_raised_without_the_pauses_beside_it(open_async_app):
    group = Group()
    app = open_async_app(beside(node=group.node))
    assert sorted(app.ask(NEW)) == ["pay?", "ship?"]
    with pytest.raises(ExceptionGroup) as raised:
        app.invoke(Command(resume={app.ids()["pay?"]: "yes"}))
    assert [type(error) for error in raised.value.exceptions] == [LookupError]
    assert (app.questions(), [question.value for question in app.filed()]) == (["ship?"], ["ship?"])
    group.is_broken = False
    assert app.invoke(Command(resume="today")) == {"log": ["yes", "today"]}


def test_a_failure_in_a_group_of_coroutines_that_ask_is_tried_again(open_async_app):
    group = Group()
    policy = RetryPolicy(initial_interval=0.0, jitter=False, max_attempts=2, retry_on=ExceptionGroup)
    app = open_async_app(StateGraph(Log).add_node("n", group.node, retry_policy=policy).add_edge(START, "n"))
    app.ask(NEW)
    with pytest.raises(ExceptionGroup):
        app.invoke(Command(resume={app.ids()["pay?"]: "yes"}))
    assert group.tries == 2


def test_a_failure_in_a_group_of_coroutines_that_ask_is_handled(open_async_app):
    graph = StateGraph(Log).add_node("n", Group().node, error_handler=lambda state: {"log": ["handled"]})
    app = open_async_app(graph.add_edge(START, "n"))
    app.ask(NEW)
    assert app.invoke(Command(resume={app.ids()["pay?"]: "yes"})) == {"log": ["handled"]}


def test_what_is_asked_beside_a_failure_in_a_call_is_asked_once(open_async_app):
    group = Group()

    @task
    async def call():
        return await asyncio.gather(group.pay(), group.ask("ship?"))

    async def node(state):
        return {"log": await call()}

    app = open_async_app(beside(node=node))
    assert sorted(app.ask(NEW)) == ["pay?", "ship?"]
    failing(app, Command(resume={app.ids()["pay?"]: "yes"}))
    assert (app.questions(), len(app.filed())) == (["ship?"], 1)
    group.is_broken = False
    assert app.invoke(Command(resume="today")) == {"log": ["yes", "today"]}


def test_what_was_asked_before_a_failure_that_is_tried_again_is_asked_once(open_app):
    shop = Shop()

    def node(state):
        shop.is_broken = shop.works.done["mend"] == 0
        return shop.node(state)

    policy = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=LookupError)
    app = open_app(StateGraph(Log).add_node("shop", node, retry_policy=policy).add_edge(START, "shop"))
    assert app.ask(NEW) == ["pay?"]
    assert len(app.filed()) == 1
    assert app.invoke(Command(resume="yes")) == {"log": ["mended", "worked", "yes"]}


def test_where_the_failure_is_handled_nothing_is_asked(open_app):
    graph = StateGraph(Log).add_node("shop", Shop().node, error_handler=lambda state: {"log": ["handled"]})
    app = open_app(graph.add_edge(START, "shop"))
    assert app.invoke(NEW) == {"log": ["handled"]}
    assert (app.questions(), app.filed()) == ([], [])


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("is_called", [False, True])
@pytest.mark.parametrize("durability", ["async", "exit"])
def test_what_is_asked_beside_a_failure_in_a_nested_graph_can_be_answered(open_app, depth, is_called, durability):
    works, broken = Works(), [True]

    def fail(state):
        if broken:
            raise LookupError("broken")
        return {"log": ["mended"]}

    graph = beside(a=works.asking("a"), b=works.asking("b"), fail=fail, work=works.node("work"))
    for _ in range(depth):
        inside = graph.compile()
        graph = beside(inside=inside.invoke if is_called else inside)
    # One after the other: where one fails, those under way beside it are called off in an async run.
    app = open_app(graph)
    with pytest.raises(LookupError, match="broken"):
        app.invoke(NEW, {**CONFIG, "max_concurrency": 1}, durability=durability)
    before = app.ids()
    assert set(before) == {"a", "b"}
    assert {question.id for question in app.filed()} == set(before.values())
    with pytest.raises(LookupError, match="broken"):
        app.invoke(Command(resume={before["a"]: "yes"}), {**CONFIG, "max_concurrency": 1}, durability=durability)
    assert app.questions() == ["b"]
    assert [question.value for question in app.filed()] == ["b"]
    broken.clear()
    assert app.ask(None, durability=durability) == ["b"]
    assert sorted(app.invoke(Command(resume="no"))["log"]) == ["a: yes", "b: no", "mended", "work"]
    assert works.done == {"a": 2, "b": 2, "work": 1}


def test_what_is_asked_beside_a_failure_that_the_program_copes_with_is_not_asked(open_app):
    inside = beside(ask=asking("inside?"), fail=Shop().node).compile()

    def cope(state):
        try:
            return inside.invoke(state)
        except LookupError:
            return {"log": [interrupt("what now?")]}

    app = open_app(beside(cope=cope))
    assert app.ask(NEW) == ["what now?"]
    assert app.invoke(Command(resume="stop")) == {"log": ["stop"]}


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_what_a_node_had_asked_is_not_filed_any_more_when_its_failure_is_handled(open_app, pause):
    tries = []

    def pay(state):
        tries.append(1)
        if len(tries) > 1:
            raise LookupError("broken")
        return {"log": [interrupt("pay?")]}

    graph = beside(wait=asking("wait?")).add_node("pay", pay, error_handler=lambda state: {"log": ["handled"]})
    app = open_app(graph.add_edge(START, "pay"), pause=pause)
    app.invoke(NEW)
    app.update_state(NEW, as_node=START)
    app.invoke(None)
    assert app.questions() == ["wait?"]
    assert [one.interrupt.value for one in app.filed()] == ["wait?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["handled", "yes"]


@pytest.mark.parametrize("failing", ["finishes", "asks"])
def test_a_task_that_has_finished_or_asks_since_it_has_failed_shows_that_in_the_history_alone(open_app, failing):
    failures = {failing: LookupError("broken")}

    def work(name, come_to):
        def node(state):
            if name in failures:
                raise failures.pop(name)
            return {"log": [come_to()]}

        return node

    nodes = {"finishes": work("finishes", lambda: "finished"), "asks": work("asks", lambda: interrupt("sure?"))}
    app = open_app(beside(**nodes))
    with pytest.raises(LookupError):
        app.invoke(NEW)
    assert {one.error for one in app.get_state().tasks if one.name == failing} == {"LookupError('broken')"}
    assert [one.value for one in app.invoke(None)["__interrupt__"]] == ["sure?"]
    assert [(one.error, one.result) for one in app.get_state().tasks] == [(None, {"log": ["finished"]}), (None, None)]
    assert app.invoke(Command(resume="yes"))["log"] == ["yes", "finished"]
    before = next(one for one in app.history() if one.tasks and one.tasks[0].name == "finishes")
    assert {one.error for one in before.tasks if one.name == failing} == {"LookupError('broken')"}


@pytest.mark.parametrize("turns", range(6))
def test_an_answer_that_a_failure_beside_keeps_from_being_handed_over_is_not_filed_as_open(turns):
    """Another task fails in any turn of the event loop: before, after, or at the same moment."""

    async def pay(state):
        return {"log": [interrupt(f"pay {len(state['log'])}?")]}

    async def ask(state):
        return {"log": [interrupt("one?"), interrupt("two?")]}

    async def fail(state):
        interrupt("ok?")
        for _ in range(turns):
            await asyncio.sleep(0)
        raise LookupError("broken")

    saver = InMemorySaver()
    app = beside(inside=beside(pay=pay, ask=ask).compile(), fail=fail).compile(checkpointer=saver)

    async def run():
        await app.ainvoke(NEW, CONFIG)
        state = await app.aget_state(CONFIG, subgraphs=True)
        await app.aupdate_state(state.tasks[0].state.config, {"log": ["changed by hand"]})
        with pytest.raises((LookupError, ReplayMismatch)):
            await app.ainvoke(Command(resume={one.id: "yes" for one in state.interrupts}), CONFIG)

    asyncio.run(run())
    asked = {question.value for question in app.get_state(CONFIG).interrupts}
    assert {question.value for question in saver.find_questions(Wanted())} == asked


@pytest.mark.parametrize("is_nested", [False, True])
def test_what_is_asked_beside_writes_that_collide_is_open(open_app, is_nested):
    class Order(Log, total=False):
        x: int

    graph = StateGraph(Order).add_node("ask", asking("pay?")).add_edge(START, "ask")
    for name in ("one", "other"):
        graph.add_node(name, lambda state, name=name: {"x": name}).add_edge(START, name)
    if is_nested:
        graph = StateGraph(Order).add_node("inner", graph.compile()).add_edge(START, "inner")
    app = open_app(graph)
    for _ in range(2):
        with pytest.raises(InvalidUpdateError, match="'x' can take one value"):
            app.invoke(NEW if not app.history() else None)
        assert (app.questions(), [question.value for question in app.filed()]) == (["pay?"], ["pay?"])


def unsure(error):
    return error.status_code >= 500


def asks(error):
    return interrupt("again?")


@pytest.mark.parametrize(("retry_on", "why"), [(unsure, "status_code"), (asks, "asked 'again\\?'")])
def test_what_is_asked_beside_a_failure_is_open_though_nobody_can_say_whether_to_try_again(open_app, retry_on, why):
    @task
    def confirm():
        return interrupt("pay?")

    def node(state):
        confirm()
        raise LookupError("broken")

    policy = RetryPolicy(retry_on=retry_on)
    app = open_app(StateGraph(Log).add_node("node", node, retry_policy=policy).add_edge(START, "node"))
    with pytest.raises((AttributeError, OutsideOfRun), match=why):
        app.invoke(NEW)
    assert app.questions() == ["pay?"]
    assert "again" in (error := app.get_state().tasks[0].error) or "status_code" in error
    graph = StateGraph(Log).add_node(
        "node", node, retry_policy=policy, error_handler=lambda state: {"log": ["handled"]}
    )
    assert open_app(graph.add_edge(START, "node")).invoke(NEW, OTHER) == {"log": ["handled"]}


OTHER = {"configurable": {"thread_id": "other"}}
