"""The approval prompt, in a real terminal: keys are sent, screens are compared."""

import json
import sys
import threading
from functools import partial
from itertools import count
from shlex import join
from typing import Any

import pytest

from cli.flows import HIDDEN, HOTEL
from cli.terminal import CTRL_C, CTRL_D, DOWN, ENTER, UP, golden
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.cli.codes import ALREADY_ANSWERED, INVALID_ANSWER, PAUSED
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import interrupt


def said(thread: str = "t"):
    """What the thread was told."""
    with SqliteSaver.from_conn_string("signoff.db") as saver:
        saved = saver.get_tuple({"configurable": {"thread_id": thread}})
        return saved.checkpoint["channel_values"].get("said")


@pytest.fixture
def run(terminal):
    def start(attr: str, until: str, thread: str = "t", **settings):
        screen = terminal("run", f"flows.py:{attr}", '{"amount": 1}', "--thread", thread, **settings)
        screen.until(until)
        return screen

    return start


# Actions


def test_a_change_of_a_file_is_shown_as_a_coloured_diff_and_approved_with_a_letter(run):
    screen = run("edit_file", "s  skip")
    golden("edit-file", screen.text)
    assert screen.colours_of("+    return math.pi * r * r") == {"green"}
    assert screen.colours_of("-    return 3 * r * r") == {"red"}
    assert screen.colours_of("Edit file: shapes.py") == {"default"}, "it can be read on a light background, too"
    screen.press("y")
    assert screen.end() == 0
    assert said() == {"decisions": [{"type": "approve"}]}


def test_without_colours_the_signs_tell(run):
    screen = run("edit_file", "s  skip", env={"NO_COLOR": "1"})
    assert screen.colours_of("+    return math.pi * r * r") == {"default"}
    assert b"\x1b[3" not in screen.seen.replace(b"\x1b[39", b"")
    golden("edit-file", screen.text)
    screen.press(CTRL_C)
    screen.end()


def test_a_rejection_has_a_reason(run):
    screen = run("edit_file", "s  skip")
    screen.press("n")
    screen.until_typing("why")
    screen.press("pi is 3 here", ENTER)
    assert screen.end() == 0
    assert said() == {"decisions": [{"type": "reject", "message": "pi is 3 here"}]}


def test_the_arrow_keys_move_and_wrap(run):
    screen = run("edit_file", "s  skip")
    screen.press(UP, UP, ENTER)
    screen.until_typing("your answer:")
    screen.press("use tau", ENTER)
    assert screen.end() == 0
    assert said() == {"decisions": [{"type": "respond", "message": "use tau"}]}


def test_a_call_is_accepted_from_here_on(run):
    screen = run("shell", "a  accept from here on")
    screen.press("a")
    assert screen.end() == 0
    assert said() == {"decisions": [{"type": "approve", "from_here_on": True}]}


def test_several_actions_come_one_after_the_other(run):
    screen = run("two_actions", "1 of 2")
    screen.until("s  skip")
    screen.press("y")
    screen.until("2 of 2")
    screen.until("s  skip")
    golden("second-action", screen.text)
    screen.press("n")
    screen.until_typing("why")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == {"decisions": [{"type": "approve"}, {"type": "reject"}]}


# The older shape, and editing


def test_arguments_are_readable_and_accepted(run):
    screen = run("book_hotel", "s  skip")
    golden("book-hotel", screen.text)
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == [{"type": "accept", "args": None}]


def test_what_a_terminal_would_obey_is_shown_instead(run):
    screen = run("hiding", "s  skip")
    assert r"command: ls \u001b[8m; rm -rf ~\u001b[28m \u009b8m \u202e#txt" in screen.text
    assert b"\x1b[8m" not in screen.seen
    assert "\u202e".encode() not in screen.seen
    screen.press("n")
    screen.until_typing("why")
    screen.press(ENTER)
    assert screen.end() == 0


