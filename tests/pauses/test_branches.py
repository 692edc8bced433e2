"""compile(pause="branch"): a branch that waits does not stop the others, and nothing runs again afterwards."""

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import AlreadyAnswered, GraphChanged, GraphDrained, InvalidAnswer, InvalidGraph, QuestionsOpen
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.runtime import RunControl
from signoff.types import Command, Send, interrupt

from .desk import Payment
from .programs import NEW, Log, Works, asking, beside, line
from .ways import CONFIG

ALL = ("sync", "async", "exit")


def two_branches(works, ask="ask"):
    """START > ask > behind, START > a > b > c, and a join of both ends."""
    graph = StateGraph(Log).add_node(ask, works.asking("ask")).add_node("behind", works.node("behind"))
    for name in ("a", "b", "c", "last"):
        graph.add_node(name, works.node(name))
    graph.add_edge(START, ask).add_edge(ask, "behind")
    graph.add_edge(START, "a").add_edge("a", "b").add_edge("b", "c")
    return graph.add_edge(["behind", "c"], "last")


ONCE = {"ask": 2, "a": 1, "b": 1, "c": 1, "behind": 1, "last": 1}


@pytest.mark.parametrize("durability", ALL)
def test_what_does_not_depend_on_a_waiting_task_goes_on(open_app, durability):
    works = Works()
    app = open_app(two_branches(works), pause="branch")
    result = app.invoke(NEW, durability=durability)
    assert [question.value for question in result["__interrupt__"]] == ["ask"]
    assert works.done == {"ask": 1, "a": 1, "b": 1, "c": 1}
    state = app.get_state()
    assert state.values == {"log": ["a", "b", "c"]}
    assert state.next == ("ask",)
    assert state.metadata["paused"] is True
    result = app.invoke(Command(resume="yes"), durability=durability)
    assert sorted(result["log"]) == ["a", "ask: yes", "b", "behind", "c", "last"]
    assert result["log"][-1] == "last"
    assert works.done == ONCE


def test_a_join_remembers_who_has_come_however_long_the_branch_is_that_waited(open_app):
    works = Works()
    graph = beside(ask=works.asking("ask"), a=works.node("a"))
    for before, name in (("ask", "b"), ("b", "c"), ("c", "d")):
        graph.add_node(name, works.node(name)).add_edge(before, name)
    graph.add_node("last", works.node("last")).add_edge(["a", "d"], "last")
    app = open_app(graph, pause="branch")
    assert app.ask(NEW) == ["ask"]
    assert app.invoke(Command(resume="yes"))["log"] == ["a", "ask: yes", "b", "c", "d", "last"]


@pytest.mark.parametrize(("where", "first"), [("interrupt_before", ["a"]), ("interrupt_after", ["a", "b"])])
def test_a_breakpoint_stops_the_branches_that_go_on(open_app, where, first):
    works = Works()
    app = open_app(two_branches(works), pause="branch", **{where: ["b"]})
    assert app.ask(NEW) == ["ask"]
    assert app.get_state().values["log"] == first
    assert set(app.get_state().next) == {"ask", "c" if "b" in first else "b"}
    assert app.ask(None) == ["ask"]
    assert app.get_state().values["log"] == ["a", "b", "c"]
    assert app.invoke(Command(resume="yes"))["log"][-1] == "last"
    assert works.done == ONCE


def test_a_breakpoint_does_not_stop_twice_at_a_task_that_waits(open_app):
    app = open_app(two_branches(Works()), pause="branch", interrupt_before=["ask"])
    assert app.invoke(NEW) == NEW
    assert app.ask(None) == ["ask"]
    assert app.invoke(Command(resume="yes"))["log"][-1] == "last"


def test_a_breakpoint_beside_a_question_ends_the_stream_with_both(open_app):
    app = open_app(two_branches(Works()), pause="branch", interrupt_before=["b"])
    shown = app.stream(NEW, stream_mode=["values", "updates"])
    assert [question.value for question in shown[-2][1]["__interrupt__"]] == ["ask"]
    assert shown[-1] == ("updates", {"__interrupt__": ()})


def test_a_drain_stops_the_branches_that_go_on(open_app):
    works, control = Works(), RunControl()

    def close(state):
        control.request_drain("closing time")

    graph = beside(ask=works.asking("ask"), a=close).add_node("b", works.node("b")).add_edge("a", "b")
    app = open_app(graph, pause="branch")
    with pytest.raises(GraphDrained, match="closing time"):
        app.invoke(NEW, control=control)
    assert works.done == {"ask": 1}
    assert app.ask(None) == ["ask"]
    assert app.invoke(Command(resume="yes"))["log"] == ["b", "ask: yes"]


