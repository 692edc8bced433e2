"""Promise 7: a node that is gone while it waits, or is due, is noticed; its question is kept."""

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import GraphChanged, QuestionsOpen
from signoff.graph import END, START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import NEW, Log, Works, asking, beside, line
from .ways import CONFIG, on_thread


def sends(name):
    graph = StateGraph(Log).add_node(name, lambda n: {"log": [interrupt(n)]})
    return graph.add_conditional_edges(START, lambda state: [Send(name, 1), Send(name, 2)], [name])


GONE = {
    "renamed": (lambda: beside(ask=asking()), lambda: beside(confirm=asking())),
    "removed beside another": (
        lambda: beside(ask=asking(), other=Works().node("other")),
        lambda: beside(other=Works().node("other")),
    ),
    "in a nested graph": (
        lambda: beside(inner=beside(ask=asking()).compile()),
        lambda: beside(inner=beside(confirm=asking()).compile()),
    ),
    "the nested graph": (
        lambda: beside(inner=beside(ask=asking()).compile()),
        lambda: beside(nested=beside(ask=asking()).compile()),
    ),
    "by a Send": (lambda: sends("each"), lambda: sends("every")),
}


@pytest.mark.parametrize("case", GONE)
def test_a_node_that_is_gone_is_noticed_and_its_question_kept(open_app, case):
    old, new = GONE[case]
    first = open_app(old())
    first.invoke(NEW)
    before = first.get_state()
    answers = dict.fromkeys(first.ids().values(), "yes")
    with pytest.raises(GraphChanged, match="does not have"):
        open_app(new()).invoke(Command(resume=answers))
    assert first.get_state() == before
    assert {question.id for question in first.filed()} == answers.keys()
    result = first.invoke(Command(resume=answers))
    assert "__interrupt__" not in result
    assert "yes" in result["log"]


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("case", GONE)
def test_what_a_node_that_is_gone_asks_is_still_shown(open_app, case, pause):
    old, new = GONE[case]
    first, deployed = open_app(old(), pause=pause), open_app(new(), pause=pause)
    first.invoke(NEW)
    before, after = first.get_state(), deployed.get_state()
    assert after.interrupts == before.interrupts != ()
    assert (after.next, after.metadata) == (before.next, before.metadata)
    waiting = [(task.id, task.name, task.path, task.interrupts) for task in before.tasks if task.interrupts]
    assert [(task.id, task.name, task.path, task.interrupts) for task in after.tasks if task.interrupts] == waiting
    assert deployed.get_state(subgraphs=True).interrupts == before.interrupts
    assert [one.interrupts for one in deployed.history()] == [one.interrupts for one in first.history()]


def test_a_node_behind_a_join_that_is_gone_is_still_shown(open_app):
    def joined(name):
        graph = beside(one=Works().node("one"), two=Works().node("two")).add_node(name, asking())
        return graph.add_edge(["one", "two"], name)

    first, deployed = open_app(joined("ask")), open_app(joined("confirm"))
    first.invoke(NEW)
    assert deployed.get_state().interrupts == first.get_state().interrupts != ()
    assert deployed.get_state().next == ("ask",)
    with pytest.raises(GraphChanged):
        deployed.invoke(Command(resume="yes"))


@pytest.mark.parametrize("case", GONE)
def test_a_question_of_a_node_that_is_gone_is_dropped_by_an_update_and_in_the_history(open_app, case):
    old, new = GONE[case]
    first, deployed = open_app(old()), open_app(new())
    first.invoke(NEW)
    dropped = sorted(first.ids().values())
    deployed.update_state(None, as_node=END)
    assert sorted(deployed.get_state().metadata["discarded"]) == dropped
    assert (deployed.questions(), deployed.filed(), deployed.get_state().next) == ([], [], ())


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("case", GONE)
def test_new_input_does_not_drop_what_a_node_that_is_gone_asks_without_a_word(open_app, case, pause):
    old, new = GONE[case]
    first, deployed = open_app(old(), pause=pause), open_app(new(), pause=pause)
    first.invoke(NEW)
    before, ids = first.get_state(), sorted(first.ids().values())
    with pytest.raises(QuestionsOpen, match=ids[0]):
        deployed.invoke(NEW)
    with pytest.raises(GraphChanged):
        deployed.invoke("yes", on_pending="answer")
    assert first.get_state() == before
    deployed.invoke(NEW, on_pending="discard")
    dropped = [one for snapshot in deployed.history() for one in snapshot.metadata.get("discarded", ())]
    assert sorted(dropped) == ids
    assert {question.id for question in deployed.filed()} == set(deployed.ids().values())
    assert not {*ids} & {*deployed.ids().values()}