def test_what_a_terminal_would_obey_is_shown_instead_while_it_is_edited_and_stays(run):
    screen = run("hiding_edited", "s  skip")
    screen.press("e")
    screen.until_typing(r"command: ls \u001b[8m; rm -rf ~\u001b[28m \u009b8m \u202e#txt")
    assert "\u202e".encode() not in screen.seen
    left = "\x1b[D"
    screen.press(*[left] * 4, "A", ENTER)
    assert screen.end() == 0
    (decision,) = said()["decisions"]
    assert decision["edited_action"]["args"] == {"command": HIDDEN.replace("#txt", "A#txt")}


def test_arguments_are_edited_field_by_field_where_there_is_no_editor(run):
    screen = run("book_hotel", "s  skip")
    screen.press("e")
    screen.until_typing("hotel: Astoria")
    screen.press(ENTER)
    screen.until_typing("nights (integer): 2")
    screen.press("\x7f", "x", ENTER)
    screen.until("is not of type 'integer'")
    screen.until_typing("nights (integer): x")
    golden("field-refused", screen.text)
    screen.press("\x7f", "3", ENTER)
    screen.until_typing("guest")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == [{"type": "edit", "args": {"action": "book_hotel", "args": {**HOTEL, "nights": 3}}}]


def test_no_name_of_an_argument_that_is_edited_looks_like_another_one(run):
    screen = run("odd_names", "s  skip")
    screen.press("e")
    screen.until_typing(r'"amount: 5\n  to": Bob')
    screen.press(ENTER)
    screen.until_typing(r"\u202eot: Ann")
    screen.press(ENTER)
    assert screen.end() == 0
    assert "\u202e".encode() not in screen.seen


def test_arguments_are_edited_in_the_editor_and_can_be_mended(run, folder):
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "file, count = pathlib.Path(sys.argv[1]), pathlib.Path('count')\n"
        "count.write_text(count.read_text() + 'x' if count.exists() else 'x')\n"
        "text = file.read_text()\n"
        "mended = text.replace('Astoria', 'Bristol').rstrip('}') + '}'\n"
        "file.write_text(text + '}' if count.read_text() == 'x' else mended, encoding='utf-8-sig')\n"
    )
    screen = run("book_hotel", "s  skip", env={"EDITOR": join([sys.executable, str(script)])})
    screen.press("e")
    screen.until("This is no JSON")
    screen.until("e  edit again")
    screen.press("e")
    assert screen.end() == 0
    assert said()[0]["args"]["args"]["hotel"] == "Bristol"


def test_arguments_that_nobody_has_changed_stay_as_they_are(run):
    screen = run("search", "s  skip")
    screen.press("e")
    screen.until_typing("query: 5")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said()["decisions"][0]["edited_action"] == {"name": "search", "args": {"query": "5", "page": 2}}


def test_editing_that_is_given_up_leaves_the_question_open(terminal, run):
    run("book_hotel", "s  skip").press(CTRL_C)
    with SqliteSaver.from_conn_string("signoff.db") as saver:
        (question,) = Inbox(saver).open()
    screen = terminal("edit", question.id, env={"EDITOR": "no-such-editor"})
    screen.until("no-such-editor did not work")
    screen.until("g  give up")
    screen.press("g")
    assert screen.end() == PAUSED
    assert "left open" in screen.text
    assert "Traceback" not in screen.text


def test_what_was_edited_goes_to_the_question_that_was_seen_and_to_no_other(signoff, terminal, folder):
    """The beginning of an id names another question, once the first is answered and the other is asked."""

    def ask(thread: str) -> str:
        done = signoff("run", "flows.py:book_hotel", '{"amount": 1}', "--thread", thread, "--json")
        return done.json["questions"][0]["id"]

    (folder / "editor.py").write_text("input('in the editor')")
    seen = ask("seen")
    screen = terminal("edit", seen[0], env={"EDITOR": join([sys.executable, "editor.py"])})
    screen.until("in the editor")
    signoff("reject", seen, "--by", "ben")
    other = next(id for id in (ask(f"other-{number}") for number in count()) if id[0] == seen[0])
    screen.press(ENTER)
    assert screen.end() == ALREADY_ANSWERED
    assert signoff("show", other).code == 0, "it is open"


