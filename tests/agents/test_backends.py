"""Where the files of a deep agent are, and what it cannot reach."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from signoff.agents import backends, create_deep_agent
from signoff.agents.backends import FileError, FolderBackend, ShellBackend, StateBackend
from signoff.agents.backends.state import changed_files, merge_files
from signoff.agents.file_tools import file_tools
from signoff.errors import InvalidInput, InvalidUpdateError
from signoff.prebuilt import ToolNode

from .desk import USER, call, calls, results, scripted


@pytest.fixture(params=["state", "folder"])
def use(request, tmp_path) -> Any:
    """Calls a file tool and returns what it says; over virtual files, and over real ones."""
    backend = StateBackend() if request.param == "state" else FolderBackend(tmp_path)
    node = ToolNode(file_tools(backend))
    state: dict[str, Any] = {"files": {}}

    def use(name: str, **args: Any) -> str:
        (result,) = as_list(node.invoke({**state, "messages": [calls(call(name, **args))]}))
        update = result.update if hasattr(result, "update") and not isinstance(result, dict) else result
        state["files"] = merge_files(state["files"], update.get("files", {}))
        return str(update["messages"][0].content)

    return use


@pytest.fixture(params=["state", "folder"])
def desk_of_files(request, tmp_path) -> Callable[[Any, str], tuple[dict[str, str], str]]:
    """An agent with one file makes the calls of a turn: what the tools say, and the text of the file."""

    def made(turn: Any, text: str) -> tuple[dict[str, str], str]:
        if request.param == "state":
            result = create_deep_agent(scripted(turn)).invoke({**USER, "files": {"/a": text}})
            return results(result), result["files"]["/a"]
        (tmp_path / "a").write_text(text)
        agent = create_deep_agent(scripted(turn), backend=FolderBackend(tmp_path), interrupt_on={"edit_file": False})
        return results(agent.invoke(USER)), (tmp_path / "a").read_text()

    return made


def as_list(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def test_what_was_written_is_read_and_listed(use):
    assert use("write_file", file_path="/a/notes.md", content="one\ntwo\n") == "Wrote 2 lines to /a/notes.md."
    use("write_file", file_path="b.txt", content="three")
    assert use("read_file", file_path="/a/notes.md") == "     1\tone\n     2\ttwo"
    assert use("read_file", file_path="/a/notes.md", offset=1) == "     2\ttwo"
    assert use("read_file", file_path="/a/notes.md", limit=1) == "     1\tone\n(1 more lines)"
    assert use("ls") == "/a/\n/b.txt"
    assert use("ls", path="/a") == "/a/notes.md"
    assert use("ls", path="/c") == "There is nothing in /c."


def test_a_file_that_is_there_is_replaced(use):
    use("write_file", file_path="/a", content="one")
    use("write_file", file_path="/a", content="two")
    assert use("read_file", file_path="/a") == "     1\ttwo"


def test_a_part_of_a_file_is_replaced(use):
    use("write_file", file_path="/a", content="one one two")
    assert "2 times" in use("edit_file", file_path="/a", old_string="one", new_string="1")
    assert "not in /a" in use("edit_file", file_path="/a", old_string="four", new_string="4")
    assert use("edit_file", file_path="/a", old_string="two", new_string="2") == "Replaced 1 place in /a."
    assert use("edit_file", file_path="/a", old_string="one", new_string="1", replace_all=True).startswith("Replaced 2")
    assert use("read_file", file_path="/a") == "     1\t1 1 2"


def test_files_are_found_by_pattern_and_by_text(use):
    for path in ("/a.py", "/src/b.py", "/src/deep/c.py", "/src/d.md"):
        use("write_file", file_path=path, content=f"text of {path}\nsecond")
    assert use("glob", pattern="*.py") == "/a.py"
    assert use("glob", pattern="**/*.py") == "/a.py\n/src/b.py\n/src/deep/c.py"
    assert use("glob", pattern="*.py", path="/src") == "/src/b.py"
    assert use("glob", pattern="*.js") == "No file matches."
    assert use("grep", pattern="text of", glob="*.md") == "/src/d.md:1:text of /src/d.md"
    for every in ("*.py", "**/*.py"):
        assert use("grep", pattern="second", glob=every).count("\n") == 2
    assert use("grep", pattern="second", glob="src/**/*.py") == "/src/b.py:2:second\n/src/deep/c.py:2:second"
    assert use("grep", pattern="second", glob="*/*.py", path="/src") == "/src/deep/c.py:2:second"
    assert use("grep", pattern="second", path="/src/deep") == "/src/deep/c.py:2:second"
    assert use("grep", pattern="second", glob="*.{md,js}") == "/src/d.md:2:second"
    assert use("grep", pattern="a.*b") == "No line has it."


PATHS = ["/a.py", "/src/a.py", "/src/b.py", "/src/ab.py", "/src/deep/c.py", "/src/deep/er/d.md", "/src/[x].py"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("?.py", ["/a.py"]),
        ("src/?.py", ["/src/a.py", "/src/b.py"]),
        ("src/[ab].py", ["/src/a.py", "/src/b.py"]),
        ("src/[!a].py", ["/src/b.py"]),
        ("src/[]a-b[]*.py", ["/src/[x].py", "/src/a.py", "/src/ab.py", "/src/b.py"]),
        ("src/[[]x].py", ["/src/[x].py"]),
        ("src/**", PATHS[1:]),
        ("src/**/er/*", ["/src/deep/er/d.md"]),
        ("**/[a-c].py", ["/a.py", "/src/a.py", "/src/b.py", "/src/deep/c.py"]),
        ("src/{a,[b]}.py", ["/src/a.py", "/src/b.py"]),
        ("{*.py,src/deep/**/*.{md,txt}}", ["/a.py", "/src/deep/er/d.md"]),
        ("src/{a}.py", []),
        ("src/[ab", []),
        ("[s/]rc/a.py", []),
        ("src?deep?c.py", []),
    ],
)
def test_a_pattern_has_signs_for_one_character_and_for_many(use, pattern, found):
    for path in PATHS:
        use("write_file", file_path=path, content="text")
    assert use("glob", pattern=pattern).splitlines() == (sorted(found) or ["No file matches."])


def test_a_pattern_that_stands_for_very_many_is_refused(use):
    use("write_file", file_path="/a", content="text")
    for tool, arguments in (("glob", {}), ("grep", {"glob": "{a,b}" * 20})):
        assert "stands for more than 100 others" in use(tool, **{"pattern": "{a,b}" * 20, **arguments})


def test_what_is_behind_the_end_of_a_file_is_told(use):
    use("write_file", file_path="/a", content="one\ntwo")
    assert use("read_file", file_path="/a", offset=5) == "/a has 2 lines."


def test_of_very_many_places_so_many_are_shown_as_can_be_read(use):
    use("write_file", file_path="/a", content="one\n" * 250)
    *shown, last = use("grep", pattern="one").splitlines()
    assert (len(shown), last) == (200, "(50 more)")


@pytest.mark.parametrize("pattern", ["src/" + "*a" * 40 + "b", "**/" * 40 + "*b", "src/**" + "/*a*" * 40])
def test_a_pattern_of_many_stars_takes_no_longer_than_others(use, pattern):
    use("write_file", file_path="/src/" + "a" * 100 + "/" * 2 + "a" * 60, content="")
    assert use("glob", pattern=pattern) == "No file matches."


def test_a_file_that_is_not_there_is_told_to_the_model(use):
    assert "no file" in use("read_file", file_path="/x")


ONE_TURN = calls(
    call("edit_file", "c1", file_path="/a", old_string="one two", new_string="1 2"),
    call("edit_file", "c2", file_path="a", old_string="two three", new_string="2 3"),
    call("edit_file", "c3", file_path="/../a", old_string="x", new_string="y"),
    call("edit_file", "c4", file_path="/a", old_string="four", new_string="4"),
)


def test_edits_of_one_turn_are_all_made_or_the_model_is_told_which_are_not(desk_of_files):
    said, text = desk_of_files(ONE_TURN, "one two three four")
    made = [id for id in ("c1", "c2", "c3", "c4") if said[id].startswith("Replaced 1 place")]
    # In a real folder, whichever comes first is made.
    assert (made, text) in [(["c1", "c4"], "1 2 three 4"), (["c2", "c4"], "one 2 3 4")]
    assert "'..'" in said["c3"]


EVERYWHERE = calls(
    call("edit_file", "c1", file_path="/a", old_string="cat", new_string="dog dog"),
    call("edit_file", "c2", file_path="/a", old_string="dog", new_string="bird", replace_all=True),
)


def test_an_edit_of_all_places_is_one_of_those_that_it_was_looked_at_for(desk_of_files):
    said, text = desk_of_files(EVERYWHERE, "cat dog")
    made = [id for id in ("c1", "c2") if said[id].startswith("Replaced 1 place")]
    assert (made, text) in [(["c1"], "dog dog dog"), (["c1", "c2"], "dog dog bird")]


BIRD = call("edit_file", "c2", file_path="/a", old_string="dog", new_string="bird")
EARLIER: dict[str, tuple[str, Any]] = {
    "brings another place": ("cat dog", call("edit_file", "c1", file_path="/a", old_string="cat", new_string="dog")),
    "takes the place and brings one": (
        "cat dog",
        call("edit_file", "c1", file_path="/a", old_string="cat dog", new_string="dogs"),
    ),
    "makes one with what is around it": (
        "dog do_g",
        call("edit_file", "c1", file_path="/a", old_string="_", new_string=""),
    ),
    "writes the file": ("dog", call("write_file", "c1", file_path="/a", content="a dog")),
}


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("earlier", EARLIER)
@pytest.mark.parametrize("ends", ["", "\r\n"])
def test_an_edit_of_what_another_call_of_the_turn_has_changed_in_a_folder_is_not_made(
    tmp_path, earlier, everywhere, ends
):
    text, first = EARLIER[earlier]
    (tmp_path / "a").write_bytes(f"{text}{ends}".encode())
    node = ToolNode(file_tools(FolderBackend(tmp_path)))
    node.invoke({"messages": [calls(first, id="ai-1")]})
    left = (tmp_path / "a").read_bytes()
    second = {**BIRD, "args": {**BIRD["args"], "replace_all": everywhere}}
    done = ToolMessage("done", tool_call_id="c1")
    result = node.invoke({"messages": [calls(first, second, id="ai-1"), done]})
    assert "Another call of this turn" in results(result)["c2"]
    assert (tmp_path / "a").read_bytes() == left
    later = node.invoke({"messages": [calls({**second, "args": {**second["args"], "replace_all": True}}, id="ai-2")]})
    assert results(later)["c2"].startswith("Replaced")


def test_an_edit_of_what_somebody_else_has_changed_is_made_on_that(tmp_path):
    (tmp_path / "a").write_text("cat dog")
    node = ToolNode(file_tools(FolderBackend(tmp_path)))
    first = call("edit_file", "c1", file_path="/a", old_string="cat", new_string="dog")
    node.invoke({"messages": [calls(first, id="ai-1")]})
    (tmp_path / "a").write_text("a dog")
    done = ToolMessage("done", tool_call_id="c1")
    node.invoke({"messages": [calls(first, BIRD, id="ai-1"), done]})
    assert (tmp_path / "a").read_text() == "a bird"


def test_a_folder_refuses_an_edit_whose_place_is_not_clear_any_more(tmp_path):
    (tmp_path / "a").write_text("dog dog")
    with pytest.raises(FileError, match="several times"):
        FolderBackend(tmp_path).edit("/a", "dog", "bird", everywhere=False)
    assert (tmp_path / "a").read_text() == "dog dog"


def test_an_edit_behind_a_new_text_of_the_same_turn_is_refused(tmp_path):
    turn = calls(
        call("write_file", "c1", file_path="/a", content="new"),
        call("edit_file", "c2", file_path="/a", old_string="old", new_string="older"),
    )
    result = create_deep_agent(scripted(turn)).invoke({**USER, "files": {"/a": "old"}})
    assert result["files"] == {"/a": "new"}
    assert "this edit was not made" in results(result)["c2"]


def test_many_edits_of_one_file_at_once_all_count(tmp_path):
    (tmp_path / "a").write_text(" ".join(f"<{n}>" for n in range(20)))
    edits = [call("edit_file", f"c{n}", file_path="/a", old_string=f"<{n}>", new_string=str(n)) for n in range(20)]
    ToolNode(file_tools(FolderBackend(tmp_path))).invoke({"messages": [calls(*edits)]})
    assert (tmp_path / "a").read_text() == " ".join(map(str, range(20)))


@pytest.mark.parametrize("path", ["../x", "/a/../../x", "a\\..\\..\\x", "/a/..", "x\0y"])
def test_a_path_that_climbs_is_refused(use, path):
    assert "'..'" in use("write_file", file_path=path, content="!")
    assert "'..'" in use("read_file", file_path=path)


def test_two_edits_of_one_file_in_one_step_both_count():
    both = [{"/a": {"edit": ["one", "1", False]}}, {"/a": {"edit": ["two", "2", False]}}]
    files = {"/a": "one two"}
    for change in both:
        files = merge_files(files, change)
    assert files == {"/a": "1 2"}


@pytest.mark.parametrize("wrong", [{"content": "one", "encoding": "utf-8"}, ["one"], b"one", 5])
def test_a_file_that_is_no_text_is_refused(wrong):
    agent = create_deep_agent(scripted("ok"))
    with pytest.raises(InvalidUpdateError, match="The file '/a' is .*Give its text"):
        agent.invoke({**USER, "files": {"/a": wrong}})


def test_an_edit_that_would_be_lost_is_refused():
    with pytest.raises(InvalidUpdateError, match="same part of '/a'"):
        merge_files({"/a": "1 two"}, {"/a": {"edit": ["one", "1", False]}})


def test_what_was_changed_elsewhere_does_not_undo_what_was_changed_here():
    given = {"/a": "one", "/b": "two"}
    first, second = changed_files(given, {**given, "/a": "1"}), changed_files(given, {**given, "/b": "2", "/c": "3"})
    assert merge_files(merge_files(given, first), second) == {"/a": "1", "/b": "2", "/c": "3"}


def test_two_versions_of_one_file_are_both_kept():
    given = {"/a": "one"}
    versions = [changed_files(given, {"/a": text}) for text in ("1", "I", "1", "eins")]
    files: Any = given
    for version in versions:
        files = merge_files(files, version)
    assert files == {"/a": "1", "/a.1": "I", "/a.2": "eins"}


def test_what_was_deleted_elsewhere_goes_unless_it_has_changed_here():
    given = {"/a": "one", "/b": "two"}
    deleted = changed_files(given, {"/b": "two"})
    assert merge_files(given, deleted) == merge_files({"/b": "two"}, deleted) == {"/b": "two"}
    assert merge_files({"/a": "1", "/b": "two"}, deleted) == {"/a": "1", "/b": "two"}


def test_what_was_changed_elsewhere_and_deleted_here_is_kept():
    given = {"/a": "one"}
    deleted, changed = changed_files(given, {}), changed_files(given, {"/a": "1"})
    assert merge_files(merge_files(given, deleted), changed) == {"/a": "1"}
    assert merge_files(merge_files(given, changed), deleted) == {"/a": "1"}


# A folder that it cannot leave


@pytest.fixture
def outside(tmp_path) -> Path:
    secret = tmp_path / "outside" / "secret.txt"
    secret.parent.mkdir()
    secret.write_text("secret")
    return secret


@pytest.fixture
def folder(tmp_path) -> FolderBackend:
    (tmp_path / "inside").mkdir()
    return FolderBackend(tmp_path / "inside")


def test_a_link_does_not_lead_out(folder, outside):
    (folder.root / "file").symlink_to(outside)
    (folder.root / "dir").symlink_to(outside.parent)
    (folder.root / "new").symlink_to(outside.parent / "new.txt")
    for path in ("/file", "/dir/secret.txt", "/dir/new.txt", "/new"):
        with pytest.raises(FileError, match="out of the folder"):
            folder.read(path)
        with pytest.raises(FileError, match="out of the folder"):
            folder.write(path, "!")
    assert list(folder.paths()) == []
    assert outside.read_text() == "secret"
    assert list(outside.parent.iterdir()) == [outside]


def test_a_link_inside_is_followed(folder):
    folder.write("/a", "text")
    (folder.root / "b").symlink_to(folder.root / "a")
    assert folder.read("/b") == "text"
    assert list(folder.paths()) == ["/a", "/b"]


def test_links_in_a_circle_are_refused(folder):
    (folder.root / "a").symlink_to(folder.root / "b")
    (folder.root / "b").symlink_to(folder.root / "a")
    with pytest.raises(FileError):
        folder.read("/a")


def test_links_in_a_circle_and_to_nothing_are_not_listed(folder):
    folder.write("/text", "text")
    (folder.root / "a").symlink_to(folder.root / "b")
    (folder.root / "b").symlink_to(folder.root / "a")
    (folder.root / "c").symlink_to(folder.root / "gone")
    assert list(folder.paths()) == ["/text"]


def test_names_that_are_no_text_leave_the_others_listed_and_found(open_agent, folder):
    root = os.fsencode(folder.root)
    os.mkdir(os.path.join(root, b"d\xff"))
    for name in (b"a.txt", b"b\xe9.txt", b"d\xff/c.txt"):
        with open(os.path.join(root, name), "w") as file:
            file.write("word")
    searches = [call("ls", "c1"), call("glob", "c2", pattern="**/*.txt"), call("grep", "c3", pattern="word")]
    app = open_agent(lambda saver: create_deep_agent(scripted(calls(*searches)), backend=folder, checkpointer=saver))
    app.invoke(USER)
    assert results(app.get_state().values) == {"c1": "/a.txt", "c2": "/a.txt", "c3": "/a.txt:1:word"}


def test_a_file_that_goes_while_it_is_looked_for_leaves_the_others_found(folder, monkeypatch):
    folder.write("/a.txt", "word")
    folder.write("/b.txt", "word")
    is_file = Path.is_file

    def seen_for_the_last_time(path: Path) -> bool:
        found = is_file(path)
        if path.name == "a.txt":
            path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(Path, "is_file", seen_for_the_last_time)
    node = ToolNode(file_tools(folder))
    assert results(node.invoke({"messages": [calls(call("grep", pattern="word"))]})) == {"c1": "/b.txt:1:word"}
    with pytest.raises(FileError):
        folder.read("/a.txt")


def test_folders_that_nobody_may_look_into_leave_the_others_listed_and_found(folder, monkeypatch):
    folder.write("/a.txt", "word")
    folder.write("/shut/b.txt", "word")
    (folder.root / "shut" / "link").symlink_to(folder.root / "a.txt")
    lstat, stat = os.lstat, os.stat

    def refusing(real):
        def looked(path, *args, **options):
            if "shut/" in os.fsdecode(path):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return real(path, *args, **options)

        return looked

    # The superuser may look into it all the same.
    monkeypatch.setattr(os, "lstat", refusing(lstat))
    monkeypatch.setattr(os, "stat", refusing(stat))
    node = ToolNode(file_tools(folder))
    searches = calls(call("ls", "c1"), call("glob", "c2", pattern="*.txt"), call("grep", "c3", pattern="word"))
    assert results(node.invoke({"messages": [searches]})) == {"c1": "/a.txt", "c2": "/a.txt", "c3": "/a.txt:1:word"}


def test_folders_behind_links_are_not_listed(folder):
    folder.write("/dir/a", "text")
    (folder.root / "again").symlink_to(folder.root / "dir")
    (folder.root / "dir" / "up").symlink_to(folder.root)
    assert list(folder.paths()) == ["/dir/a"]


def test_an_absolute_path_of_the_machine_is_one_inside_of_the_folder(folder, outside):
    folder.write(str(outside), "mine")
    assert outside.read_text() == "secret"
    assert folder.read(str(outside)) == "mine"


def test_what_is_no_text_or_too_big_is_told(folder):
    (folder.root / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="UTF-8"):
        folder.read("/bytes")
    small = FolderBackend(folder.root, max_bytes=3)
    with pytest.raises(FileError, match="more than 3"):
        small.write("/a", "four")
    folder.write("/a", "four")
    with pytest.raises(FileError, match="more than 3"):
        small.read("/a")
    small.write("/a", "six")
    assert small.read("/a") == "six"


@pytest.mark.parametrize("path", ["/a\ud800", "/" + "x" * 300, "/" + "a/" * 3000, "/fifo", "/here/below", "/locked/a"])
def test_a_path_that_cannot_be_used_is_told_to_the_model(folder, path):
    os.mkfifo(folder.root / "fifo")
    (folder.root / "here").write_text("text")
    (folder.root / "locked").symlink_to("locked")
    for act in (
        folder.read,
        lambda path: folder.write(path, "text"),
        lambda path: folder.edit(path, "a", "b", everywhere=False),
    ):
        with pytest.raises(FileError):
            act(path)


def test_a_text_that_cannot_be_stored_leaves_the_file_as_it_was(folder):
    folder.write("/a.txt", "before")
    with pytest.raises(FileError, match="surrogates"):
        folder.write("/a.txt", "\ud800")
    assert folder.read("/a.txt") == "before"


FULL_DISK = """
import resource, sys
from signoff.agents.backends import FileError, FolderBackend
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    FolderBackend(sys.argv[1]).write("/notes.md", "x" * 1000)
except FileError as error:
    print(error)