def test_a_handler_of_errors_does_not_take_care_of_a_node_that_is_gone(open_app):
    handled = []

    def shop(name):
        inner = beside(**{name: asking()}).compile()
        graph = StateGraph(Log).add_node("inner", inner, error_handler=lambda state: handled.append(1))
        return open_app(graph.add_edge(START, "inner"))

    shop("ask").invoke(NEW)
    with pytest.raises(GraphChanged):
        shop("confirm").invoke(Command(resume="yes"))
    assert handled == []
    assert shop("ask").invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_of_a_nested_graph_that_has_changed_it_is_not_said_that_nothing_ran_beside_it():
    saver = InMemorySaver()

    def shop(name):
        graph = beside(inner=beside(**{name: asking()}).compile(), other=asking("other?"))
        return graph.compile(checkpointer=saver)

    paused = shop("ask").invoke(NEW, CONFIG)
    with pytest.raises(GraphChanged, match="Nothing of the nested graph was run, and what is open stays open"):
        shop("confirm").invoke(Command(resume={one.id: "yes" for one in paused["__interrupt__"]}), CONFIG)
    kept = shop("ask").get_state(CONFIG)
    assert [one.value for one in kept.interrupts] == ["sure?"]
    assert [task.result for task in kept.tasks] == [None, {"log": ["yes"]}]


def test_a_node_that_is_due_and_gone_is_noticed(open_app):
    def fail(state):
        raise LookupError("not today")

    first = open_app(line(a=Works().node("a"), b=fail))
    with pytest.raises(LookupError):
        first.invoke(NEW)
    with pytest.raises(GraphChanged, match="'b'"):
        open_app(line(a=Works().node("a"), c=Works().node("c"))).invoke(None)
    assert open_app(line(a=Works().node("a"), b=Works().node("b"))).invoke(None) == {"log": ["a", "b"]}


def test_a_thread_of_a_node_that_is_gone_can_be_moved(open_app):
    open_app(beside(ask=asking())).invoke(NEW)
    deployed = open_app(line(confirm=asking(), after=Works().node("after")))
    deployed.update_state({"log": ["by hand"]}, as_node="confirm")
    assert deployed.invoke(None) == {"log": ["by hand", "after"]}
    assert deployed.filed() == []


# What leads on from where a thread waits


def joined(starts=("fetch", "ask"), end="pay", first="fetch", **late):
    """`fetch` comes to the join a step before `ask`, or with `late` beside it; then `pay` runs."""
    graph = StateGraph(Log).add_node(first, Works().node(first)).add_edge(START, first)
    for name in sorted({*starts} - {first, "ask"}):
        graph.add_node(name, Works().node(name)).add_edge(START, name)
    graph.add_node("draft", Works().node("draft")).add_node("ask", asking()).add_edge(START, "draft")
    graph.add_edge("draft" if not late else START, "ask")
    return graph.add_node(end, Works().node(end)).add_edge(list(starts), end)


JOINS = {
    "another node in front": {"starts": ("fetch", "ask", "check")},
    "another node behind": {"end": "transfer"},
    "a node in front renamed": {"starts": ("load", "ask"), "first": "load"},
}


@pytest.mark.parametrize("late", [{}, {"late": True}], ids=["stored", "beside"])
@pytest.mark.parametrize("case", JOINS)
def test_a_join_that_is_gone_is_noticed_where_somebody_has_come(open_app, case, late):
    first, deployed = open_app(joined(**late)), open_app(joined(**JOINS[case], **late))
    first.invoke(NEW)
    before = first.get_state()
    with pytest.raises(GraphChanged, match=r"before node 'pay', .* once all of \['fetch', 'ask'\] had|at node 'fetch'"):
        deployed.invoke(Command(resume="yes"))
    assert first.get_state() == before
    assert deployed.get_state().interrupts == before.interrupts
    assert first.invoke(Command(resume="yes"))["log"][-1] == "pay"


@pytest.mark.parametrize("late", [{}, {"late": True}], ids=["stored", "beside"])
def test_a_join_may_list_its_nodes_in_another_order(open_app, late):
    open_app(joined(**late)).invoke(NEW)
    deployed = open_app(joined(("ask", "fetch"), **late))
    log = deployed.invoke(Command(resume="yes"))["log"]
    assert ("yes" in log, log[-1]) == (True, "pay")