def test_an_editor_that_fails_does_not_end_the_run(run):
    screen = run("book_hotel", "s  skip", env={"EDITOR": "false"})
    screen.press("e")
    screen.until("false did not work")
    screen.until("g  give up")
    screen.press("g")
    screen.until("s  skip")
    screen.press("y")
    assert screen.end() == 0
    assert said() == [{"type": "accept", "args": None}]


def test_an_action_that_takes_no_edit_opens_no_editor(terminal, run, folder):
    run("two_actions", "s  skip").press(CTRL_C)
    with SqliteSaver.from_conn_string("signoff.db") as saver:
        (question,) = Inbox(saver).open()
    screen = terminal("edit", question.id, env={"EDITOR": "touch opened"})
    assert screen.end() == INVALID_ANSWER
    assert not (folder / "opened").exists()


# Forms


def test_a_form_is_filled_in_field_by_field_with_errors_at_the_field(run):
    screen = run("sign_up", "Name:")
    screen.until_typing("Name:")
    screen.press("A", ENTER)
    screen.until("too short")
    screen.until_typing("Name: A")
    screen.press("na", ENTER)
    screen.until_typing("age (integer):")
    screen.press("17", ENTER)
    screen.until("less than the minimum of 18")
    screen.until_typing("age (integer): 17")
    golden("form", screen.text)
    screen.press("\x7f", "8", ENTER)
    screen.until("paid")
    screen.press(DOWN, ENTER)
    screen.until_typing("note:")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == {"name": "Ana", "age": 18, "plan": "paid"}


def test_what_may_be_nothing_is_nothing_if_it_is_left_empty(run):
    screen = run("nobody", "note:")
    screen.until_typing("note:")
    assert "null" not in screen.text
    screen.press(ENTER)
    screen.until_typing("age (integer):")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == {"age": None}


def test_the_only_answer_that_fits_is_given_by_nobody_but_a_person(run):
    screen = run("sure", "s  skip")
    assert "> 1  confirmed" in screen.text
    screen.press("s")
    assert screen.end() == PAUSED
    assert said() is None
    screen = run("sure", "s  skip", thread="again")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said("again") == "confirmed"


def test_a_form_of_which_every_field_takes_only_one_value_needs_a_yes(run):
    screen = run("terms", "agree:")
    screen.until("g  give up")
    screen.press(ENTER)
    screen.until("since:")
    screen.until("g  give up")
    assert "(leave out)" in screen.text
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == {"agree": "yes"}, "nobody chose the second"


def test_a_form_that_is_given_up_stays_open(run):
    screen = run("terms", "g  give up")
    screen.press("g")
    assert screen.end() == PAUSED
    assert "skipped; the question stays open" in screen.text
    assert said() is None


def test_a_plain_question_takes_yes_no_or_words(run):
    screen = run("app", "s  skip")
    golden("plain", screen.text)
    screen.press("r")
    screen.until_typing("your answer:")
    screen.press('{"ok": 1}', ENTER)
    assert screen.end() == 0
    assert said() == {"ok": 1}


def test_the_choice_that_is_taken_is_on_the_screen_however_many_there_are(run):
    screen = run("rooms", "> 1  room 0", lines=24)
    screen.press(*[DOWN] * 45)
    screen.until("> room 45")
    screen.press(ENTER)
    assert screen.end() == 0
    assert said() == "room 45"


def test_a_long_choice_can_be_read_to_its_end(run):
    screen = run("transfer_to", "to Bob")
    assert "to Ann" in screen.text
    screen.press(CTRL_C)
    screen.end()


def test_no_part_of_an_option_looks_like_another_option(run):
    screen = run("forged", "s  skip")
    assert screen.text.splitlines()[-5:] == ["> 1  Ann", "        2  Bob", "  2  Cid", "        3  Bob", "  s  skip"]
    screen.press(CTRL_C)
    screen.end()


