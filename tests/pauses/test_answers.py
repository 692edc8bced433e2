"""Promise 2: an answer reaches the question it was given to, or is refused."""

from datetime import UTC, datetime
from itertools import count

import pytest

from signoff.errors import AlreadyAnswered, GraphInterrupt, InvalidAnswer, InvalidInput, InvalidUpdateError
from signoff.types import Command, Interrupt, interrupt

from .programs import NEW, Works, asking, beside, line
from .ways import EACH_SERVER_ONCE, on_thread

ON_SERVERS = EACH_SERVER_ONCE


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


def test_a_late_answer_is_told_of_the_last_one_that_was_given(open_app):
    app = open_app(beside(ask=lambda state: {"log": [interrupt(number) for number in range(6)]}))
    app.invoke(NEW)
    for number in range(6):
        app.invoke(Command(resume=number))
    with pytest.raises(AlreadyAnswered, match=r"\(5\) was answered"):
        app.invoke(Command(resume="late"))


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


def test_a_late_answer_by_key_is_told_who_answered_that_question(open_app):
    app = open_app(beside(one=asking("one?", key="first"), two=asking("two?", key="second")))
    app.invoke(NEW)
    app.invoke(Command(resume={"first": 1}, by="ana"))
    app.invoke(Command(resume={"second": 2}, by="ben"))
    with pytest.raises(AlreadyAnswered, match="'one.'.* was answered by ana"):
        app.invoke(Command(resume={"first": 3}))


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
    with pytest.raises(TypeError, match=r"the answer, resume\.callback: a function"):
        app.invoke(Command(resume={"callback": lambda: 1}))
    assert app.questions() == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


@pytest.mark.parametrize("is_over", [False, True])
def test_what_is_refused_at_an_old_checkpoint_changes_nothing(open_app, is_over):
    app = open_app(line(first=asking("first?"), second=asking("second?"), third=asking("third?")))
    app.invoke(NEW)
    id = app.ids()["first?"]
    app.invoke(Command(resume=1))
    if is_over:
        app.invoke(Command(resume=2))
        app.invoke(Command(resume=3))
    old = next(one.config for one in app.history() if one.next == ("first",))
    before, questions, filed = app.get_state(), app.ids(), app.filed()
    answers = [Command(resume="again"), Command(resume={id: "again"})]
    for bad in (*answers, Command(goto="nowhere"), Command(update={"lgo": ["told"]})):
        for durability in ("sync", "exit"):
            with pytest.raises((InvalidAnswer, InvalidUpdateError)):
                app.invoke(bad, old, durability=durability)
            assert app.get_state() == before
            assert (app.ids(), app.filed()) == (questions, filed)


def test_a_question_that_a_node_raises_itself_is_filed_with_its_node_and_the_time(open_app):
    def ask(state):
        raise GraphInterrupt([Interrupt("sure?", id="by hand")])

    app = open_app(beside(ask=ask))
    app.invoke(NEW)
    (filed,) = app.filed()
    assert (filed.value, filed.path, datetime.fromisoformat(filed.asked_at).tzinfo) == ("sure?", "ask", UTC)


def test_an_answer_at_the_end_of_an_old_turn_is_refused_and_changes_nothing(open_app):
    app = open_app(line(work=Works().node("work")), interrupt_before=["work"])
    app.invoke(NEW)
    app.invoke(None)
    ended = app.get_state().config
    app.invoke(NEW)
    before = app.get_state()
    with pytest.raises(InvalidAnswer, match="at an old checkpoint"):
        app.invoke(Command(resume="yes"), ended)
    assert app.get_state() == before


def test_an_answer_to_what_was_asked_at_an_old_checkpoint_is_refused_in_a_graph_with_breakpoints_too(open_app):
    app = open_app(line(ask=asking()), interrupt_after=["ask"])
    app.invoke(NEW)
    asked = app.get_state().config
    app.invoke(Command(resume="yes"))
    before = app.get_state()
    with pytest.raises(InvalidAnswer, match="at an old checkpoint"):
        app.invoke(Command(resume="no"), asked)
    assert app.get_state() == before


@pytest.mark.parametrize(("key", "warnings"), [(None, 1), ("draft", 0)])
def test_a_node_that_asks_something_else_when_it_runs_again_is_told_of_once(
    open_app, caplog, monkeypatch, key, warnings
):
    monkeypatch.setattr("signoff.drivers.scopes.asking._warned_of", set())
    numbers = count(1)

    def review(state):
        return {"log": [interrupt(f"Send draft {next(numbers)}?", key=key)]}

    app = open_app(line(review=review))
    for name in "ab":
        app.invoke(NEW, on_thread(name))
        assert app.invoke(Command(resume="yes"), on_thread(name)) == {"log": ["yes"]}
    said = [record.getMessage() for record in caplog.records if record.name == "signoff"]
    assert len(said) == warnings
    assert all("'review' asked 'Send draft 1?'" in one and "asks 'Send draft 2?'" in one for one in said)


def test_it_is_told_of_that_too_if_the_words_begin_alike(open_app, caplog, monkeypatch):
    monkeypatch.setattr("signoff.drivers.scopes.asking._warned_of", set())
    numbers = count(1)
    app = open_app(line(review=lambda state: {"log": [interrupt(f"{'Send it? ' * 20}{next(numbers)}")]}))
    app.invoke(NEW)
    app.invoke(Command(resume="yes"))
    assert len([record for record in caplog.records if record.name == "signoff"]) == 1