def test_a_join_that_is_gone_can_be_left_behind(open_app):
    open_app(joined()).invoke(NEW)
    deployed = open_app(joined(end="transfer"))
    assert deployed.invoke(Command(resume="yes"), on_changed="accept")["log"][-1] == "yes"
    assert "__interrupt__" in deployed.invoke(NEW)
    assert deployed.invoke(Command(resume="yes"))["log"][-1] == "transfer"


def test_an_update_or_a_new_turn_leaves_a_join_that_is_gone_behind(open_app):
    open_app(joined()).invoke(NEW)
    deployed = open_app(joined(end="transfer"))
    deployed.update_state({"log": ["by hand"]}, as_node="draft")
    assert deployed.invoke(Command(resume="yes"))["log"][-1] == "yes"
    open_app(joined()).invoke(NEW, on_thread("2"))
    deployed.invoke(NEW, on_thread("2"), on_pending="discard")
    assert deployed.invoke(Command(resume="yes"), on_thread("2"))["log"][-1] == "transfer"


def reviewed(works, *, joins, beside=True):
    """`check` runs beside `review`, which asks, or a step before it; then `pay`, which may have to wait for both."""
    graph = StateGraph(Log).add_node("check", works.node("check")).add_node("fetch", works.node("fetch"))
    graph.add_node("review", works.asking("review")).add_node("pay", works.node("pay"))
    graph.add_edge(START, "check").add_edge(START, "fetch").add_edge(START if beside else "fetch", "review")
    return graph.add_edge(["review", "check"], "pay") if joins else graph.add_edge("review", "pay")


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("how", ["answered", "updated", "branched off"])
def test_who_had_finished_before_there_was_a_join_has_come_to_it(open_app, beside, pause, how):
    works = Works()
    open_app(reviewed(works, joins=False, beside=beside), pause=pause).invoke(NEW)
    deployed = open_app(reviewed(works, joins=True, beside=beside), pause=pause)
    config = CONFIG
    if how == "updated":
        deployed.update_state({"log": ["review: by hand"]}, as_node="review")
    elif how == "branched off":
        config = next(one.config for one in deployed.history() if one.interrupts)
        deployed.invoke(NEW, on_pending="discard")
        deployed.invoke(None, config)
        works.done.clear()
    deployed.invoke(None if how == "updated" else Command(resume="yes"))
    assert works.done["pay"] == 1
    assert deployed.get_state().next == ()


def test_who_had_finished_in_a_nested_graph_before_there_was_a_join_has_come_to_it(open_app):
    works = Works()
    for joins in (False, True):
        inner = reviewed(works, joins=joins, beside=False).compile()
        app = open_app(line(inner=inner, after=works.node("after")))
        log = app.invoke(Command(resume="yes") if joins else NEW)["log"]
    assert log[-2:] == ["pay", "after"]
    assert works.done == {"check": 1, "fetch": 1, "review": 2, "pay": 1, "after": 1}


def test_each_of_several_joins_that_are_new_hears_of_who_had_finished(open_app):
    def shop(joins):
        graph = line(early=Works().node("early"), review=asking())
        for name in ("check", "fetch"):
            graph.add_node(name, Works().node(name)).add_edge("early", name)
        if joins:
            graph.add_node("pack", Works().node("pack")).add_edge(["check", "fetch"], "pack")
            graph.add_node("pay", Works().node("pay")).add_edge(["early", "review"], "pay")
        return graph

    open_app(shop(joins=False)).invoke(NEW)
    deployed = open_app(shop(joins=True))
    assert deployed.invoke(Command(resume="yes"))["log"][-2:] == ["pack", "pay"]


def test_a_join_that_waits_for_somebody_else_too_still_does(open_app):
    def shop(works, joins):
        graph = reviewed(works, joins=False, beside=False).add_node("pack", works.asking("pack"))
        graph.add_node("ship", works.node("ship")).add_edge("fetch", "pack")
        return graph.add_edge(["check", "pay", "pack"], "ship") if joins else graph.add_edge("pay", "ship")

    works = Works()
    open_app(shop(works, joins=False)).invoke(NEW)
    deployed = open_app(shop(works, joins=True))
    assert deployed.ask(Command(resume={deployed.ids()["review"]: "yes"})) == ["pack"]
    assert deployed.invoke(Command(resume="yes"))["log"][-1] == "ship"
    assert works.done == {"check": 1, "fetch": 1, "review": 2, "pack": 2, "pay": 1, "ship": 1}