@pytest.mark.parametrize("stops", [True, False])
def test_a_drain_has_nothing_to_stop_where_a_breakpoint_does_or_all_wait(open_app, stops):
    works, control = Works(), RunControl()

    def close(state):
        control.request_drain("closing time")

    graph = beside(ask=works.asking("ask"), a=close).add_node("b", works.node("b"))
    app = open_app(graph.add_edge("a", "b") if stops else graph, pause="branch", interrupt_before=["b"])
    assert app.ask(NEW, control=control) == ["ask"]
    assert app.get_state().next == (("ask", "b") if stops else ("ask",))


def test_what_has_finished_when_its_reader_leaves_stays_though_new_input_comes():
    app = beside(a=Works().node("a")).compile(InMemorySaver(), pause="branch")
    stream = app.stream(NEW, CONFIG, stream_mode="updates")
    assert next(stream) == {"a": {"log": ["a"]}}
    stream.close()
    assert app.invoke({"log": ["more"]}, CONFIG)["log"] == ["a", "more", "a"]


def test_by_default_the_step_waits(open_app):
    works = Works()
    app = open_app(two_branches(works))
    app.invoke(NEW)
    assert works.done == {"ask": 1, "a": 1}
    app.invoke(Command(resume="yes"))
    assert works.done == ONCE


def test_looking_and_going_on_without_an_answer_runs_nothing(open_app):
    works = Works()
    app = open_app(two_branches(works), pause="branch")
    app.invoke(NEW)
    before = works.done.copy()
    for _ in range(2):
        assert app.ask(None) == ["ask"]
    assert works.done == before


def test_the_question_is_filed_once_and_closed_by_its_answer(open_app):
    app = open_app(two_branches(Works()), pause="branch")
    app.invoke(NEW)
    (filed,) = app.filed()
    assert (filed.value, filed.node, filed.id) == ("ask", "ask", app.ids()["ask"])
    app.invoke(Command(resume="yes"))
    assert app.filed() == []


def test_several_branches_wait_and_are_answered_one_by_one(open_app):
    works = Works()
    graph = StateGraph(Log)
    for name in ("one", "two", "three"):
        graph.add_node(name, works.asking(name)).add_node(f"after {name}", works.node(f"after {name}"))
        graph.add_edge(START, name).add_edge(name, f"after {name}")
    graph.add_node("last", works.node("last")).add_edge([f"after {name}" for name in ("one", "two", "three")], "last")
    app = open_app(graph, pause="branch")
    assert sorted(app.ask(NEW)) == ["one", "three", "two"]
    ids = app.ids()
    assert sorted(app.ask(Command(resume={ids["two"]: 2}))) == ["one", "three"]
    assert works.done["after two"] == 1
    assert sorted(question.value for question in app.filed()) == ["one", "three"]
    with pytest.raises(AlreadyAnswered):
        app.invoke(Command(resume={ids["two"]: 5}))
    assert app.ask(Command(resume={ids["one"]: 1})) == ["three"]
    assert app.invoke(Command(resume=3))["log"][-1] == "last"
    assert set(works.done.values()) == {1, 2}
    assert works.done == {**dict.fromkeys(["one", "two", "three"], 2),
                          **dict.fromkeys(["after one", "after two", "after three", "last"], 1)}  # fmt: skip


def test_a_second_question_of_a_branch(open_app):
    works = Works()

    def ask(state):
        works.done["ask"] += 1
        return {"log": [interrupt("name?"), interrupt("age?")]}

    graph = beside(ask=ask, a=works.node("a")).add_node("b", works.node("b")).add_edge("a", "b")
    app = open_app(graph, pause="branch")
    assert app.ask(NEW) == ["name?"]
    assert app.ask(Command(resume="Ana")) == ["age?"]
    assert [question.value for question in app.filed()] == ["age?"]
    assert sorted(map(str, app.invoke(Command(resume=41))["log"])) == ["41", "Ana", "a", "b"]
    assert works.done == {"ask": 3, "a": 1, "b": 1}


