"""Scenario 3: the question shows a draft, and the answer takes its place."""

from typing import TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Letter(TypedDict):
    text: str
    sent: str


@pytest.fixture
def drafts():
    """How many drafts were written."""
    return []


@pytest.fixture
def app(open_app, drafts):
    def draft(letter: Letter):
        drafts.append(1)
        return {"text": f"draft {len(drafts)}"}

    def review(letter: Letter):
        return {"text": interrupt({"task": "Edit the letter.", "text": letter["text"]})}

    def send(letter: Letter):
        return {"sent": letter["text"]}

    return open_app(StateGraph(Letter).add_sequence([draft, review, send]).add_edge(START, "draft"))


def test_the_question_shows_the_draft(app):
    (question,) = app.invoke({})["__interrupt__"]
    assert question.value == {"task": "Edit the letter.", "text": "draft 1"}


def test_the_edited_text_replaces_the_draft(app):
    app.invoke({})
    assert app.invoke(Command(resume="edited")) == {"text": "edited", "sent": "edited"}


def test_the_draft_is_written_once(app, drafts):
    app.invoke({})
    app.invoke(Command(resume="edited"))
    assert drafts == [1]


def test_the_history_has_the_draft_and_the_edited_text(app):
    app.invoke({})
    app.invoke(Command(resume="edited"))
    texts = [snapshot.values.get("text") for snapshot in app.history()]
    assert texts == [None, None, "draft 1", "edited", "edited"]