@pytest.mark.parametrize("asks", [False, True])
def test_a_node_that_has_run_or_runs_is_not_run_again_for_a_join_that_it_stands_behind_now(open_app, asks):
    def shop(works, joins):
        graph = StateGraph(Log).add_node("check", works.node("check")).add_node("fetch", works.node("fetch"))
        graph.add_node("review", works.asking("review"))
        graph.add_node("pay", works.asking("pay") if asks else works.node("pay"))
        graph.add_edge(START, "check").add_edge(START, "fetch").add_edge("fetch", "review")
        return graph.add_edge(["check", "review"], "pay") if joins else graph.add_edge("check", "pay")

    works = Works()
    open_app(shop(works, joins=False)).invoke(NEW)
    deployed = open_app(shop(works, joins=True))
    result = deployed.invoke(Command(resume=dict.fromkeys(deployed.ids().values(), "yes")))
    assert (result.get("__interrupt__"), deployed.get_state().next) == (None, ())
    assert works.done["pay"] == (2 if asks else 1)


def test_who_has_failed_has_not_come_to_a_join(open_app):
    def fail(state):
        raise LookupError("not today")

    def shop(works, joins):
        graph = StateGraph(Log).add_node("check", fail, error_handler=lambda state: None)
        graph.add_node("fetch", works.node("fetch")).add_node("review", works.asking("review"))
        graph.add_node("pay", works.node("pay")).add_edge(START, "check").add_edge(START, "fetch")
        graph.add_edge("fetch", "review")
        return graph.add_edge(["review", "check"], "pay") if joins else graph.add_edge("review", "pay")

    works = Works()
    open_app(shop(works, joins=False)).invoke(NEW)
    assert open_app(shop(works, joins=True)).invoke(Command(resume="yes"))["log"] == ["fetch", "review: yes"]


def test_a_thread_that_has_ended_does_not_go_on_at_a_join_that_is_new(open_app):
    works = Works()
    shop = beside(a=works.node("a"), b=works.node("b"))
    open_app(shop).invoke(NEW)
    deployed = open_app(shop.add_node("c", works.node("c")).add_edge(["a", "b"], "c"))
    assert (deployed.get_state().next, deployed.invoke(None)) == ((), {"log": ["a", "b"]})


def test_who_has_run_in_an_earlier_turn_has_not_come_to_a_join_in_this_one(open_app):
    works = Works()
    graph = beside(a=works.node("a"), b=works.node("b")).add_node("c", works.asking("c")).add_edge(["a", "b"], "c")
    app = open_app(graph, interrupt_before=["b"])
    app.invoke(NEW)
    assert app.ask(None) == ["c"]
    app.invoke(NEW, on_pending="discard", durability="exit")
    works.done.clear()
    assert app.ask(None) == ["c"]
    assert works.done == {"a": 1, "b": 1, "c": 1}
    assert app.get_state().next == ("c",)
    assert app.invoke(Command(resume="yes")) == {"log": ["a", "b", "a", "b", "c: yes"]}


def test_nor_has_it_if_the_beginning_of_this_turn_is_not_stored(open_app):
    def shop(joins):
        graph = StateGraph(Log).add_node("check", Works().node("check")).add_node("fetch", Works().node("fetch"))
        graph.add_node("review", asking()).add_node("pay", Works().node("pay")).add_edge("fetch", "review")
        graph.add_conditional_edges(START, lambda state: "fetch" if state["log"] else "check", ["check", "fetch"])
        return graph.add_edge(["check", "review"], "pay") if joins else graph.add_edge("review", END)

    app = open_app(shop(joins=False))
    app.invoke(NEW)
    app.invoke({"log": ["again"]}, durability="exit")
    assert open_app(shop(joins=True)).invoke(Command(resume="yes"))["log"][-1] == "yes"


def test_who_was_ended_by_hand_has_not_come_to_a_join(open_app):
    works = Works()
    graph = beside(a=works.asking("a"), b=works.node("b")).add_node("wait", works.asking("wait")).add_edge("b", "wait")
    app = open_app(graph.add_node("c", works.node("c")).add_edge(["a", "wait"], "c"))
    app.invoke(NEW)
    app.update_state(None, as_node=END)
    assert app.ask(None) == ["wait"]
    assert app.invoke(Command(resume="yes")) == {"log": ["b", "wait: yes"]}


def test_an_answer_reads_the_thread_once_as_long_as_the_joins_are_the_same():
    reads = []

    class Counts(InMemorySaver):
        def get_tuple(self, config):
            reads.append(config)
            return super().get_tuple(config)

    app = reviewed(Works(), joins=True, beside=False).compile(checkpointer=Counts())
    app.invoke(NEW, CONFIG)
    reads.clear()
    assert app.invoke(Command(resume="yes"), CONFIG)["log"][-1] == "pay"
    assert len(reads) == 1