def test_sends_that_wait_keep_their_input(open_app):
    works = Works()

    def each(number):
        works.done[number] += 1
        return {"log": [f"{number}: {interrupt(number)}" if number % 2 else f"{number}: even"]}

    graph = StateGraph(Log).add_node("each", each).add_node("a", works.node("a")).add_node("b", works.node("b"))
    graph.add_conditional_edges(START, lambda state: [Send("each", n) for n in range(4)], ["each"])
    app = open_app(graph.add_edge(START, "a").add_edge("a", "b"), pause="branch")
    assert app.ask(NEW) == [1, 3]
    assert app.get_state().values["log"] == ["a", "0: even", "2: even", "b"]
    ids = app.ids()
    assert app.ask(Command(resume={ids[3]: "c"})) == [1]
    result = app.invoke(Command(resume="a"))
    assert sorted(result["log"]) == ["0: even", "1: a", "2: even", "3: c", "a", "b"]
    assert works.done == {0: 1, 1: 2, 2: 1, 3: 2, "a": 1, "b": 1}


def handled(works):
    """A node that fails, and whose error handler asks; and others."""

    def broken(state):
        works.done["broken"] += 1
        raise ConnectionError(f"no {state}" if isinstance(state, str) else "down")

    def handle(state, error):
        works.done["handle"] += 1
        return {"log": [f"{error.node}: {error.error}, {interrupt('what now?')}"]}

    graph = StateGraph(Log).add_node("broken", broken, error_handler=handle)
    return graph.add_sequence([(name, works.node(name)) for name in ("a", "b", "c")]).add_edge(START, "a")


@pytest.mark.parametrize("durability", ALL)
def test_an_error_handler_that_waits(open_app, durability):
    works = Works()
    app = open_app(handled(works).add_edge(START, "broken"), pause="branch")
    assert app.ask(NEW, durability=durability) == ["what now?"]
    assert (app.get_state().values, app.get_state().next) == ({"log": ["a", "b", "c"]}, ("broken",))
    assert [question.value for question in app.filed()] == ["what now?"]
    result = app.invoke(Command(resume="skip"), durability=durability)
    assert result["log"] == ["a", "b", "c", "broken: down, skip"]
    assert works.done == {"broken": 1, "handle": 2, "a": 1, "b": 1, "c": 1}
    assert app.filed() == []


def test_a_node_behind_a_join_whose_error_was_handled_is_over_though_others_waited_and_failed(open_app):
    works = Works()

    def broken(state):
        works.done["broken"] += 1
        raise ConnectionError("down")

    def flaky(state):
        works.done["flaky"] += 1
        if works.done["flaky"] == 1:
            raise ConnectionError("not yet")

    graph = beside(a=works.node("a"), b=works.node("b")).add_node("ask", works.asking("ask")).add_edge("a", "ask")
    graph.add_node("broken", broken, error_handler=works.node("handled")).add_edge(["a", "b"], "broken")
    app = open_app(graph.add_node("flaky", flaky).add_edge("ask", "flaky"), pause="branch")
    assert app.ask(NEW) == ["ask"]
    with pytest.raises(ConnectionError):
        app.invoke(Command(resume="yes"))
    assert app.invoke(None)["log"] == ["a", "b", "handled", "ask: yes"]
    assert works.done == {"a": 1, "b": 1, "ask": 2, "broken": 1, "handled": 1, "flaky": 2}


def test_error_handlers_of_sends_wait_each_for_its_own(open_app):
    works = Works()
    graph = handled(works)
    graph.add_conditional_edges(START, lambda state: [Send("broken", one) for one in ("bread", "milk")], ["broken"])
    app = open_app(graph, pause="branch")
    app.invoke(NEW)
    for answer in ("one", "two"):
        app.invoke(Command(resume={app.get_state().interrupts[0].id: answer}))
    assert app.get_state().values["log"] == ["a", "b", "c", "broken: no bread, one", "broken: no milk, two"]
    assert works.done == {"broken": 2, "handle": 4, "a": 1, "b": 1, "c": 1}


def test_an_error_handler_goes_on_waiting_after_an_update(open_app):
    works = Works()
    app = open_app(handled(works).add_edge(START, "broken"), pause="branch")
    app.invoke(NEW)
    app.update_state({"log": ["by a person"]}, as_node="b")
    assert (app.get_state().next, app.ask(None)) == (("broken", "c"), ["what now?"])
    assert app.invoke(Command(resume="skip"))["log"] == ["a", "b", "c", "by a person", "c", "broken: down, skip"]
    assert works.done == {"broken": 1, "handle": 2, "a": 1, "b": 1, "c": 2}


