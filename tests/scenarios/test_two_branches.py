"""Scenario 5: two branches ask at once, and are answered together or one by one."""

import pytest

from signoff.types import Command


@pytest.fixture
def program(example):
    return example("two_branches")


def ids(app):
    return {question.value.split()[0]: question.id for question in app.get_state().interrupts}


def test_both_questions_come_back_with_ids(open_app, program):
    app = open_app(program.build())
    questions = app.invoke({"log": []})["__interrupt__"]
    assert sorted(question.value for question in questions) == ["Are the claims true?", "May it cost 9,000 euros?"]
    assert {question.id for question in questions} == set(ids(app).values())


def test_one_call_answers_both(open_app, program):
    app = open_app(program.build())
    app.invoke({"log": []})
    result = app.invoke(Command(resume={ids(app)["Are"]: "yes", ids(app)["May"]: "no"}))
    assert result["log"] == ["budget: no", "legal: yes", "published"]


def test_one_today_and_the_other_tomorrow(open_app, program, capsys):
    app = open_app(program.build())
    app.invoke({"log": []})
    app.invoke(Command(resume={ids(app)["Are"]: "yes"}))
    assert app.questions() == ["May it cost 9,000 euros?"]
    result = app.invoke(Command(resume="no"))
    assert result["log"] == ["budget: no", "legal: yes", "published"]
    shown = capsys.readouterr().out
    assert (shown.count("legal: reading"), shown.count("budget: adding")) == (2, 2)
