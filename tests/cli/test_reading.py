"""Reading a question: what it is about, what may be decided, and how the answer has to look."""

import pytest

from signoff.cli.prompt.changes import change_in
from signoff.cli.prompt.reading import Decision, read
from signoff.types import Interrupt


def reading(value, schema=None):
    return read(Interrupt(value, "0" * 32, response_schema=schema))


def test_one_call_of_a_tool_takes_a_bare_decision():
    value = {"type": "tool_approval", "name": "send", "args": {"to": "bob"}, "description": "Send it",
             "review_config": {"action_name": "send", "allowed_decisions": ["approve", "edit"]}}  # fmt: skip
    one = reading(value)
    assert one.items[0].ways == ("approve", "edit", "skip")
    assert one.answer([Decision("approve")]) == {"type": "approve"}
    assert one.answer([Decision("edit", {"to": "ana"})]) == {
        "type": "edit",
        "edited_action": {"name": "send", "args": {"to": "ana"}},
    }


def test_only_what_is_allowed_is_offered():
    value = [{"action_request": {"action": "pay", "args": {}}, "config": {"allow_respond": True}, "description": None}]
    assert reading(value).items[0].ways == ("respond", "skip")
    assert reading(value).answer([Decision("respond", "no")]) == [{"type": "response", "args": "no"}]


@pytest.mark.parametrize(
    ("value", "text", "rest"),
    [
        ("Really?", "Really?", None),
        ({"question": "Really?", "amount": 5}, "Really?", {"amount": 5}),
        ({"message": "Really?"}, "Really?", None),
        ({"amount": 5}, "", {"amount": 5}),
        (5, "", 5),
        ([1, 2], "", [1, 2]),
        (None, "", None),
    ],
)
def test_plain_questions_of_any_shape_are_read(value, text, rest):
    item = reading(value).items[0]
    assert (item.text, item.args) == (text, rest)
    assert item.ways == ("approve", "reject", "respond", "skip")


def test_options_become_a_choice():
    one = reading({"question": "Which?", "options": ["a", "b"]})
    assert (one.kind, one.options) == ("choice", ("a", "b"))
    assert one.answer([Decision("choose", "b")]) == "b"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [({"type": "boolean"}, "plain"), ({"enum": [1, 2]}, "choice"), ({"type": "integer"}, "form")],
)
def test_a_form_is_filled_in_the_shortest_way(schema, kind):
    assert reading("How many?", schema).kind == kind


def test_a_change_of_a_file_is_found_in_many_shapes(tmp_path):
    there = tmp_path / "a.txt"
    there.write_text("one\n")
    for value in (
        {"path": "a.txt", "before": "one\n", "after": "two\n"},
        {"file_path": "a.txt", "old_string": "one", "new_string": "two"},
        {"file_path": str(there), "content": "two\n"},
        {"diff": "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two"},
    ):
        lines = change_in(value).splitlines()
        assert lines[-2:] == ["-one", "+two"]


@pytest.mark.parametrize(
    "value", [None, 5, "text", {}, {"diff": "no diff"}, {"content": "x"}, {"before": 1, "after": 2}]
)
def test_what_changes_no_file_has_no_diff(value):
    assert change_in(value) is None
