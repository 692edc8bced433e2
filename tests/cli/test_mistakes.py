"""What commands say when they are called in a wrong way, and that nothing is changed then."""

import json
import sys

import pytest

from cli.conftest import APP
from signoff.cli.codes import CHANGED, DONE, FAILED, INVALID_ANSWER, PAUSED, USAGE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import nowhere_to_be_found",
            "ModuleNotFoundError: No module named 'nowhere_to_be_found' (broken.py, line 1)",
        ),
        ("\ndef f(:\n", "SyntaxError: invalid syntax (broken.py, line 2)"),
        ("x = 1\n\nx / 0", "ZeroDivisionError: division by zero (broken.py, line 3)"),
        ("raise SystemExit(3)", "SystemExit: 3 (broken.py, line 1)"),
    ],
)
@pytest.mark.parametrize("name", ["broken.py:app", "broken:app"])
def test_an_app_that_cannot_be_loaded_is_told_in_one_line(signoff, folder, monkeypatch, name, text, words):
    monkeypatch.syspath_prepend(str(folder))
    (folder / "broken.py").write_text(text)
    done = signoff("run", name, "{}", "--json")
    assert done.code == USAGE
    assert words in done.error["message"]
    assert "broken" not in sys.modules


def test_a_file_without_a_name_in_it_says_how_to_go_on(signoff):
    done = signoff("run", "flows.py", "{}")
    assert done.code == USAGE
    assert "flows.py:app" in done.err


def test_an_app_may_be_made_by_a_coroutine_function(signoff, folder):
    (folder / "made.py").write_text("from flows import app\n\n\nasync def make():\n    return app\n")
    assert signoff("run", "made.py:make", '{"amount": 4}', "--json").code == PAUSED


def test_what_is_refused_is_mended_with_a_command(signoff, asked):
    assert "`signoff inbox`" in signoff("show", "nothing").err
    told = signoff("run", APP, '{"amount": 1}', "--thread", "t").err
    assert f"`signoff run {APP} --thread t`" in told
    assert "Command(resume=" not in told
    assert signoff("approve", asked).code == DONE
    told = signoff("reject", asked).err
    assert "`signoff inbox`" in told
    assert "get_state" not in told


def test_a_file_that_is_no_database_is_told_in_one_line(signoff, folder):
    (folder / "notes.db").write_text("This is not a database. " * 50)
    for command in (["inbox"], ["run", APP, '{"amount": 4}']):
        done = signoff(*command, "--db", "sqlite:///notes.db", "--json")
        assert done.code == USAGE
        assert "is no SQLite database" in done.error["message"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("orders", "is a folder"),
        ("nowhere/new.db", "no folder 'nowhere'"),
        ("flows.py/new.db", "no folder 'flows.py'"),
        ("n" * 300, "cannot be opened: File name too long"),
    ],
)
def test_a_place_where_no_database_can_be_is_told_in_one_line(signoff, folder, name, words):
    (folder / "orders").mkdir()
    done = signoff("run", APP, '{"amount": 4}', "--db", f"sqlite:///{name}", "--json")
    assert done.code == USAGE
    assert words in done.error["message"]


def test_a_file_with_nothing_in_it_becomes_a_database(signoff, folder):
    (folder / "new.db").touch()
    assert signoff("run", APP, '{"amount": 4}', "--db", "sqlite:///new.db", "--json").code == PAUSED


@pytest.mark.parametrize(
    "table",
    [
        *(b"[]", b"{", b"\xff\xfe", b'{"graphs": ["a"]}', b'{"graphs": 5}', b'{"graphs": {"a": 5}}'),
        *(b'{"graphs": {"a": {"path": null}}}', b'{"graphs": {"a": {}}}', b'{"graphs": {"a": null}}', None),
    ],
)
def test_a_table_of_apps_that_is_none_is_told_in_one_line(signoff, folder, table):
    place = folder / "langgraph.json"
    place.mkdir() if table is None else place.write_bytes(table)
    done = signoff("run", "a", "{}", "--json")
    assert done.code == USAGE
    assert "langgraph.json cannot be read" in done.error["message"]
    assert signoff("graph", APP).code == DONE, "an app that is named by its place needs no table"