def test_a_join_that_has_opened_and_is_gone_is_noticed(open_app):
    def fail(state):
        raise LookupError("not today")

    def shop(first, pay):
        graph = beside(**{first: Works().node(first)}, check=Works().node("check")).add_node("pay", pay)
        return graph.add_edge([first, "check"], "pay")

    with pytest.raises(LookupError):
        open_app(shop("fetch", fail)).invoke(NEW)
    with pytest.raises(GraphChanged, match="before node 'pay'"):
        open_app(shop("load", Works().node("pay"))).invoke(None)
    assert open_app(shop("fetch", Works().node("pay"))).invoke(None)["log"][-1] == "pay"


def test_a_thread_that_has_ended_misses_no_join(open_app):
    graph = line(a=Works().node("a")).add_node("b", Works().node("b")).add_node("c", Works().node("c"))
    first = open_app(graph.add_edge(["a", "b"], "c"))
    assert first.invoke(NEW) == {"log": ["a"]}
    assert open_app(line(a=Works().node("a"))).invoke(None) == {"log": ["a"]}


@pytest.mark.parametrize(("then", "now"), [(False, True), (True, False)], ids=["deferred now", "not deferred now"])
@pytest.mark.parametrize("is_join", [False, True], ids=["edges", "join"])
def test_a_node_may_become_deferred_and_the_other_way_round(open_app, then, now, is_join):
    def shop(defer):
        graph = StateGraph(Log).add_node("fetch", Works().node("fetch")).add_node("draft", Works().node("draft"))
        graph.add_node("ask", asking()).add_node("pay", Works().node("pay"), defer=defer)
        graph.add_edge(START, "fetch").add_edge(START, "draft").add_edge("draft", "ask")
        return graph.add_edge(["fetch", "ask"], "pay") if is_join else graph.add_edge("fetch", "pay")

    open_app(shop(then)).invoke(NEW)
    deployed = open_app(shop(now))
    assert "ask" in deployed.get_state().next
    log = deployed.invoke(Command(resume="yes"))["log"]
    assert sorted(log) == ["draft", "fetch", "pay", "yes"]


@pytest.mark.parametrize("leads", ["edge", "Send"])
def test_where_a_finished_neighbour_leads_is_noticed_if_it_is_gone(open_app, leads):
    def shop(name):
        graph = beside(ask=asking(), fetch=Works().node("fetch")).add_node(name, Works().node(name))
        if leads == "edge":
            return graph.add_edge("fetch", name)
        return graph.add_conditional_edges("fetch", lambda state: [Send(name, 1)], [name])

    first, deployed = open_app(shop("pay")), open_app(shop("transfer"))
    first.invoke(NEW)
    with pytest.raises(GraphChanged, match="node 'pay', which the graph does not have"):
        deployed.invoke(Command(resume="yes"))
    assert first.questions() == ["sure?"]
    assert first.invoke(Command(resume="yes"))["log"][-1] == "pay"


def test_a_thread_can_be_moved_though_a_finished_neighbour_sends_where_nothing_is(open_app):
    def shop(name):
        graph = beside(ask=asking(), fetch=Works().node("fetch")).add_node(name, Works().node(name))
        return graph.add_conditional_edges("fetch", lambda state: [Send(name, 1)], [name])

    open_app(shop("pay")).invoke(NEW)
    deployed = open_app(shop("transfer"))
    deployed.update_state({"log": ["no"]}, as_node="ask")
    assert sorted(deployed.get_state().values["log"]) == ["fetch", "no"]
    assert deployed.get_state().next == ()


def test_a_key_that_is_gone_is_left_out_of_what_was_finished_or_told(open_app):
    class Old(Log):
        amount: int

    def shop(state, told, written):
        graph = StateGraph(state).add_node("ask", asking(update=told)).add_node("fetch", lambda state: written)
        return graph.add_edge(START, "ask").add_edge(START, "fetch")

    open_app(shop(Old, {"amount": 1}, {"log": ["fetch"], "amount": 2})).invoke(NEW)
    deployed = open_app(shop(Log, None, {"log": ["fetch"]}))
    assert deployed.questions() == ["sure?"]
    assert deployed.invoke(Command(resume="yes")) == {"log": ["yes", "fetch"]}


def test_nodes_may_be_added_and_others_renamed_while_one_waits(open_app):
    open_app(line(ask=asking(), last=Works().node("last"))).invoke(NEW)
    deployed = open_app(line(ask=asking(), check=Works().node("check"), final=Works().node("final")))
    assert deployed.invoke(Command(resume="yes")) == {"log": ["yes", "check", "final"]}