def test_a_terminal_that_is_slow_or_silent_is_not_asked_where_its_cursor_is(run):
    """It was told, in the middle of the question, that it cannot answer that."""
    screen = run("app", "s  skip")
    screen.press("r")
    screen.until_typing("your answer:")
    screen.press("yes", ENTER)
    assert screen.end() == 0
    assert b"\x1b[6n" not in screen.seen
    assert said() == "yes"


# Leaving


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D], ids=["ctrl-c", "ctrl-d"])
def test_a_key_leaves_the_question_open_and_a_day_later_it_is_asked_again(run, terminal, key):
    screen = run("edit_file", "s  skip")
    asked = [line for line in screen.text.splitlines() if line.startswith(("│", "╭", "╰"))]
    screen.press(key)
    assert screen.end() == 3
    assert "left open; go on with: signoff run flows.py:edit_file --thread t" in screen.text
    again = terminal("run", "flows.py:edit_file", "--thread", "t")
    again.until("s  skip")
    assert [line for line in again.text.splitlines() if line.startswith(("│", "╭", "╰"))] == asked
    again.press("y")
    assert again.end() == 0
    assert said() == {"decisions": [{"type": "approve"}]}


@pytest.mark.parametrize("has_gone_on", [False, True])
def test_whoever_is_late_is_told_who_was_first_and_the_code_says_so(run, signoff, has_gone_on):
    screen = run("app", "s  skip")
    (question,) = signoff("inbox", "--json").json["questions"]
    signoff("answer", question["id"], "no", "--by", "ben", *(["--app", "flows.py:app"] if has_gone_on else []))
    screen.press("y")
    assert screen.end() == ALREADY_ANSWERED
    assert "was answered by ben" in screen.text.replace("\n", "")
    assert said() == ("no" if has_gone_on else None)


def test_what_is_skipped_stays_open(run):
    screen = run("both", "Go left?")
    screen.until("s  skip")
    screen.press("y")
    screen.until("Go right?")
    screen.until("s  skip")
    screen.press("s")
    assert screen.end() == 3
    assert "signoff answer" in screen.text
    with SqliteSaver.from_conn_string("signoff.db") as saver:
        assert [one.value for one in Inbox(saver).open()] == ["Go right?"]


def test_a_thread_that_is_run_just_now_does_not_end_the_inbox(signoff, terminal):
    is_asked, may_end = threading.Event(), threading.Event()

    def work(state: Any) -> None:
        while not Inbox(saver).open():
            pass
        is_asked.set()
        may_end.wait()

    graph = StateGraph(dict).add_node("ask", lambda state: interrupt("May I?")).add_node(work)
    graph.add_edge(START, "ask").add_edge(START, "work")
    with SqliteSaver.from_conn_string("signoff.db") as saver:
        start = partial(graph.compile(saver).invoke, {}, {"configurable": {"thread_id": "a"}})
        run = threading.Thread(target=start, daemon=True)
        run.start()
        is_asked.wait()
        signoff("run", "flows.py:app", '{"amount": 1}', "--thread", "b")
        screen = terminal("inbox", "--answer")
        for thread in ("a", "b"):
            screen.until(f"─ {thread} ─")
            screen.until("> y  approve")
            screen.press("y")
            screen.until({"a": "Another run has thread", "b": "approved"}[thread])
        assert screen.end() == 0
        may_end.set()
        run.join()
        assert [one.thread_id for one in Inbox(saver).open()] == ["a"]


def test_the_inbox_is_answered_one_question_after_the_other(signoff, terminal):
    for thread in ("a", "b", "c"):
        signoff("run", "flows.py:app", '{"amount": 1}', "--thread", thread)
    screen = terminal("inbox", "--answer")
    for thread, key in (("a", "y"), ("b", "s"), ("c", CTRL_C)):
        screen.until(f"─ {thread} ─")
        screen.until("> y  approve")
        screen.press(key)
        if key != CTRL_C:
            screen.until({"y": "approved", "s": "skipped"}[key])
    assert screen.end() == 3
    left = json.loads(signoff("inbox", "--json").out)["questions"]
    assert [one["thread"] for one in left] == ["b", "c"]