def test_an_error_handler_waits_once_after_an_update_though_its_node_had_asked_before(open_app):
    works = Works()

    def broken(state):
        raise LookupError(interrupt("try it?"))

    def handle(state, error):
        works.done["handle"] += 1
        return {"log": [f"{error.error}, {interrupt('what now?')}"]}

    graph = StateGraph(Log).add_node("broken", broken, error_handler=handle).add_node("a", works.node("a"))
    app = open_app(graph.add_edge(START, "broken").add_edge(START, "a"), pause="branch")
    app.invoke(NEW)
    app.invoke(Command(resume="yes"))
    app.update_state({"log": ["by a person"]}, as_node="a")
    assert (app.get_state().next, app.questions()) == (("broken",), ["what now?"])
    assert [question.value for question in app.filed()] == ["what now?"]
    assert app.invoke(Command(resume="skip"))["log"] == ["a", "by a person", "yes, skip"]
    assert works.done == {"handle": 2, "a": 1}


def test_a_nested_graph_that_waits(open_app):
    works = Works()
    inner = StateGraph(Log).add_sequence([("first", works.node("first")), ("ask", works.asking("ask"))])
    graph = beside(inner=inner.add_edge(START, "first").compile(), a=works.node("a"))
    app = open_app(graph.add_node("b", works.node("b")).add_edge("a", "b"), pause="branch")
    assert app.ask(NEW) == ["ask"]
    assert works.done == {"first": 1, "ask": 1, "a": 1, "b": 1}
    assert app.get_state(subgraphs=True).tasks[0].state.next == ("ask",)
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["a", "ask: yes", "b", "first"]
    assert works.done == {"first": 1, "ask": 2, "a": 1, "b": 1}


@pytest.mark.parametrize("remembers", [None, True], ids=["forgets", "remembers"])
def test_a_nested_graph_that_waits_goes_on_with_the_config_of_its_snapshot(open_app, remembers):
    works = Works()
    inner = line(first=works.node("first"), ask=works.asking("ask")).compile()
    graph = beside(inner=line(inner=inner).compile(checkpointer=remembers), a=works.node("a"))
    app = open_app(graph.add_node("b", works.node("b")).add_edge("a", "b"), pause="branch")
    app.invoke(NEW)
    state = app.get_state(subgraphs=True).tasks[0].state.tasks[0].state
    assert app.get_state(state.config).config == state.config
    told = app.update_state({"log": ["told"]}, state.config)
    assert app.ask(None, told) == ["ask"]
    state = app.get_state(subgraphs=True).tasks[0].state.tasks[0].state
    assert app.invoke(Command(resume="yes"), state.config)["log"] == ["a", "b", "first", "told", "ask: yes"]
    assert works.done == {"first": 1, "ask": 3, "a": 1, "b": 1}


@pytest.mark.parametrize("inside", ["node", "nested", "nested that remembers"])
def test_a_task_that_waits_asks_again_on_a_branch_of_the_past(open_app, inside):
    works, ask = Works(), asking("pay?")
    if inside != "node":
        ask = line(before=lambda state: None, ask=ask).compile(checkpointer=inside.endswith("remembers") or None)
    graph = beside(ask=ask, a=works.node("a")).add_node("b", works.node("b")).add_edge("a", "b")
    app = open_app(graph, pause="branch")
    app.invoke(NEW)
    before, first = app.get_state().config, app.ids()["pay?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["a", "b", "yes"]
    assert app.ask(None, before) == ["pay?"]
    assert app.ids()["pay?"] != first
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume={first: "yes"}))
    assert app.invoke(Command(resume="no"))["log"][-1] == "no"


@pytest.mark.parametrize("as_node", ["b", "__copy__"])
def test_an_update_in_the_past_does_not_lose_a_task_that_waited_there(open_app, as_node):
    works = Works()
    nested = line(before=lambda state: None, ask=asking("pay?")).compile()
    graph = beside(ask=nested, a=works.node("a")).add_node("b", works.node("b")).add_edge("a", "b")
    app = open_app(graph, pause="branch")
    app.invoke(NEW)
    before, first = app.get_state().config, app.ids()["pay?"]
    app.invoke(Command(resume="yes"))
    app.update_state(None, before, as_node=as_node)
    assert app.get_state().next == ("ask",)
    assert app.ask(None) == ["pay?"]
    assert app.ids()["pay?"] != first
    assert app.invoke(Command(resume="no"))["log"][-1] == "no"


def test_branches_inside_of_a_nested_graph(open_app):
    works = Works()
    app = open_app(beside(inner=two_branches(works).compile(pause="branch")))
    assert app.ask(NEW) == ["ask"]
    assert works.done == {"ask": 1, "a": 1, "b": 1, "c": 1}
    app.invoke(Command(resume="yes"))
    assert works.done == ONCE


