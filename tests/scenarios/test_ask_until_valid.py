"""Scenario 4: a question is asked until the answer is valid; by a loop, or by what the question accepts."""

import pytest

from signoff.errors import InvalidAnswer
from signoff.types import Command


def test_a_loop_asks_again_with_a_clearer_prompt(open_app, example):
    program = example("ask_until_valid")
    app = open_app(program.build(program.patient))
    app.invoke({})
    assert app.questions() == ["What is your age?"]
    app.invoke(Command(resume="thirty"))
    assert app.questions() == ["'thirty' is not an age. Please answer with a number: what is your age?"]
    assert app.invoke(Command(resume=30)) == {"age": 30}


def test_a_typed_question_refuses_and_stays_open(open_app, example):
    program = example("ask_until_valid")
    app = open_app(program.build(program.strict))
    app.invoke({})
    for wrong in ("thirty", -1, None):
        with pytest.raises(InvalidAnswer, match="The answer .* to 'What is your age.' was refused"):
            app.invoke(Command(resume=wrong))
        assert app.questions() == ["What is your age?"]
    assert app.invoke(Command(resume=30)) == {"age": 30}
