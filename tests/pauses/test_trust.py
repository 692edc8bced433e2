"""What pauses are trusted for: the ways in which they are known to break, each held right."""

import pytest

from signoff.errors import AlreadyAnswered, GraphChanged, InvalidAnswer, QuestionsOpen, ReplayMismatch, ThreadBusy
from signoff.types import Command, interrupt

from .programs import NEW, Works, asking, beside, line
from .ways import SERVER_WAYS, on_thread

ON_SERVERS = SERVER_WAYS


def test_a_pause_inside_try_except_exception_pauses(open_app):
    def careful(state):
        try:
            return {"log": [interrupt("sure?")]}
        except Exception:
            return {"log": ["swallowed"]}

    app = open_app(beside(careful=careful))
    assert app.ask(NEW) == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_an_answer_to_an_unknown_id_is_refused(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="There is no open question '0000.*'sure\\?'"):
        app.invoke(Command(resume={"0" * 32: "yes"}))
    assert app.questions() == ["sure?"]


def test_an_empty_answer_is_an_answer(open_app):
    app = open_app(beside(ask=asking()))
    for number, answer in enumerate([None, {}, False, 0, "", []]):
        config = on_thread(str(number))
        app.invoke(NEW, config)
        assert app.invoke(Command(resume=answer), config) == {"log": [answer]}


def test_an_empty_answer_by_id_is_an_answer(open_app):
    app = open_app(beside(ask=asking()))
    for number, answer in enumerate([None, {}, False]):
        config = on_thread(str(number))
        app.invoke(NEW, config)
        assert app.invoke(Command(resume={app.ids(config)["sure?"]: answer}), config) == {"log": [answer]}


def test_going_on_after_the_first_of_two_answers_asks_the_second_question(open_app):
    def ask(state):
        return {"log": [interrupt("name?"), interrupt("age?")]}

    app = open_app(beside(ask=ask))
    app.invoke(NEW)
    assert app.ask(Command(resume="Ana")) == ["age?"]
    assert app.ask(None) == ["age?"]
    assert app.invoke(Command(resume=41)) == {"log": ["Ana", 41]}


def test_four_resumes_at_once_pay_once(open_app):
    works = Works()
    app = open_app(line(ask=asking("pay?"), pay=works.node("pay")))
    app.invoke(NEW)
    told = app.at_once([Command(resume=name, by=name) for name in ("ana", "ben", "cleo", "dan")])
    winners = [one for one in told if isinstance(one, dict)]
    assert len(winners) == 1
    assert all(isinstance(one, AlreadyAnswered | ThreadBusy) for one in told if one not in winners)
    assert works.done == {"pay": 1}
    assert app.get_state().values == winners[0]


def test_a_question_inserted_by_a_deploy_does_not_get_the_old_yes(open_app):
    def inserted(state):
        return {"log": [interrupt("delete it all?"), interrupt("sure?")]}

    open_app(beside(ask=asking())).invoke(NEW)
    deployed = open_app(beside(ask=inserted))
    with pytest.raises(ReplayMismatch, match="'delete it all.' where 'sure.' was asked"):
        deployed.invoke(Command(resume="yes"))
    assert deployed.questions() == ["sure?"]
    assert open_app(beside(ask=asking())).invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_a_node_renamed_while_it_waits_keeps_its_question(open_app):
    works = Works()
    open_app(beside(ask=asking())).invoke(NEW)
    deployed = open_app(line(confirm=asking(), after=works.node("after")))
    with pytest.raises(GraphChanged, match="'ask', which the graph does not have any more"):
        deployed.invoke(Command(resume="yes"))
    assert works.done == {}
    assert open_app(beside(ask=asking())).invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_new_input_does_not_drop_an_open_question(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    with pytest.raises(QuestionsOpen, match="waits for 1 answer"):
        app.invoke({"log": ["hello"]})
    assert app.questions() == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_a_late_answer_to_a_finished_thread_is_refused(open_app):
    app = open_app(beside(ask=asking()))
    app.invoke(NEW)
    app.invoke(Command(resume="yes", by="ana"))
    with pytest.raises(AlreadyAnswered, match="was answered by ana at 20"):
        app.invoke(Command(resume="no"))
    assert app.get_state().values == {"log": ["yes"]}
