"""Promise 2: questions may be asked anywhere, and their answers reach them."""

import pytest

from signoff.errors import AlreadyAnswered, InvalidAnswer
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import NEW, Log, Works, asking, beside, line
from .ways import on_thread


def keyed(state):
    return {"log": [interrupt("Your name?", key="name"), interrupt("Your age?", key="age")]}


def test_questions_of_sends_are_answered_one_by_one(open_app):
    graph = StateGraph(Log).add_node("each", lambda number: {"log": [interrupt(number)]})
    graph.add_conditional_edges(START, lambda state: [Send("each", number) for number in range(4)], ["each"])
    app = open_app(graph)
    assert app.ask(NEW) == [0, 1, 2, 3]
    ids = app.ids()
    assert app.ask(Command(resume={ids[2]: "c"})) == [0, 1, 3]
    assert app.ask(Command(resume={ids[0]: "a", ids[3]: "d"})) == [1]
    assert app.invoke(Command(resume="b")) == {"log": ["a", "b", "c", "d"]}


def test_a_question_three_graphs_deep_is_answered_at_the_root(open_app):
    deep = beside(ask=asking("deep?")).compile()
    middle = beside(deep=deep).compile()
    app = open_app(line(middle=middle, after=Works().node("after")))
    assert app.ask(NEW) == ["deep?"]
    assert app.filed()[0].path == "middle|deep|ask"
    assert app.invoke(Command(resume="yes")) == {"log": ["yes", "after"]}


def test_questions_of_nested_graphs_side_by_side_are_two(open_app):
    app = open_app(beside(one=beside(ask=asking("one")).compile(), two=beside(ask=asking("two")).compile()))
    assert sorted(app.ask(NEW)) == ["one", "two"]
    ids = app.ids()
    assert app.ask(Command(resume={ids["two"]: 2})) == ["one"]
    assert app.invoke(Command(resume=1)) == {"log": [1, 2]}


def test_questions_of_calls_are_answered_one_by_one(open_app):
    def program(saver):
        @task
        def confirm(number):
            return interrupt(number)

        @entrypoint(checkpointer=saver)
        def flow(numbers):
            return [future.result() for future in [confirm(number) for number in numbers]]

        return flow

    app = open_app(program)
    assert sorted(app.ask([1, 2, 3])) == [1, 2, 3]
    ids = app.ids()
    assert sorted(app.ask(Command(resume={ids[3]: "c"}))) == [1, 2]
    assert app.ask(Command(resume={ids[1]: "a"})) == [2]
    assert app.invoke(Command(resume="b")) == ["a", "b", "c"]


def test_a_loop_asks_until_it_is_content(open_app):
    def ask(state):
        question = "age?"
        while not str(answer := interrupt(question)).isdigit():
            question = f"{answer} is no age. age?"
        return {"log": [answer]}

    app = open_app(beside(ask=ask))
    assert app.ask(NEW) == ["age?"]
    assert app.ask(Command(resume="old")) == ["old is no age. age?"]
    assert app.ask(Command(resume="older")) == ["older is no age. age?"]
    assert app.invoke(Command(resume="41")) == {"log": ["41"]}


def test_a_conditional_edge_may_ask(open_app):
    works = Works()
    graph = beside(a=works.node("a")).add_node("b", works.node("b")).add_node("c", works.node("c"))
    app = open_app(graph.add_conditional_edges("a", lambda state: interrupt("where to?"), ["b", "c"]))
    assert app.ask(NEW) == ["where to?"]
    assert app.invoke(Command(resume="c")) == {"log": ["a", "c"]}


def test_a_conditional_edge_from_the_start_may_ask(open_app):
    works = Works()
    graph = StateGraph(Log).add_node("a", works.node("a")).add_node("b", works.node("b"))
    app = open_app(graph.add_conditional_edges(START, lambda state: interrupt("where to?"), ["a", "b"]))
    assert app.ask(NEW) == ["where to?"]
    assert app.questions() == ["where to?"]
    assert app.invoke(Command(resume="b")) == {"log": ["b"]}