def test_a_mark_at_the_beginning_of_a_table_of_apps_is_no_part_of_it(signoff, folder):
    (folder / "langgraph.json").write_text(json.dumps({"graphs": {"a": APP}}), encoding="utf-8-sig")
    assert signoff("graph", "a").code == DONE


@pytest.mark.parametrize("table", [{}, {"graphs": None}, {"graphs": {}}, {"path": None}])
def test_a_table_without_apps_has_none(signoff, folder, table):
    (folder / "langgraph.json").write_text(json.dumps(table))
    assert "no langgraph.json with graphs" in signoff("run", "a", "{}").err


def test_an_input_of_the_wrong_kind_is_wrong_usage(signoff):
    done = signoff("run", APP, "[1]", "--json")
    assert done.code == USAGE
    assert "Call it with a dict" in done.error["message"]


@pytest.mark.parametrize("option", ["--thread", "--db"])
def test_a_name_that_is_empty_is_not_taken_as_none(signoff, folder, option):
    """As it is with "$THREAD" in a script that forgot to set it."""
    done = signoff("run", APP, '{"amount": 4}', option, "", "--json")
    assert done.code == USAGE
    assert f"{option} is empty" in done.error["message"]
    assert not (folder / "signoff.db").exists()


def test_the_app_of_an_answer_is_looked_at_before_the_answer_is_stored(signoff, asked):
    done = signoff("answer", asked, "true", "--app", "flows.py:later")
    assert done.code == CHANGED
    assert "what is open stays open" in done.err
    assert [one["id"] for one in signoff("inbox", "--json").json["questions"]] == [asked]
    assert signoff("answer", asked, "true", "--app", APP).code == DONE


def test_an_answer_that_does_not_fit_changes_nothing_with_an_app_too(signoff):
    question = signoff("run", "flows.py:sign_up", "{}", "--json").json["questions"][0]["id"]
    assert signoff("answer", question, '{"name": "A"}', "--app", "flows.py:sign_up").code == INVALID_ANSWER
    assert [one["id"] for one in signoff("inbox", "--json").json["questions"]] == [question]


def test_a_run_that_fails_behind_an_answer_is_told_in_one_line(signoff, asked):
    done = signoff("answer", asked, "fail", "--app", APP)
    assert done.code == FAILED
    assert done.err == "ConnectionError: the bank does not answer\n"
    assert f"Try again with: signoff run {APP} --thread t" in done.out


def test_a_run_that_fails_behind_an_answer_is_told_to_programs(signoff, asked):
    done = signoff("answer", asked, '"fail"', "--app", APP, "--json")
    assert done.code == FAILED
    assert (done.json["status"], done.json["error"]) == ("failed", "ConnectionError('the bank does not answer')")


def test_one_of_two_answers_goes_on_and_the_other_is_asked_again(signoff):
    first, second = signoff("run", "flows.py:both", "{}", "--thread", "t", "--json").json["questions"]
    done = signoff("answer", first["id"], "true", "--app", "flows.py:both", "--json")
    assert (done.code, done.json["status"]) == (PAUSED, "paused")
    assert [one["id"] for one in signoff("inbox", "--json").json["questions"]] == [second["id"]]


def test_a_function_that_makes_no_graph_is_told_in_one_line(signoff):
    done = signoff("run", "json:dumps", "{}", "--json")
    assert done.code == USAGE
    assert "TypeError: dumps() missing 1 required positional argument" in done.error["message"]


def test_a_picture_that_cannot_be_written_is_told_in_one_line(signoff, folder):
    done = signoff("graph", APP, "--output", str(folder / "nowhere" / "picture.svg"), "--json")
    assert done.code == USAGE
    assert "cannot be written" in done.error["message"]
