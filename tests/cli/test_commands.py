"""Every command: what it does, what it prints with --json, what it says when something is wrong."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from cli.conftest import APP
from cli.flows import HIDDEN
from cli.terminal import SIGNOFF
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.cli.codes import (
    ALREADY_ANSWERED,
    CHANGED,
    DONE,
    FAILED,
    INVALID_ANSWER,
    MEANINGS,
    NOT_FOUND,
    PAUSED,
    USAGE,
)
from signoff.graph import START, StateGraph
from signoff.types import interrupt

# run


def test_run_follows_the_nodes_and_stops_at_a_question(signoff):
    done = signoff("run", APP, '{"amount": 4}', "--thread", "t")
    assert done.code == PAUSED
    assert "✓ prepare: amount=5" in done.out
    assert "Transfer it?" in done.out
    assert re.search(r"answer it: signoff answer \w{8} VALUE --app flows.py:app", done.out)


def test_the_next_command_is_told_with_the_database_it_needs(signoff):
    done = signoff("run", APP, '{"amount": 4}', "--thread", "t", "--db", "sqlite:///other.db")
    command = re.search(r"answer it: signoff (answer .*)", done.out)[1]
    assert command.endswith("VALUE --app flows.py:app --db sqlite:///other.db")
    refused = signoff("run", APP, '{"amount": 5}', "--thread", "t", "--db", "sqlite:///other.db")
    assert "`signoff run flows.py:app --db sqlite:///other.db --thread t` asks" in refused.err
    assert signoff(*command.replace("VALUE", "true").split()).code == 0


@pytest.mark.parametrize(
    ("how", "told"), [((), "Continue it with: signoff run APP"), (("--app", APP), f"Try again with: signoff run {APP}")]
)
def test_an_answer_tells_the_next_command_with_the_database_it_needs(signoff, how, told):
    db = ("--db", "sqlite:///other.db")
    asked = signoff("run", APP, '{"amount": 4}', "--thread", "t", "--json", *db).json["questions"][0]["id"]
    assert f"{told} --db sqlite:///other.db --thread t\n" in signoff("answer", asked, "fail", *how, *db).out


def test_the_next_command_can_be_typed_as_it_is_told_whatever_the_thread_and_the_app_are_called(signoff, folder):
    """The names of threads often come from those who use a program, and whoever pastes a command runs it."""
    thread, app = "ana's; echo 'x' #", "my flows.py:app"
    (folder / "flows.py").rename(folder / "my flows.py")
    paused = signoff("run", app, '{"amount": 4}', "--thread", thread)
    command = re.search(r"answer it: (signoff answer .*)", paused.out)[1]
    assert shlex.split(command)[3:] == ["VALUE", "--app", app]
    refused = signoff("run", app, '{"amount": 5}', "--thread", thread)
    failed = signoff("answer", shlex.split(command)[2], "fail", "--app", app)
    again = [re.search("(signoff run [^`\n]*)", said)[1] for said in (refused.err, failed.out)]
    assert [shlex.split(one) for one in again] == [["signoff", "run", app, "--thread", thread]] * 2


def test_run_goes_on_with_no_thread_that_is_not_there(signoff):
    done = signoff("run", APP, "--thread", "nope")
    assert done.code == NOT_FOUND
    assert "There is no thread 'nope' to go on with" in done.err


def test_run_tells_programs_what_it_stopped_at(signoff):
    done = signoff("run", APP, '{"amount": 4}', "--thread", "t", "--json")
    assert done.code == PAUSED
    assert done.json == {
        "thread": "t",
        "status": "paused",
        "questions": [{"id": done.json["questions"][0]["id"], "value": {"question": "Transfer it?", "amount": 5}}],
    }


def test_run_goes_on_with_a_stored_answer(signoff, asked):
    signoff("answer", asked, "true")
    done = signoff("run", APP, "--thread", "t", "--json")
    assert done.code == DONE
    assert done.json == {"thread": "t", "status": "done", "values": {"amount": 0, "said": True}, "next": []}


def test_run_takes_its_input_from_a_file_or_from_stdin(signoff, folder):
    (folder / "input.json").write_text('{"amount": 7}')
    assert signoff("run", APP, "@input.json", "--json").json["questions"][0]["value"]["amount"] == 8
    assert signoff("run", APP, "-", "--json", stdin='{"amount": 1}').json["questions"][0]["value"]["amount"] == 2


def test_run_gives_a_thread_without_a_name_a_new_one(signoff):
    threads = {signoff("run", APP, '{"amount": 4}', "--json").json["thread"] for _ in range(2)}
    assert len(threads) == 2


def test_run_tells_of_a_failure(signoff, asked):
    signoff("answer", asked, "fail")
    done = signoff("run", APP, "--thread", "t")
    assert done.code == FAILED
    assert "ConnectionError: the bank does not answer" in done.err
    assert signoff("run", APP, "--thread", "t", "--json").json["status"] == "failed"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["flows.py:nothing"], "flows.py has no 'nothing'. It has: "),
        (["nowhere.py:app"], "There is no file 'nowhere.py'"),
        (["nowhere:app"], "There is no module 'nowhere'"),
        (["flows.py:not_a_graph"], "is a int, not a graph"),
        (["unheard"], "There is no app 'unheard'"),
        ([APP, "{amount"], "The input is no JSON"),
        ([APP, "@nowhere.json"], "cannot be read"),
        ([APP, "{}", "--db", "mysql://x"], "is no database"),
        ([APP, "{}", "--db", "orders.db"], "For a file, write sqlite:///orders.db"),
        ([APP, "{}", "--db", "sqlite:///"], "names no file"),
    ],
)
def test_run_says_what_is_wrong_with_how_it_was_called(signoff, arguments, said):
    done = signoff("run", *arguments)
    assert done.code == USAGE
    assert said in done.err


def test_new_input_for_a_thread_that_waits_is_refused(signoff, asked):
    done = signoff("run", APP, '{"amount": 1}', "--thread", "t", "--json")
    assert done.code == PAUSED
    assert done.error["error"] == "QuestionsOpen"


def test_apps_are_found_in_the_table_of_the_folder(signoff, folder):
    (folder / "langgraph.json").write_text(json.dumps({"graphs": {"refunds": "./flows.py:transfers"}}))
    assert signoff("run", "refunds", '{"amount": 4}', "--json").code == PAUSED
    assert "langgraph.json has: refunds" in signoff("run", "other", "{}").err
    (folder / "langgraph.json").write_text("{")
    assert "cannot be read" in signoff("run", "refunds", "{}").err


def test_an_app_can_be_a_module_a_builder_or_a_function(signoff):
    assert signoff("run", "flows:app", '{"amount": 4}', "--json").code == PAUSED
    assert signoff("run", "flows.py:both", '{"amount": 4}', "--json").code == PAUSED


def test_a_graph_with_async_nodes_runs_and_is_answered(signoff):
    question = signoff("run", "flows.py:later", '{"amount": 4}', "--json").json["questions"][0]["id"]
    assert signoff("answer", question, "yes", "--app", "flows.py:later", "--json").json["result"]["said"] == "yes"


# inbox and show


def test_inbox_lists_what_waits(signoff, asked):
    done = signoff("inbox")
    assert done.code == DONE
    assert asked[:8] in done.out
    assert "Transfer it?" in done.out


@pytest.mark.parametrize("asked", ["", {}, [], 0, None, {"amount": 5}], ids=repr)
def test_inbox_shows_a_question_that_is_no_text_as_it_is(signoff, asked):
    with SqliteSaver.from_conn_string("signoff.db") as saver:
        graph = StateGraph(dict).add_node("ask", lambda state: interrupt(asked)).add_edge(START, "ask")
        graph.compile(saver).invoke({}, {"configurable": {"thread_id": "t"}})
    assert signoff("inbox").out.splitlines()[3].rstrip().endswith(f"   {json.dumps(asked)}")


def test_what_a_terminal_would_obey_is_printed_by_no_command(signoff):
    asked = signoff("run", "flows.py:hiding", '{"amount": 1}', "--thread", "\x1b[8mt")
    (question,) = signoff("inbox", "--json").json["questions"]
    assert question["value"]["action_requests"][0]["args"]["command"] == HIDDEN
    for done in (
        asked,
        signoff("inbox"),
        signoff("inbox", "--json"),
        signoff("show", question["id"]),
        signoff("threads"),
        signoff("history", "\x1b[8mt"),
        signoff("state", "\x1b[8mt"),
        signoff("answer", question["id"], "\x1b[8m"),
        signoff("approve", question["id"], "--app", "flows.py:hiding"),
        signoff("state", "\x1b[8mt"),
        signoff("history", "\x1b[8mt"),
        signoff("approve", question["id"], "--by", "\x1b[8m"),
    ):
        assert not {"\x1b", "\x9b", "\u202e"} & set(done.out + done.err)


def test_what_the_encoding_of_the_output_does_not_have_is_written_as_json_writes_it(signoff, folder):
    signoff("run", APP, '{"amount": 4}', "--thread", "Zoë 👩")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    def piped(*arguments):
        return subprocess.run([*SIGNOFF, *arguments], capture_output=True, text=True, env=environment)

    (question,) = json.loads(piped("inbox", "--json").stdout)["questions"]
    assert question["thread"] == "Zoë 👩"
    assert "Zo\\u00eb" in piped("inbox").stdout
    assert json.loads(piped("state", "für", "--json").stderr)["message"].startswith("There is no thread 'für'")
    answered = piped("answer", question["id"], "ja, schön", "--app", APP)
    assert (answered.returncode, answered.stderr) == (DONE, "")
    assert "sch\\u00f6n" in answered.stdout


def test_inbox_tells_how_to_see_more_of_the_same(signoff):
    db = ("--db", "sqlite:///other.db")
    for thread in ("a", "b"):
        signoff("run", APP, '{"amount": 4}', "--thread", thread, *db)
    done = signoff("inbox", "--text", "Transfer it", "--limit", "1", *db)
    more = re.search(r"More: signoff (.*)", done.out)[1]
    assert more.startswith("inbox --text 'Transfer it' --limit 1 --db sqlite:///other.db --after ")
    assert "More" not in signoff(*shlex.split(more)).out


def test_inbox_tells_programs_all_about_it(signoff, asked):
    (question,) = signoff("inbox", "--json").json["questions"]
    asked_at = question.pop("asked_at")
    assert asked_at.endswith("+00:00")
    assert question == {
        "id": asked,
        "value": {"question": "Transfer it?", "amount": 5},
        "thread": "t",
        "graph": "transfers",
        "node": "review",
        "path": "review",
    }


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--graph", "transfers"], 1),
        (["--graph", "other"], 0),
        (["--node", "review"], 1),
        (["--thread", "u"], 0),
        (["--text", "transfer"], 1),
        (["--older-than", "1h"], 0),
        (["--older-than", "0s"], 1),
    ],
)
def test_inbox_can_be_filtered(signoff, asked, options, count):
    assert len(signoff("inbox", "--json", *options).json["questions"]) == count


def test_inbox_comes_in_pages(signoff, asked):
    signoff("run", APP, '{"amount": 4}', "--thread", "u")
    first = signoff("inbox", "--limit", "1", "--json").json
    second = signoff("inbox", "--limit", "1", "--after", first["cursor"], "--json").json
    assert [page["questions"][0]["thread"] for page in (first, second)] == ["t", "u"]
    assert second["cursor"] is None
    assert "--after" in signoff("inbox", "--limit", "1").out


def test_an_empty_inbox_says_so(signoff, asked):
    signoff("answer", asked, "true")
    assert signoff("inbox").out == "Nothing waits for an answer.\n"


def test_a_question_of_an_odd_shape_does_not_hide_the_others(signoff, asked):
    signoff("run", "flows.py:odd", "{}", "--thread", "odd")
    done = signoff("inbox")
    assert done.code == DONE
    assert asked[:8] in done.out
    assert '{"type": "tool_approval"' in done.out


def test_inbox_does_not_make_a_database(signoff, folder):
    done = signoff("inbox")
    assert done.code == USAGE
    assert "There is no database 'signoff.db' here" in done.err
    assert not (folder / "signoff.db").exists()


def test_inbox_refuses_a_time_that_is_none(signoff, asked):
    assert "no length of time" in signoff("inbox", "--older-than", "yesterday").err


@pytest.mark.parametrize("command", ["inbox", "prune"])
@pytest.mark.parametrize("length", ["999999d", "99999999999999w", f"{'9' * 400}s"])
def test_a_time_that_is_longer_than_there_has_been_any_is_refused(signoff, asked, command, length):
    done = signoff(command, "--older-than", length)
    assert done.code == USAGE
    assert "no length of time" in done.err


def test_inbox_cannot_ask_without_a_terminal(signoff, asked):
    done = signoff("inbox", "--answer")
    assert done.code == USAGE
    assert "no terminal" in done.err


def test_show_prints_a_question_for_people_and_for_programs(signoff, asked):
    done = signoff("show", asked[:6])
    assert done.code == DONE
    assert "Transfer it?" in done.out
    assert "decide    approve, reject, respond" in done.out
    assert signoff("show", asked, "--json").json["id"] == asked


def test_show_of_an_unknown_question_is_not_found(signoff, asked):
    done = signoff("show", "0" * 32, "--json")
    assert done.code == NOT_FOUND
    assert done.error["error"] == "NotFound"


# answer, approve, reject, edit


def test_answer_stores_and_says_how_to_go_on(signoff, asked):
    done = signoff("answer", asked, "yes", "--by", "ben")
    assert done.code == DONE
    assert "signoff run APP --thread t" in done.out
    history = signoff("history", "t", "--json").json["events"]
    assert [(event["value"], event["by"]) for event in history if event["kind"] == "answered"] == [("yes", "ben")]


def test_answer_goes_on_at_once_with_an_app(signoff, asked):
    done = signoff("answer", asked, "true", "--app", APP, "--json")
    assert done.code == DONE
    assert done.json == {
        "question": asked,
        "thread": "t",
        "answer": True,
        "status": "done",
        "result": {"amount": 0, "said": True},
    }


def test_an_answer_comes_from_stdin(signoff, asked):
    assert signoff("answer", asked, "--json", stdin='{"ok": [1, 2]}').json["answer"] == {"ok": [1, 2]}


@pytest.mark.parametrize(("text", "answer"), [('{"ok": false}', {"ok": False}), ("no", "no")])
@pytest.mark.parametrize("given", ["@answer.json", "-"])
def test_a_mark_at_the_beginning_of_a_text_is_no_part_of_it(signoff, asked, folder, given, text, answer):
    (folder / "answer.json").write_text(text, encoding="utf-8-sig")
    assert signoff("answer", asked, given, "--json", stdin=f"\ufeff{text}").json["answer"] == answer


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "[1, NaN]"])
def test_a_text_that_is_no_json_is_a_text(signoff, asked, text):
    done = signoff("answer", asked, "--json", "--", text)
    assert json.loads(done.out, parse_constant=pytest.fail)["answer"] == text


def test_an_answer_that_is_nested_too_deep_is_told_in_one_line(signoff, asked):
    done = signoff("answer", asked, stdin="[" * 100_000 + "]" * 100_000)
    assert done.code == USAGE
    assert "nested too deep" in done.err


def test_nothing_on_stdin_is_no_answer(signoff, asked):
    done = signoff("answer", asked, stdin="")
    assert done.code == USAGE
    assert "nothing came" in done.err
    assert signoff("answer", asked, '""', "--json").json["answer"] == ""


def test_a_stdin_that_was_closed_is_no_terminal_and_nothing_comes_on_it(signoff, folder):
    def closed(*arguments):
        command = ["sh", "-c", 'exec "$@" <&-', "sh", *SIGNOFF, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    paused = closed("run", APP, '{"amount": 4}', "--thread", "t", "--json")
    assert paused.returncode == PAUSED, paused.stderr
    done = closed("answer", json.loads(paused.stdout)["questions"][0]["id"])
    assert done.returncode == USAGE
    assert "nothing came" in done.stderr


def test_a_second_answer_is_told_who_was_first(signoff, asked):
    signoff("answer", asked, "yes", "--by", "ben")
    for command in (["answer", asked, "no"], ["approve", asked], ["reject", asked]):
        done = signoff(*command, "--json")
        assert done.code == ALREADY_ANSWERED
        assert done.error["error"] == "AlreadyAnswered"
        assert "ben" in done.error["message"]


def test_an_answer_that_does_not_fit_is_refused(signoff):
    question = signoff("run", "flows.py:sign_up", "{}", "--json").json["questions"][0]["id"]
    done = signoff("answer", question, '{"name": "A"}')
    assert done.code == INVALID_ANSWER
    assert "still open" in done.err
    assert signoff("answer", question, '{"name": "Ana", "age": 30, "plan": "free"}').code == DONE


@pytest.mark.parametrize(
    ("flow", "text", "answer"),
    [
        ("code", "0042", "0042"),
        ("code", "42", "42"),
        ("code", "null", "null"),
        ("code", '"42"', "42"),
        ("amount", "1.123456789012345678", "1.123456789012345678"),
        ("amount", "12.50", 12.5),
        ("agreed", "true", True),
        ("agreed", "yes", "yes"),
        ("sign_up", "7", None),
    ],
)
def test_an_answer_is_a_text_if_only_a_text_fits(signoff, flow, text, answer):
    question = signoff("run", f"flows.py:{flow}", "{}", "--json").json["questions"][0]["id"]
    done = signoff("answer", question, text, "--json")
    if answer is None:
        assert done.code == INVALID_ANSWER
        assert "7 is not of type 'object'" in done.err
    else:
        assert done.json["answer"] == answer


def test_a_question_of_a_copied_thread_needs_its_thread(signoff, asked, folder):
    with SqliteSaver.from_conn_string(str(folder / "signoff.db")) as saver:
        saver.copy_thread("t", "copy")
    for command in (("show", asked), ("approve", asked[:8]), ("answer", asked, "true")):
        done = signoff(*command)
        assert done.code in (USAGE, INVALID_ANSWER)
        assert "copy" in done.err
    assert signoff("answer", asked, "true", "--thread", "copy", "--json").json["thread"] == "copy"
    assert signoff("show", asked, "--json").json["thread"] == "t"


def test_an_ambiguous_beginning_of_an_id_is_refused(signoff, asked):
    for thread in range(20):
        signoff("run", APP, '{"amount": 4}', "--thread", f"t{thread}")
    firsts = [one["id"][0] for one in signoff("inbox", "--json").json["questions"]]
    common = next(first for first in firsts if firsts.count(first) > 1)
    done = signoff("answer", common, "yes")
    assert done.code == USAGE
    assert "Type more of the id" in done.err


@pytest.mark.parametrize(
    ("flow", "command", "said"),
    [
        ("app", ["approve"], True),
        ("app", ["reject"], False),
        ("edit_file", ["approve"], {"decisions": [{"type": "approve"}]}),
        ("edit_file", ["reject", "--reason", "no"], {"decisions": [{"type": "reject", "message": "no"}]}),
        (
            "edit_file",
            ["edit", '{"file_path": "b.py"}'],
            {"decisions": [{"type": "edit", "edited_action": {"name": "edit_file", "args": {"file_path": "b.py"}}}]},
        ),
        ("two_actions", ["approve"], {"decisions": [{"type": "approve"}, {"type": "approve"}]}),
        ("book_hotel", ["approve"], [{"type": "accept", "args": None}]),
        ("book_hotel", ["reject"], [{"type": "ignore", "args": None}]),
        (
            "book_hotel",
            ["edit", '{"nights": 1}'],
            [{"type": "edit", "args": {"action": "book_hotel", "args": {"nights": 1}}}],
        ),
    ],
)
def test_decisions_take_the_shape_that_the_question_wants(signoff, flow, command, said):
    question = signoff("run", f"flows.py:{flow}", '{"amount": 1}', "--json").json["questions"][0]["id"]
    done = signoff(command[0], question, *command[1:], "--json")
    assert done.code == DONE
    assert done.json["answer"] == said


@pytest.mark.parametrize(
    ("flow", "command"),
    [
        ("app", ["edit", "{}"]),
        ("two_actions", ["edit", "{}"]),
        ("sign_up", ["approve"]),
        ("app", ["approve", "--from-here-on"]),
        ("app", ["reject", "--reason", "no money"]),
        ("book_hotel", ["reject", "--reason", "no money"]),
    ],
)
def test_a_decision_that_a_question_does_not_take_is_refused(signoff, flow, command):
    question = signoff("run", f"flows.py:{flow}", '{"amount": 1}', "--json").json["questions"][0]["id"]
    done = signoff(command[0], question, *command[1:])
    assert done.code == INVALID_ANSWER
    assert "signoff answer" in done.err


def test_a_rejection_with_a_reason_is_no_yes_to_a_program_that_asks_yes_or_no(signoff, asked):
    """A text is true, so a plain question that was rejected with a reason would have been taken for approved."""
    done = signoff("reject", asked, "--reason", "no money", "--app", APP)
    assert done.code == INVALID_ANSWER
    assert "no place for a reason" in done.err
    assert signoff("show", asked, "--json").code == DONE
    assert signoff("reject", asked, "--app", APP, "--json").json["result"]["said"] is False


@pytest.mark.parametrize("stdin", [None, b"\xff\xfe"])
def test_an_answer_that_is_no_text_is_told_in_one_line(signoff, asked, folder, stdin):
    (folder / "answer.json").write_bytes(b"\xff\xfe")
    done = signoff("answer", asked, "@answer.json" if stdin is None else "-", stdin=stdin)
    assert done.code == USAGE
    assert "The answer" in done.err


def test_editing_needs_arguments_or_a_terminal(signoff, asked):
    assert "no terminal to edit in" in signoff("edit", asked).err


# threads, history, state, diff


def test_threads_are_listed_with_how_they_stand(signoff, asked):
    signoff("run", APP, '{"amount": 4}', "--thread", "u")
    signoff("answer", asked, "true")
    done = signoff("threads", "--json")
    assert [(one["thread_id"], one["status"]) for one in done.json["threads"]] == [("u", "paused"), ("t", "answered")]
    signoff("run", APP, "--thread", "t")
    assert signoff("threads", "--json", "--limit", "1").json["threads"][0]["status"] == "resting"
    assert "paused" in signoff("threads").out


def test_the_history_is_a_timeline(signoff, asked):
    signoff("answer", asked, "true", "--by", "ben", "--app", APP)
    done = signoff("history", "t")
    told = [line[31:].partition("  (")[0].rstrip() for line in done.out.splitlines()]  # without how long it took
    assert told == [
        'input     {"amount": 4}',
        'ran       prepare: {"amount": 5}',
        'asked     review: {"question": "Transfer it?", "amount": 5}',
        "answered  true by ben",
        'ran       review: {"said": true}',
        'ran       pay: {"amount": 0}',
    ]
    kinds = [event["kind"] for event in signoff("history", "t", "--json").json["events"]]
    assert kinds == ["input", "ran", "asked", "answered", "ran", "ran"]


@pytest.mark.parametrize("command", ["history", "state", "diff"])
def test_an_unknown_thread_is_not_found(signoff, asked, command):
    done = signoff(command, "nobody", "--json")
    assert done.code == NOT_FOUND
    assert "signoff threads" in done.error["message"]


def test_the_state_of_a_thread_now_and_then(signoff, asked):
    now = signoff("state", "t", "--json").json
    assert now["values"] == {"amount": 5}
    assert [one["id"] for one in now["questions"]] == [asked]
    first = signoff("history", "t", "--json").json["events"][0]["checkpoint_id"]
    then = signoff("state", "t", "--at", first, "--json").json
    assert (then["source"], then["questions"]) == ("input", [])
    assert "waits at review" in signoff("state", "t").out
    assert signoff("state", "t", "--at", "zzz").code == NOT_FOUND


def test_the_difference_of_two_checkpoints(signoff, asked):
    signoff("answer", asked, "true", "--app", APP)
    done = signoff("diff", "t", "--json").json
    assert done["changed"] == {"amount": {"before": 5, "after": 0}}
    assert "-5" in signoff("diff", "t").out.splitlines()
    ids = [event["checkpoint_id"] for event in signoff("history", "t", "--json").json["events"]]
    assert signoff("diff", "t", ids[1], ids[-1], "--json").json["changed"].keys() == {"amount", "said"}
    assert signoff("diff", "t", ids[1], ids[1]).out == "Nothing differs.\n"


# fork and graph


def test_a_branch_from_an_old_checkpoint(signoff, asked):
    signoff("answer", asked, "true", "--app", APP)
    prepared = signoff("history", "t", "--json").json["events"][1]["checkpoint_id"]
    done = signoff("fork", APP, "t", prepared, "--set", '{"amount": 50}', "--as-node", "prepare", "--json")
    assert done.code == PAUSED
    assert done.json["questions"][0]["value"]["amount"] == 50
    assert signoff("fork", APP, "t", "zzz").code == NOT_FOUND
    assert signoff("fork", APP, "nobody", "zzz").code == NOT_FOUND


def test_a_graph_as_a_picture(signoff, folder):
    assert "graph TD" in signoff("graph", APP).out
    assert "prepare" in signoff("graph", APP, "--format", "ascii").out
    assert signoff("graph", APP, "-f", "svg", "-o", "flow.svg").out == "Written to flow.svg.\n"
    assert (folder / "flow.svg").read_text().startswith("<svg")
    data = signoff("graph", APP, "--json").json
    assert "review" in data["nodes"]
    assert {"source": "prepare", "target": "review", "conditional": False} in data["edges"]
    done = signoff("graph", APP, "-f", "png")
    assert done.code == USAGE
    assert "mermaid, svg or ascii" in done.err
    assert not (folder / "signoff.db").exists(), "a picture needs no database"


# prune and check


def test_prune_tells_before_it_removes_and_never_touches_what_waits(signoff, asked):
    question = signoff("run", APP, '{"amount": 4}', "--thread", "u", "--json").json["questions"][0]["id"]
    signoff("answer", question, "true", "--app", APP)
    told = signoff("prune", "--json").json
    assert (told["done"], list(told["threads"])) == (False, ["u"])
    assert told["checkpoints"] > 1
    assert told["bytes"] > 0
    assert signoff("prune", "--keep", "2", "--json").json["checkpoints"] == told["checkpoints"] - 1
    assert "Do it with --yes" in signoff("prune").out
    assert signoff("prune", "--yes", "--json").json["done"] is True
    assert signoff("prune", "--json").json["threads"] == {}
    assert len(signoff("history", "u", "--json").json["events"]) == 1
    assert signoff("prune", "--older-than", "1d", "--delete", "--json").json["threads"] == {}
    would = signoff("prune", "--older-than", "0s", "--delete", "--json").json
    assert (would["done"], list(would["threads"])) == (False, ["u"])
    done = signoff("prune", "--older-than", "0s", "--delete", "--yes", "--json").json
    assert done["bytes"] == would["bytes"] > 0
    assert [one["thread_id"] for one in signoff("threads", "--json").json["threads"]] == ["t"]


def test_prune_leaves_a_thread_whose_answer_no_run_has_taken_yet(signoff, asked):
    signoff("answer", asked, "true")
    signoff("run", APP, '{"amount": 4}', "--thread", "u", "--json")
    told = signoff("prune", "--older-than", "0s", "--delete", "--yes", "--json").json
    assert (told["threads"], told["bytes"]) == ({}, 0)
    assert signoff("run", APP, "--thread", "t").code == DONE


def test_prune_deletes_threads_only_by_age(signoff, asked):
    done = signoff("prune", "--delete")
    assert done.code == USAGE
    assert "--older-than" in done.err


def test_check_finds_nothing_wrong_with_the_code_that_asked(signoff, asked):
    done = signoff("check", APP, "--json")
    assert done.code == DONE
    assert done.json == {"graph": "transfers", "checked": 1, "threads": [], "unsure": []}


def test_check_says_what_is_wrong_with_the_app(signoff, asked):
    done = signoff("check", "flows.py:nothing", "--json")
    assert done.code == USAGE
    assert "nothing" in done.error["message"]


# Fixed codes and help


WITH_DATABASE = [
    *("show x", "answer x yes", "approve x", "reject x", "edit x {}", "threads", "history t", "state t", "diff t"),
    *("prune", f"check {APP}", f"fork {APP} t x"),
]


@pytest.mark.parametrize("command", WITH_DATABASE)
def test_a_database_that_is_not_there_is_named_and_not_made(signoff, folder, command):
    done = signoff(*command.split(), "--json")
    assert done.code == USAGE
    assert "signoff.db" in done.error["message"]
    assert not (folder / "signoff.db").exists()


def test_exit_codes_are_told_in_the_help(signoff):
    help = signoff("--help")
    assert help.code == DONE
    for code, meaning in MEANINGS.items():
        assert re.search(rf"^\s+{code}\s+{re.escape(meaning)}$", help.out, re.MULTILINE)
    assert CHANGED in MEANINGS


COMMANDS = [
    *("demo", "run", "inbox", "show", "answer", "approve", "reject", "edit"),
    *("threads", "history", "state", "diff", "fork", "graph", "prune", "check"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(signoff, command):
    help = signoff(command, "--help")
    assert help.code == DONE
    assert f"  signoff {command}" in help.out.partition("Examples:")[2]
    assert command == "demo" or "--json" in help.out


def test_no_command_is_forgotten_here():
    from signoff.cli.app import app

    assert [command.callback.__name__ for command in app.registered_commands] == COMMANDS


def test_the_shell_completes_commands_and_apps(folder):
    (folder / "langgraph.json").write_text(json.dumps({"graphs": {"refunds": "./flows.py:app"}}))
    assert completed(folder, "signoff pru") == ["prune"]
    assert completed(folder, "signoff run ref") == ["refunds"]


def completed(folder, typed: str) -> list[str]:
    """What the shell is told to offer."""
    words = typed.split(" ")
    env = {**os.environ, "_SIGNOFF_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "signoff"], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_the_database_can_be_named_in_the_environment(signoff, folder, monkeypatch):
    monkeypatch.setenv("SIGNOFF_DB", "sqlite:///other.db")
    signoff("run", APP, '{"amount": 4}', "--thread", "t")
    assert (folder / "other.db").exists()
    assert len(signoff("inbox", "--json").json["questions"]) == 1


# Values that cannot be shown


@pytest.mark.parametrize("json", [[], ["--json"]], ids=["people", "programs"])
def test_numbers_that_python_does_not_write_out_are_told_by_their_type(signoff, json):
    done = signoff("run", "flows.py:long", "{}", "--thread", "t", *json)
    assert (done.code, "cannot be shown" in done.out) == (PAUSED, True)
    id = signoff("inbox", "--json").json["questions"][0]["id"]
    for command in (["show", id], ["history", "t"], ["state", "t"]):
        done = signoff(*command, *json)
        assert (done.code, "cannot be shown" in done.out) == (DONE, True)
    for command in (["inbox"], ["threads"], ["check", "flows.py:long"]):
        assert signoff(*command, *json).code == DONE
    done = signoff("answer", id, '"fail"', "--app", "flows.py:long", *json)
    assert (done.code, "ConnectionError" in done.out + done.err) == (FAILED, True)