def test_a_deferred_node_waits_for_the_answer(open_app):
    works = Works()
    graph = beside(ask=works.asking("ask"), a=works.node("a")).add_node("last", works.node("last"), defer=True)
    app = open_app(graph.add_edge("ask", "last").add_edge("a", "last"), pause="branch")
    app.invoke(NEW)
    assert works.done == {"ask": 1, "a": 1}
    assert app.invoke(Command(resume="yes")) == {"log": ["a", "ask: yes", "last"]}


def test_a_node_that_both_branches_may_choose_waits_for_the_answer(open_app):
    works = Works()
    graph = beside(ask=works.asking("ask"), a=works.node("a"))
    graph.add_node("b", works.node("b")).add_node("c", works.node("c"))
    graph.add_conditional_edges("ask", lambda state: "c", ["c"])
    graph.add_conditional_edges("a", lambda state: ["b", "c"], ["b", "c"])
    app = open_app(graph, pause="branch")
    app.invoke(NEW)
    assert works.done == {"ask": 1, "a": 1, "b": 1}
    assert app.invoke(Command(resume="yes")) == {"log": ["a", "b", "ask: yes", "c"]}
    assert works.done == {"ask": 2, "a": 1, "b": 1, "c": 1}


def test_a_node_that_a_join_of_a_waiting_branch_leads_to_waits_too(open_app):
    works = Works()
    graph = beside(ask=works.asking("ask"), a=works.node("a"), b=works.node("b"))
    for name in ("joined", "last"):
        graph.add_node(name, works.node(name))
    graph.add_edge(["ask", "b"], "joined").add_edge("joined", "last").add_edge("a", "last")
    app = open_app(graph, pause="branch")
    app.invoke(NEW)
    assert works.done == {"ask": 1, "a": 1, "b": 1}
    app.invoke(Command(resume="yes"))
    assert works.done == {"ask": 2, "a": 1, "b": 1, "joined": 1, "last": 2}


def test_calls_of_a_task_that_waits_are_not_repeated(open_app):
    works = Works()

    @task
    def fetch():
        works.done["fetch"] += 1
        return works.done["fetch"]

    def ask(state):
        return {"log": [fetch().result(), interrupt("sure?")]}

    app = open_app(beside(ask=ask, a=works.node("a")).add_node("b", works.node("b")).add_edge("a", "b"), pause="branch")
    app.invoke(NEW)
    assert sorted(map(str, app.invoke(Command(resume="yes"))["log"])) == ["1", "a", "b", "yes"]
    assert works.done == {"fetch": 1, "a": 1, "b": 1}


def test_what_a_task_told_as_it_asked_is_told_once(open_app):
    works = Works()
    asks = asking("sure?", update={"log": ["told"]})
    app = open_app(
        beside(ask=asks, a=works.node("a")).add_node("b", works.node("b")).add_edge("a", "b"), pause="branch"
    )
    app.invoke(NEW)
    assert sorted(app.get_state().values["log"]) == ["a", "b", "told"]
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["a", "b", "told", "yes"]


def test_a_failure_elsewhere_does_not_lose_the_question(open_app):
    works, broken = Works(), [True]

    def fail(state):
        if broken:
            raise LookupError("not today")
        return {"log": ["mended"]}

    app = open_app(beside(ask=works.asking("ask"), a=works.node("a")).add_node("fail", fail).add_edge("a", "fail"),
                   pause="branch")  # fmt: skip
    with pytest.raises(LookupError):
        app.invoke(NEW)
    assert app.questions() == ["ask"]
    assert [question.value for question in app.filed()] == ["ask"]
    broken.clear()
    assert app.ask(None) == ["ask"]
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["a", "ask: yes", "mended"]
    assert works.done == {"ask": 2, "a": 1}


def test_a_waiting_node_that_is_gone_is_noticed(open_app):
    works = Works()
    open_app(two_branches(works), pause="branch").invoke(NEW)
    with pytest.raises(GraphChanged, match="'ask'"):
        open_app(two_branches(Works(), ask="confirm"), pause="branch").invoke(Command(resume="yes"))
    app = open_app(two_branches(works), pause="branch")
    assert app.questions() == ["ask"]
    app.invoke(Command(resume="yes"))
    assert works.done == ONCE


