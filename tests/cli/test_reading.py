"""Reading a question: what it is about, what may be decided, and how the answer has to look."""

import json
import math
from io import StringIO

import pytest

from signoff.cli.plain import as_json, printable
from signoff.cli.prompt.changes import change_in
from signoff.cli.prompt.panel import panel, panels
from signoff.cli.prompt.reading import Decision, read
from signoff.cli.screen import Screen
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
    ("options", "schema"),
    [({"amount": 5000}, None), ([], None), ("express", None), (["a", "b"], {"type": "integer"}), ([1], {"enum": [2]})],
)
def test_options_that_are_no_choice_are_shown_with_the_rest(options, schema):
    one = reading({"question": "Pay?", "options": options, "to": "Bob"}, schema)
    assert one.items[0].args == {"options": options, "to": "Bob"}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "boolean"}, "plain"),
        ({"enum": [1, 2]}, "choice"),
        ({"const": True, "type": "boolean"}, "choice"),
        ({"type": "integer"}, "form"),
    ],
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
        lines = change_in(value).diff.splitlines()
        assert lines[-2:] == ["-one", "+two"]


@pytest.mark.parametrize(
    "value", [None, 5, "text", {}, {"diff": "no diff"}, {"content": "x"}, {"before": 1, "after": 2}]
)
def test_what_changes_no_file_has_no_diff(value):
    assert change_in(value) is None


@pytest.mark.parametrize("shape", ["actions", "action"])
def test_a_subagent_that_asks_is_named(shape):
    call = {"name": "publish", "args": {"text": "Hello"}}
    one = {"type": "tool_approval", **call} if shape == "action" else {"action_requests": [call], "review_configs": []}
    read_one = reading({**one, "path": ["editor", "writer"]})
    screen = Screen(file=StringIO(), width=200)
    screen.print(panels(read_one, "t"))
    assert "publish · editor > writer · t" in screen.file.getvalue()


DIFF = "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+two"


def shown(args, **request):
    """What a person sees of a call."""
    value = {"action_requests": [{"name": "do", "args": args, **request}], "review_configs": []}
    screen = Screen(file=StringIO(), width=200)
    screen.print(panel(reading(value).items[0]))
    return screen.file.getvalue()


@pytest.mark.parametrize(
    "args",
    [
        {"diff": DIFF, "command": "rm -rf ~"},
        {"old": "one", "new": "two", "command": "rm -rf ~"},
        {"path": "a.txt", "content": "two", "file_path": "rm -rf ~"},
        {"path": "a.txt", "old": "one", "new": "two", "content": "rm -rf ~"},
    ],
)
def test_a_change_of_a_file_hides_no_other_argument(args):
    assert "rm -rf ~" in shown(args)


def test_a_preview_hides_only_what_it_shows():
    assert "rm -rf ~" in shown({"command": "rm -rf ~"}, preview="It would do nothing.")
    assert "rm -rf ~" in shown({"command": "rm -rf ~"}, preview=DIFF)
    assert "content:" not in shown({"file_path": "a.txt", "content": "two"}, preview=DIFF)


def lines(args, **request):
    """The lines that a person sees of a call."""
    return [line.strip("│").removeprefix(" ").rstrip() for line in shown(args, **request).splitlines()[1:-1]]


@pytest.mark.parametrize("width", [72, 80, 200])
def test_no_part_of_an_argument_looks_like_another_argument(width):
    seen = lines({"to": f"Ana{' ' * width}amount: 5", "note": f"x\n{' ' * width}amount: 5", "amount": 5000})
    assert [line for line in seen if line.lstrip().startswith("amount") and not line.startswith("  ")] == [
        "amount: 5000"
    ]
    assert "    amount: 5" in seen, "it is shown, and that the line went on before it"


@pytest.mark.parametrize("name", ["to\namount: 5", "amount: 5", "to\tamount: 5", "  amount", "amount"])
def test_no_name_of_an_argument_looks_like_another_argument(name):
    seen = lines({name: "x", "sum": 5000})
    assert len(seen) == 2
    assert seen[0] == ("amount: x" if name == "amount" else f"{json.dumps(name)}: x")