"""


def test_on_a_full_disk_a_file_stays_as_it_was(folder):
    folder.write("/notes.md", "kept")
    told = subprocess.run([sys.executable, "-c", FULL_DISK, folder.root], capture_output=True, text=True, check=True)
    assert told.stdout == "The file '/notes.md' cannot be used: File too large.\n"
    assert os.listdir(folder.root) == ["notes.md"]
    assert folder.read("/notes.md") == "kept"


def test_a_file_that_is_replaced_stays_what_it_was_for_the_system(folder):
    script = folder.root / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    folder.write("/run.sh", "new")
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o750)


@pytest.mark.parametrize("way", ["write", "edit"])
def test_a_file_that_nobody_may_write_is_not_replaced(folder, monkeypatch, way):
    script = folder.root / "run.sh"
    script.write_text("old")
    script.chmod(0o440)
    monkeypatch.setattr(os, "access", lambda place, how: how != os.W_OK)  # the superuser may write it all the same
    with pytest.raises(FileError, match="'/run.sh' cannot be used: Permission denied"):
        folder.write("/run.sh", "new") if way == "write" else folder.edit("/run.sh", "old", "new", everywhere=False)
    assert script.read_text() == "old"


def test_an_edit_leaves_the_ends_of_lines_as_they_are(folder):
    file = folder.root / "a.txt"
    file.write_bytes(b"one\r\ntwo\r\nthree\r\n")
    folder.edit("/a.txt", "one\ntwo", "1\n2", everywhere=False)
    assert file.read_bytes() == b"1\r\n2\r\nthree\r\n"
    assert folder.read("/a.txt") == "1\n2\nthree\n"


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no folder"):
        FolderBackend(tmp_path / "nowhere")


# Commands


def test_a_command_runs_in_the_folder(tmp_path):
    shell = ShellBackend(tmp_path)
    done = shell.execute("echo hello > a; cat a; echo wrong >&2; exit 3")
    assert (done.output, done.exit_code) == ("hello\nwrong\n", 3)
    assert (tmp_path / "a").read_text() == "hello\n"


def test_a_command_that_takes_too_long_is_stopped_with_all_that_it_started(tmp_path):
    done = ShellBackend(tmp_path, timeout_s=0.2).execute("echo begun; sleep 60 & sleep 60")
    assert (done.output, done.exit_code, done.is_late) == ("begun\n", None, True)


def test_a_command_that_leaves_somebody_behind_is_not_waited_for(tmp_path):
    done = ShellBackend(tmp_path, timeout_s=0.3).execute("echo hi; setsid sleep 3 &")
    assert (done.output, done.exit_code, done.is_late) == ("hi\n", None, True)


def test_a_command_that_closes_its_output_is_stopped_in_time(tmp_path):
    done = ShellBackend(tmp_path, timeout_s=0.3).execute("echo hi; exec >&- 2>&-; sleep 30")
    assert (done.output, done.exit_code, done.is_late) == ("hi\n", None, True)


@pytest.mark.parametrize("command", ["echo \0", "echo \ud800", "echo " + "x" * 3_000_000])
def test_a_command_that_cannot_be_run_is_told_to_the_model(tmp_path, command):
    with pytest.raises(FileError, match="could not be run"):
        ShellBackend(tmp_path).execute(command)


def test_output_beyond_the_limit_is_dropped(tmp_path):
    done = ShellBackend(tmp_path, max_output=10).execute("head -c 1000000 /dev/zero | tr '\\0' x; echo end")
    assert (done.output, done.is_cut, done.exit_code) == ("x" * 10, True, 0)


def test_a_command_does_not_see_the_secrets_of_the_process(tmp_path, monkeypatch):
    monkeypatch.setenv("API_KEY", "secret")
    assert "API_KEY" not in ShellBackend(tmp_path).execute("env").output
    assert ShellBackend(tmp_path, env={**os.environ}).execute("echo $API_KEY").output == "secret\n"


def test_the_model_is_told_how_a_command_ended(tmp_path):
    tools = {tool.name: tool for tool in file_tools(ShellBackend(tmp_path, timeout_s=0.2, max_output=3))}
    execute = tools["execute"]
    assert execute.invoke({"command": "echo hi"}) == "hi"
    assert execute.invoke({"command": "true"}) == "(It printed nothing.)"
    assert execute.invoke({"command": "exit 2"}) == "(It ended with code 2.)"
    assert execute.invoke({"command": "sleep 9"}) == "(Its time was over, and it was stopped.)"
    assert execute.invoke({"command": "echo abcdef"}) == "abc\n(The rest of the output was dropped.)"


def test_without_a_shell_there_is_no_execute(tmp_path):
    assert "execute" not in {tool.name for tool in file_tools(FolderBackend(tmp_path))}


def test_a_shell_where_commands_could_not_be_stopped_is_refused(monkeypatch):
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(InvalidInput, match="Use FolderBackend there, or run the agent in a container or in WSL"):
        ShellBackend(".")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("FilesystemBackend", "FolderBackend"),
        ("LocalShellBackend", "ShellBackend"),
        ("StoreBackend", "Backend"),
        ("CompositeBackend", "Backend"),
        ("SandboxBackendProtocol", "Backend"),
    ],
)
def test_whoever_looks_for_a_backend_of_another_name_is_told_what_there_is(name, instead):
    with pytest.raises(ImportError, match=rf"has no {name}\. .*{instead}.*docs/deep-agents.md"):
        exec(f"from signoff.agents.backends import {name}")
    assert not hasattr(backends, name)