def test_a_graph_that_pauses_as_a_whole_now_says_so_and_the_question_is_kept(open_app):
    graph = beside(ask=asking(), fetch=Works().node("fetch"))
    first = open_app(graph, pause="branch")
    first.invoke(NEW)
    deployed = open_app(graph)
    with pytest.raises(GraphChanged, match=r'node \'ask\', which the graph has.*compile the graph with pause="branch"'):
        deployed.invoke(Command(resume="yes"))
    assert deployed.questions() == first.questions() == ["sure?"]
    assert first.invoke(Command(resume="yes"))["log"] == ["fetch", "yes"]


def test_new_input_is_refused_while_a_branch_waits(open_app):
    app = open_app(two_branches(Works()), pause="branch")
    app.invoke(NEW)
    with pytest.raises(QuestionsOpen):
        app.invoke(NEW)
    assert app.ask(NEW, on_pending="discard") == ["ask"]
    assert len(app.filed()) == 1


def test_wrong_answers_are_refused(open_app):
    app = open_app(two_branches(Works()), pause="branch")
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume={"0" * 32: "yes"}))
    assert app.questions() == ["ask"]


def test_one_answer_of_many_at_once_wins(open_app):
    works = Works()
    app = open_app(two_branches(works), pause="branch")
    app.invoke(NEW)
    told = app.at_once([Command(resume=n) for n in range(6)])
    assert len([one for one in told if isinstance(one, dict)]) == 1
    assert works.done == ONCE


def test_the_stream_shows_each_question_once(open_app):
    app = open_app(two_branches(Works()), pause="branch")
    shown = [name for chunk in app.stream(NEW) for name in chunk]
    assert sorted(shown) == ["__interrupt__", "a", "b", "c"]


def test_another_kind_of_pause_is_refused():
    with pytest.raises(InvalidGraph, match='"step" or "branch", not \'node\''):
        StateGraph(Payment).add_node("a", lambda state: {}).add_edge(START, "a").compile(pause="node")


@pytest.mark.parametrize("again", ["by an edge", "by the caller"])
def test_a_node_that_runs_again_while_it_waits_makes_calls_of_its_own(open_app, again):
    paid = []

    @task
    def pay(amount):
        paid.append(amount)
        return f"paid {amount}"

    def work(state):
        done = pay(len(state["log"])).result()
        return {"log": [done, interrupt(f"{done}, close?")]}

    graph = beside(work=work, other=Works().node("other"))
    app = open_app(graph.add_edge("other", "work") if again == "by an edge" else graph, pause="branch")
    app.invoke(NEW)
    if again == "by the caller":
        app.invoke(Command(goto="work"))
    assert paid == [0, 1]
    assert sorted(app.questions()) == ["paid 0, close?", "paid 1, close?"]
    log = app.invoke(Command(resume={id: asked for asked, id in app.ids().items()}))["log"]
    assert log == ["other", "paid 1", "paid 1, close?", "paid 0", "paid 0, close?"]
    assert paid == [0, 1]


@pytest.mark.parametrize("first", [0, 1], ids=["the older", "the newer"])
def test_two_tasks_that_wait_in_one_graph_that_remembers_each_go_on_where_they_stand(open_app, first):
    works = Works()

    def ask(state):
        return {"log": [interrupt(f"{state['log'][0]}, first?"), interrupt(f"{state['log'][0]}, second?")]}

    inner = line(work=works.node("work"), ask=ask).compile(checkpointer=True)

    def call(state):
        return {"log": inner.invoke({"log": [len(state["log"])]})["log"][-2:]}

    app = open_app(beside(call=call, other=works.node("other")).add_edge("other", "call"), pause="branch")
    app.invoke(NEW)
    asked = sorted(app.ids())
    assert len(asked) == 2
    order = [asked[first], asked[1 - first]]
    for answer, question in zip("ab", order, strict=True):
        app.invoke(Command(resume={app.ids()[question]: answer}))
    assert sorted(app.questions()) == [question.replace("first", "second") for question in asked]
    for answer, question in zip("cd", order, strict=True):
        result = app.invoke(Command(resume={app.ids()[question.replace("first", "second")]: answer}))
    assert (result["log"][-4:], works.done["work"]) == (["a", "c", "b", "d"], 2)


def test_a_stream_shows_each_step_of_the_branches_that_go_on(open_app):
    works = Works()
    app = open_app(two_branches(works), pause="branch")
    shown = [values["log"] for values in app.stream(NEW, stream_mode="values") if "__interrupt__" not in values]
    assert shown == [[], ["a"], ["a", "b"], ["a", "b", "c"]]