def test_a_long_line_of_a_change_goes_on_behind_a_mark():
    seen = lines({"path": "a.txt", "content": f"one{' ' * 72}-milk\n+{'bread' * 20}\n"})
    assert seen[2:] == ["@@ -0,0 +1,2 @@", "+one", "… -milk", f"++{'bread' * 14}br", f"… ead{'bread' * 5}"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"])
def test_a_path_is_one_line_of_a_change(end):
    path = f"/notes.md{end}@@ -1 +1 @@{end}-milk{end}"
    diff = change_in({"file_path": path, "content": "bread"}).diff
    assert [line[:4] for line in diff.splitlines()] == ["--- ", "+++ ", "@@ -", "+bre"]
    assert diff.splitlines()[0].count(repr(end)[1:-1]) == 3


@pytest.mark.parametrize("path", ["/dev/zero", "a\0b", "\udcff", "x" * 5000, "."])
def test_a_path_that_names_no_file_is_compared_with_nothing(path):
    assert change_in({"path": path, "content": "two"}).diff.splitlines()[-1] == "+two"


def test_calls_of_no_known_shape_are_a_plain_question():
    assert reading({"action_requests": ["pay"]}).kind == "plain"
    assert reading({"action_requests": [{"name": "pay"}], "review_configs": ["pay"]}).kind == "actions"


@pytest.mark.parametrize(
    "value",
    [
        {"type": "tool_approval", "tool": "pay", "amount": 5000},
        {"type": "tool_approval", "tool": "pay", "review_config": "strict"},
        {"type": "tool_approval", "name": "pay", "review_config": "strict"},
        {"type": "tool_approval", "name": ["pay"]},
        {"action_requests": [{"name": ["pay"], "args": {}}], "review_configs": []},
        {"action_requests": [{"tool": "pay", "amount": 5000}]},
        [{"action_request": {"action": "pay"}, "config": ["allow_accept"]}],
        [{"action_request": {"action": ["pay"]}, "config": {"allow_accept": True}}],
        [{"action_request": {"tool": "pay"}, "config": {"allow_accept": True}}],
    ],
)
def test_what_does_not_have_the_shape_of_a_call_is_plain_and_shown_whole(value):
    one = reading(value)
    assert (one.kind, one.items[0].args) == ("plain", value)
    assert reading(value, {"type": "integer"}).kind == "form"


@pytest.mark.parametrize(
    "reviews",
    [
        *(None, 5, "strict", {"pay": {}}, [{"action_name": ["pay"]}]),
        *([{"action_name": "pay", "allowed_decisions": odd, "args_schema": odd}] for odd in (None, 5, "approval", {})),
    ],
)
def test_a_review_that_is_none_forbids_nothing(reviews):
    one = reading({"action_requests": [{"name": "pay", "args": {}}], "review_configs": reviews})
    assert (one.kind, one.items[0].ways) == ("actions", ("approve", "reject", "edit", "skip"))
    assert not one.items[0].args_schema


@pytest.mark.parametrize("part", [True, {"items": True}, {"prefixItems": [True]}, {"items": {"properties": {}}}])
def test_a_form_that_says_little_of_the_decisions_is_read(part):
    call = {"action_requests": [{"name": "pay", "args": {}}]}
    assert "accept" not in reading(call, {"type": "object", "properties": {"decisions": part}}).items[0].ways


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\rb"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\ud800", "\\ud800"),
        ("a\u034fb\u115f\u1160\u3164\uffa0", "a\\u034fb\\u115f\\u1160\\u3164\\uffa0"),
        ("\u17b4\u17b5\u180b\u180f\u2800", "\\u17b4\\u17b5\\u180b\\u180f\\u2800"),
        ("\U0001d173\ufff0", "\\ud834\\udd73\\ufff0"),
        ("pay\ufe0f 5\ufe0f0\ufe00", "pay\\ufe0f 5\\ufe0f0\\ufe00"),
        ("❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f\\ufe0f\\ufe0e"),
        ("❤️ ✔︎ 1️⃣ ©️ ☺️ ℹ️ ‼️ 〰️ 👁️‍🗨️ 🏳️‍🌈 🕵🏽‍♀️", "❤️ ✔︎ 1️⃣ ©️ ☺️ ℹ️ ‼️ 〰️ 👁️‍🗨️ 🏳️‍🌈 🕵🏽‍♀️"),
        ("Zoë 👩‍💻 ქ نامه‌ای", "Zoë 👩‍💻 ქ نامه‌ای"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, seen):
    assert printable(text) == seen


def test_json_means_the_same_when_it_is_written_out():
    value = {"a": "\x1b\x9b\u202e\U000e0041"}
    assert json.loads(as_json(value)) == value


def test_json_has_numbers_that_every_program_can_read():
    value = {"a": [math.nan, math.inf, -math.inf, 1.5]}
    assert json.loads(as_json(value), parse_constant=pytest.fail) == {"a": ["NaN", "Infinity", "-Infinity", 1.5]}
