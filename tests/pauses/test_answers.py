"""Promise 2: an answer reaches the question it was given to, or is refused."""

import pytest

from signoff.errors import AlreadyAnswered, InvalidAnswer, InvalidInput
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import NEW, Log, Works, asking, beside, line
from .ways import on_thread


def keyed(state):
    return {"log": [interrupt("Your name?", key="name"), interrupt("Your age?", key="age")]}


def test_a_bare_answer_is_for_the_only_open_question(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    assert app.invoke(Command(resume={"data": "yes"})) == {"log": [{"data": "yes"}]}


def test_a_bare_answer_is_refused_if_several_questions_are_open(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two")))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="2 questions are open.*'one'.*'two'"):
        app.invoke(Command(resume="yes"))
    assert app.questions() == ["one", "two"]


def test_answers_by_id_reach_their_questions(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two")))
    app.invoke(NEW)
    ids = app.ids()
    assert app.invoke(Command(resume={ids["two"]: 2, ids["one"]: 1})) == {"log": [1, 2]}


def test_one_of_several_questions_can_be_answered(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two"), three=asking("three")))
    app.invoke(NEW)
    assert sorted(app.ask(Command(resume={app.ids()["two"]: 2}))) == ["one", "three"]
    ids = app.ids()
    assert sorted(ids) == ["one", "three"]
    assert sorted(app.invoke(Command(resume={ids["one"]: 1, ids["three"]: 3}))["log"]) == [1, 2, 3]


def test_if_one_answer_is_refused_none_is_taken(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two")))
    app.invoke(NEW)
    before = app.get_state()
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume={app.ids()["one"]: 1, "0" * 32: 2}))
    assert app.get_state() == before


def test_an_answer_by_key_reaches_its_question(open_app):
    app = open_app(beside(ask=keyed))
    assert app.ask(NEW) == ["Your name?"]
    assert [question.key for question in app.get_state().interrupts] == ["name"]
    assert app.ask(Command(resume={"name": "Ana"})) == ["Your age?"]
    assert app.invoke(Command(resume={"age": 41})) == {"log": ["Ana", 41]}


def test_an_unknown_key_is_a_plain_answer(open_app):
    app = open_app(beside(ask=asking("Your name?", key="name")))
    app.invoke(NEW)
    assert app.invoke(Command(resume={"nmae": "Ana"})) == {"log": [{"nmae": "Ana"}]}


def test_a_key_that_two_open_questions_have_is_refused(open_app):
    app = open_app(beside(one=asking("one", key="it"), two=asking("two", key="it")))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="2 open questions have the key 'it': answer them by id"):
        app.invoke(Command(resume={"it": 1}))
    ids = app.ids()
    assert app.invoke(Command(resume={ids["one"]: 1, ids["two"]: 2})) == {"log": [1, 2]}


def test_a_key_cannot_be_asked_twice_in_a_task(open_app):
    def ask(state):
        return {"log": [interrupt("one", key="it"), interrupt("two", key="it")]}

    app = open_app(beside(ask=ask))
    assert app.ask(NEW) == ["one"]
    with pytest.raises(InvalidInput, match="'ask' asks twice with key='it'"):
        app.invoke(Command(resume=1))


def test_an_answered_id_is_refused_and_says_who_answered(open_app):
    app = open_app(beside(one=asking("one"), two=asking("two")))
    app.invoke(NEW)
    ids = app.ids()
    app.invoke(Command(resume={ids["one"]: 1}, by="ana"))
    with pytest.raises(AlreadyAnswered, match="'one'.* was answered by ana"):
        app.invoke(Command(resume={ids["one"]: 5}))
    assert app.invoke(Command(resume={ids["two"]: 2})) == {"log": [1, 2]}


def test_an_answer_to_a_thread_that_has_not_begun_is_refused(open_app):
    app = open_app(beside(ask=asking()))
    with pytest.raises(InvalidAnswer, match="There is no open question"):
        app.invoke(Command(resume="yes"))
    assert app.history() == []


def test_an_answer_to_a_thread_that_was_never_asked_is_refused(open_app):
    app = open_app(beside(work=Works().node("work")))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="There is no open question") as refused:
        app.invoke(Command(resume="yes"))
    assert not isinstance(refused.value, AlreadyAnswered)


def test_an_answer_may_come_with_an_update_and_a_goto(open_app):
    works = Works()
    app = open_app(beside(ask=asking()).add_node("extra", works.node("extra")))
    app.invoke(NEW)
    result = app.invoke(Command(resume="yes", update={"log": ["told"]}, goto="extra"))
    assert sorted(result["log"]) == ["extra", "told", "yes"]


def test_a_bad_update_beside_an_answer_refuses_both(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    with pytest.raises(Exception, match="lgo"):
        app.invoke(Command(resume="yes", update={"lgo": 1}))
    assert app.questions() == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_an_answer_that_cannot_be_stored_is_refused(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    with pytest.raises(TypeError, match="function|lambda"):
        app.invoke(Command(resume={"callback": lambda: 1}))
    assert app.questions() == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


# Where questions are asked


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