def test_a_node_and_the_graphs_that_it_calls_ask_in_order(open_app):
    inner = beside(ask=asking("inner?")).compile()

    def ask(state):
        first = interrupt("first?")
        inside = [inner.invoke(NEW)["log"][0] for _ in range(2)]
        return {"log": [first, *inside, interrupt("last?")]}

    app = open_app(beside(ask=ask))
    assert app.ask(NEW) == ["first?"]
    assert [app.ask(Command(resume=number)) for number in (1, 2, 3)] == [["inner?"], ["inner?"], ["last?"]]
    assert app.invoke(Command(resume=4)) == {"log": [1, 2, 3, 4]}


def test_a_replay_asks_again_and_has_questions_of_its_own(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    first = app.ids()["sure?"]
    app.invoke(Command(resume="yes"))
    asked = next(old for old in app.history() if old.next == ("ask",))
    assert app.ask(None, asked.config) == ["sure?"]
    assert [question.value for question in app.filed()] == ["sure?"]
    assert app.ids()["sure?"] != first
    with pytest.raises(AlreadyAnswered):
        app.invoke(Command(resume={first: "no"}))
    assert app.invoke(Command(resume="no")) == {"log": ["no"]}


def test_two_tools_that_ask_in_one_step_are_two_questions(open_app):
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool

    from signoff.graph import MessagesState
    from signoff.prebuilt import ToolNode

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}: {interrupt(f'pay {amount}?')}"

    calls = [{"name": "pay", "args": {"amount": amount}, "id": str(amount)} for amount in (1, 2)]
    graph = StateGraph(MessagesState).add_node("tools", ToolNode([pay])).add_edge(START, "tools")
    app = open_app(graph)
    assert app.ask({"messages": [AIMessage("", tool_calls=calls)]}) == ["pay 1?", "pay 2?"]
    ids = app.ids()
    assert app.ask(Command(resume={ids["pay 2?"]: "no"})) == ["pay 1?"]
    said = app.invoke(Command(resume="yes"))["messages"][1:]
    assert [message.content for message in said] == ["paid 1: yes", "paid 2: no"]


def test_threads_do_not_share_answers(open_app):
    app = open_app(beside(ask=asking()))
    for name in ("a", "b"):
        app.invoke(NEW, on_thread(name))
    other = app.ids(on_thread("b"))["sure?"]
    with pytest.raises(InvalidAnswer, match="There is no open question"):
        app.invoke(Command(resume={other: "yes"}), on_thread("a"))
    assert app.invoke(Command(resume="yes"), on_thread("b")) == {"log": ["yes"]}
    assert app.ids(on_thread("a"))


# The index of open questions


def test_open_questions_are_filed_and_answered_ones_are_not(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two")), name="shop")
    app.invoke(NEW, on_thread("a"))
    app.invoke(NEW, on_thread("b"))
    filed = app.filed()
    assert sorted((question.thread_id, question.value) for question in filed) == [
        ("a", "one"), ("a", "two"), ("b", "one"), ("b", "two"),
    ]  # fmt: skip
    assert {(question.graph, question.node) for question in filed} == {("shop", "one"), ("shop", "two")}
    assert [question.asked_at for question in filed] == sorted(question.asked_at for question in filed)
    app.invoke(Command(resume={app.ids(on_thread("a"))["one"]: 1}), on_thread("a"))
    assert [question.value for question in app.filed(thread_id="a")] == ["two"]
    app.invoke(Command(resume=2), on_thread("a"))
    assert app.filed(thread_id="a") == []
    assert len(app.filed(thread_id="b")) == 2


def test_a_second_question_takes_the_place_of_the_first_in_the_index(open_app):
    app = open_app(beside(ask=keyed))
    app.invoke(NEW)
    assert [question.value for question in app.filed()] == ["Your name?"]
    app.invoke(Command(resume="Ana"))
    assert [question.value for question in app.filed()] == ["Your age?"]
    app.invoke(Command(resume=41))
    assert app.filed() == []
