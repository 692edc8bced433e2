"""A deep agent plans, keeps files, and hands work to subagents that ask through it (scenario 25)."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from signoff.agents import create_agent, create_deep_agent, list_rules, revoke_rule
from signoff.agents.backends import FolderBackend, ShellBackend
from signoff.agents.middleware import AgentMiddleware, SummarizationMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, InvalidGraph, InvalidInput
from signoff.graph import START, MessagesState, StateGraph
from signoff.store.memory import InMemoryStore
from signoff.types import Command

from .desk import (
    APPROVE,
    USER,
    call,
    calls,
    check_transcript,
    decide,
    edit,
    records,
    reject,
    respond,
    results,
    scripted,
)

CONFIG: Any = {"configurable": {"thread_id": "1"}}
RAN: list[str] = []


@tool
def sample_tool(text: str) -> str:
    """A tool to watch over."""
    RAN.append(text)
    return f"did {text}"


@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    RAN.append(f"delete {path}")
    return "deleted"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def one_action(result: Any) -> Any:
    (question,) = result["__interrupt__"]
    (action,) = question.value["action_requests"]
    return action


# Plans and files


def test_it_plans_and_keeps_files_in_the_state(open_agent):
    todos = [{"content": "write", "status": "completed"}, {"content": "rest", "status": "pending"}]
    script = [
        calls(call("write_todos", "c1", todos=todos), call("write_file", "c2", file_path="/a.md", content="one\ntwo")),
        calls(call("edit_file", "c3", file_path="/a.md", old_string="two", new_string="2")),
        calls(call("read_file", "c4", file_path="/a.md")),
    ]
    app = open_agent(lambda saver: create_deep_agent(scripted(*script), checkpointer=saver))
    result = app.invoke(USER)
    assert result["todos"] == todos
    assert result["files"] == {"/a.md": "one\n2"}
    assert results(result)["c4"] == "     1\tone\n     2\t2"
    check_transcript(result["messages"])


def test_the_model_is_told_of_its_tools_and_its_manners():
    model = scripted("hello")
    create_deep_agent(model, [sample_tool], system_prompt="You are Ada.").invoke(USER)
    system = model.seen[0][0].content
    assert system.startswith("You are Ada.")
    assert "todo list" in system
    assert set(model.bound[0]["tools"]) == {
        "sample_tool", "ls", "read_file", "write_file", "edit_file", "glob", "grep", "task", "write_todos",
    }  # fmt: skip


# What is asked by default


def test_writing_to_a_real_folder_is_asked_about_with_a_diff(open_agent, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.md").write_text("one\ntwo\nthree\n")
    script = [
        calls(call("write_file", "c1", file_path="notes.md", content="one\n2\nthree\n")),
        calls(call("edit_file", "c2", file_path="/notes.md", old_string="three", new_string="3")),
    ]
    app = open_agent(
        lambda saver: create_deep_agent(scripted(*script), backend=FolderBackend(folder), checkpointer=saver)
    )
    asked = one_action(app.invoke(USER))
    assert asked["description"] == "Write 3 lines to notes.md"
    assert asked["preview"].splitlines()[2:] == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]
    assert (folder / "notes.md").read_text() == "one\ntwo\nthree\n"
    asked = one_action(app.invoke(Command(resume=decide(APPROVE))))
    assert asked["description"] == "Replace a text in /notes.md"
    assert "+3" in asked["preview"]
    app.invoke(Command(resume=decide(reject("leave it"))))
    assert (folder / "notes.md").read_text() == "one\n2\nthree\n"


ENDS = {
    "all of them": ("one\ntwo\n", "one\r\ntwo\r\n", ["-one", "-two", "+one\\r\\n", "+two\\r\\n"]),
    "one of them": ("one\r\ntwo\r\n", "one\r\ntwo\n", [" one", "-two", "+two\\n"]),
    "beside a word": ("one\r\n2\r\n", "one\n2.\n", ["-one", "-2", "+one\\n", "+2.\\n"]),
    "the last": ("one\ntwo\n", "one\ntwo", [" one", "-two", "+two", "\\ No newline at end of file"]),
    "none": ("one\r\ntwo\r\n", "one\r\n2\r\n", [" one", "-two", "+2"]),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_preview_of_a_file_shows_which_line_ends_change(tmp_path, case):
    before, after, shown = ENDS[case]
    (tmp_path / "a").write_bytes(before.encode())
    script = calls(call("write_file", "c1", file_path="/a", content=after))
    app = create_deep_agent(scripted(script), backend=FolderBackend(tmp_path), checkpointer=InMemorySaver())
    asked = one_action(app.invoke(USER, {"configurable": {"thread_id": "1"}}))
    assert asked["preview"].splitlines()[3:] == shown


def test_a_file_that_was_changed_while_the_question_was_open_is_shown_anew(open_agent, tmp_path):
    script = calls(call("edit_file", "c1", file_path="/a", old_string="b", new_string="c"))
    root = tmp_path / "work"
    root.mkdir()
    (root / "a").write_text("a\nb\n")
    app = open_agent(lambda saver: create_deep_agent(scripted(script), backend=FolderBackend(root), checkpointer=saver))
    app.invoke(USER)
    (root / "a").write_text("z\nb\n")
    asked = one_action(app.invoke(Command(resume=decide(APPROVE))))
    assert " z" in asked["preview"]
    app.invoke(Command(resume=decide(APPROVE)))
    assert (root / "a").read_text() == "z\nc\n"


def test_two_writes_of_one_turn_are_approved_with_one_answer_and_both_run(open_agent, tmp_path):
    root = tmp_path / "work"
    root.mkdir()
    script = calls(
        call("write_file", "c1", file_path="/a", content="one"), call("write_file", "c2", file_path="/b", content="two")
    )
    app = open_agent(lambda saver: create_deep_agent(scripted(script), backend=FolderBackend(root), checkpointer=saver))
    app.invoke(USER)
    app.invoke(Command(resume=decide(APPROVE, APPROVE)))
    assert ((root / "a").read_text(), (root / "b").read_text()) == ("one", "two")


def test_commands_and_deletions_are_asked_about_in_words(tmp_path):
    script = calls(call("execute", "c1", command="rm -r x"), call("delete_file", "c2", path="/a/b"))
    app = create_deep_agent(
        scripted(script), [delete_file], backend=ShellBackend(tmp_path), checkpointer=InMemorySaver()
    )
    (question,) = app.invoke(USER, CONFIG)["__interrupt__"]
    assert [action["description"] for action in question.value["action_requests"]] == [
        "Run command: rm -r x",
        "Delete file: /a/b",
    ]
    assert RAN == []


def test_the_defaults_are_changed_tool_by_tool(tmp_path):
    script = calls(
        call("delete_file", "c1", path="/a"), call("write_file", "c2", file_path="/b", content="x"), call("ls", "c3")
    )
    app = create_deep_agent(
        scripted(script),
        [delete_file],
        backend=FolderBackend(tmp_path),
        interrupt_on={"delete_file": False, "ls": {"allowed_decisions": ["approve"], "description": "Look?"}},
        checkpointer=InMemorySaver(),
    )
    (question,) = app.invoke(USER, CONFIG)["__interrupt__"]
    assert [action["description"] for action in question.value["action_requests"]] == ["Write 1 line to /b", "Look?"]
    assert RAN == ["delete /a"]


def test_an_own_tool_takes_the_place_of_a_file_tool_and_is_asked_about_without_a_preview_of_the_folder(tmp_path):
    written: list[str] = []

    @tool
    def write_file(file_path: str, content: str) -> str:
        """Write to the bucket."""
        written.append(file_path)
        return "in the bucket"

    wanted = calls(call("write_file", "c1", file_path="/a", content="x"))
    for backend in (None, FolderBackend(str(tmp_path))):
        agent = create_deep_agent(scripted(wanted), [write_file], backend=backend, checkpointer=InMemorySaver())
        (question,) = agent.invoke(USER, CONFIG)["__interrupt__"]
        (action,) = question.value["action_requests"]
        assert (action["description"], "preview" in action) == ("Write 1 line to /a", False)
        agent.invoke(Command(resume=decide(APPROVE)), CONFIG)
    assert written == ["/a", "/a"]
    assert list(tmp_path.iterdir()) == []


def test_virtual_files_may_be_watched_over_too():
    script = calls(call("write_file", "c1", file_path="/b", content="x"))
    app = create_deep_agent(scripted(script), interrupt_on={"write_file": True}, checkpointer=InMemorySaver())
    asked = one_action(app.invoke(USER, CONFIG))
    assert (asked["description"], asked["preview"].splitlines()[-1]) == ("Write 1 line to /b", "+x")


def test_a_name_that_no_tool_has_is_refused():
    with pytest.raises(InvalidGraph, match="'wirte_file'"):
        create_deep_agent(scripted(), interrupt_on={"wirte_file": True})


# Subagents


def handing(*names: str) -> Any:
    return calls(*(call("task", f"t{i}", description=f"work {i}", subagent_type=name) for i, name in enumerate(names)))


def working(*texts: str) -> Any:
    return scripted(calls(*(call("sample_tool", f"s{text}", text=text) for text in texts)), "worked")


def subagent(name: str, model: Any, **more: Any) -> Any:
    return {"name": name, "description": f"does {name}", "system_prompt": f"You do {name}.", "model": model, **more}


@pytest.fixture
def open_team(open_agent):
    return opening_team(open_agent)


@pytest.fixture
def open_team_in_all_ways(open_in_all_ways):
    return opening_team(open_in_all_ways)


def opening_team(open_app: Any) -> Any:
    def open_team(main: Any, *subagents: Any, **options: Any) -> Any:
        return open_app(
            lambda saver: create_deep_agent(main, [sample_tool], subagents=subagents, checkpointer=saver, **options)
        )

    return open_team


WATCHED: Any = {"sample_tool": True}
DECISIONS = {
    "approve": (APPROVE, ["a"], "did a"),
    "edit": (edit("sample_tool", text="b"), ["b"], "did b"),
    "reject": (reject("not now"), [], "not now"),
    "respond": (respond("done by hand"), [], "done by hand"),
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_question_of_a_subagent_is_answered_at_the_root_with_any_decision(open_team_in_all_ways, decision):
    said, ran, told = DECISIONS[decision]
    model = working("a")
    app = open_team_in_all_ways(scripted(handing("writer")), subagent("writer", model), interrupt_on=WATCHED)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value["path"] == ["writer"]
    assert RAN == []
    result = app.invoke(Command(resume=decide(said)))
    assert ran == RAN
    assert told in model.seen[-1][-1].content
    assert results(result) == {"t0": "worked"}
    check_transcript(result["messages"])


def test_a_subagent_goes_on_where_it_stopped_without_a_new_call_of_the_model(open_team_in_all_ways):
    model = scripted(
        calls(call("ls", "s0")),
        calls(call("sample_tool", "s1", text="a")),
        calls(call("sample_tool", "s2", text="b")),
        "end",
    )
    main = scripted(handing("writer"))
    app = open_team_in_all_ways(main, subagent("writer", model), interrupt_on=WATCHED)
    app.invoke(USER)
    assert len(model.seen) == 2
    app.invoke(Command(resume=decide(APPROVE)))
    assert len(model.seen) == 3
    app.invoke(Command(resume=decide(APPROVE)))
    assert (len(model.seen), len(main.seen), RAN) == (4, 2, ["a", "b"])


def test_two_subagents_ask_at_once_and_each_gets_its_answer(open_team_in_all_ways):
    one, two = working("a"), working("b")
    main = scripted(handing("first", "second"))
    app = open_team_in_all_ways(main, subagent("first", one), subagent("second", two), interrupt_on=WATCHED)
    asked = app.invoke(USER)["__interrupt__"]
    by_path = {question.value["path"][0]: question.id for question in asked}
    left = app.invoke(Command(resume={by_path["second"]: decide(APPROVE)}))["__interrupt__"]
    assert [question.id for question in left] == [by_path["first"]]
    assert RAN == ["b"]
    result = app.invoke(Command(resume={by_path["first"]: decide(reject())}))
    assert RAN == ["b"]
    assert results(result) == {"t0": "worked", "t1": "worked"}
    assert (len(one.seen), len(two.seen)) == (2, 2)


def test_a_wrong_decision_on_a_question_of_a_subagent_is_refused(open_team):
    app = open_team(scripted(handing("writer")), subagent("writer", working("a")), interrupt_on=WATCHED)
    asked = app.invoke(USER)["__interrupt__"]
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume=decide(APPROVE, APPROVE)))
    assert list(app.get_state().interrupts) == asked
    app.invoke(Command(resume=decide(APPROVE)))
    assert RAN == ["a"]


class Lending(AgentMiddleware):
    """Runs a tool that nobody else knows."""

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        if request.tool_call["name"] != "lent_tool":
            return handler(request)
        self.ran.append(request.tool_call["args"])
        return ToolMessage("lent", tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        if request.tool_call["name"] != "lent_tool":
            return await handler(request)
        return self.wrap_tool_call(request, handler)


@pytest.mark.parametrize("changes", [{}, {"interrupt_on": {"sample_tool": False}}])
def test_a_subagent_inherits_what_is_asked_about_a_tool_that_only_its_wrapper_knows(open_team, caplog, changes):
    lending = Lending()
    model = scripted(calls(call("lent_tool", "s1", text="a")), "worked")
    writer = subagent("writer", model, tools=[], middleware=[lending], **changes)
    watched = {"lent_tool": True, "sample_tool": True}
    app = open_team(scripted(handing("writer")), writer, middleware=[Lending()], interrupt_on=watched)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert (question.value["path"], lending.ran) == (["writer"], [])
    assert not any("names 'sample_tool'" in said or ", 'sample_tool', and" in said for said in caplog.messages)
    app.invoke(Command(resume=decide(APPROVE)))
    assert lending.ran == [{"text": "a"}]


def test_a_subagent_may_override_what_it_inherits(open_team):
    free = subagent("free", working("a"), interrupt_on={"sample_tool": False})
    app = open_team(scripted(handing("free"), calls(call("sample_tool", "c1", text="b"))), free, interrupt_on=WATCHED)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert "path" not in question.value
    assert RAN == ["a"]


def test_a_subagent_may_be_stricter_than_the_agent_it_works_for(open_team):
    strict = subagent("strict", working("a"), interrupt_on={"sample_tool": {"allowed_decisions": ["approve"]}})
    app = open_team(scripted(handing("strict")), strict)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value["review_configs"][0]["allowed_decisions"] == ["approve"]


def test_what_is_allowed_from_here_on_holds_in_subagents_and_comes_back_from_them(open_team):
    model = scripted(calls(call("sample_tool", "s1", text="b")), "worked")
    turns = [handing("writer"), calls(call("sample_tool", "c1", text="a")), handing("writer")]
    app = open_team(scripted(*turns), subagent("writer", model), interrupt_on=WATCHED)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value["path"] == ["writer"]
    result = app.invoke(Command(resume=decide({"type": "approve", "from_here_on": True})))
    assert "__interrupt__" not in result
    assert RAN == ["b", "a", "b"]
    assert records(result)["c1"]["rule"]["because"]["tool_call_id"] == "s1"


def test_a_rule_of_a_subagent_that_was_taken_out_of_the_store_holds_nowhere():
    turns = [handing("writer"), "done", calls(call("sample_tool", "c1", text="a"))]
    kept: Any = {"checkpointer": InMemorySaver(), "store": InMemoryStore()}
    team = [subagent("writer", working("b"))]
    app = create_deep_agent(scripted(*turns), [sample_tool], subagents=team, interrupt_on=WATCHED, **kept)
    app.invoke(USER, CONFIG)
    app.invoke(Command(resume=decide({"type": "approve", "from_here_on": True})), CONFIG)
    (rule,) = list_rules(app, CONFIG)
    revoke_rule(app, CONFIG, rule["id"])
    assert list_rules(app, CONFIG) == []
    assert "__interrupt__" in app.invoke(USER, CONFIG)


def test_a_subagent_that_names_a_tool_it_lacks_is_refused():
    with pytest.raises(InvalidGraph, match="'samlpe_tool'"):
        create_deep_agent(scripted(), subagents=[subagent("a", scripted(), interrupt_on={"samlpe_tool": True})])


def test_the_general_purpose_subagent_is_there_and_inherits(open_team):
    # The subagent has the same model: the turn is the number of the model's messages in its own history.
    script = [handing("general-purpose"), calls(call("sample_tool", "s1", text="a"))]

    def speak(messages: Any) -> Any:
        is_main = messages[1].content == "hi"
        return script[0] if is_main else script[1]

    app = open_team(scripted(speak), interrupt_on=WATCHED)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value["path"] == ["general-purpose"]
    assert results(app.invoke(Command(resume=decide(APPROVE)))) == {"t0": "done"}
    assert RAN == ["a"]


def test_files_are_shared_with_a_subagent(open_team):
    model = scripted(calls(call("edit_file", "s1", file_path="/a", old_string="one", new_string="two")), "changed")
    main = scripted(calls(call("write_file", "c1", file_path="/a", content="one")), handing("writer"))
    result = open_team(main, subagent("writer", model)).invoke(USER)
    assert result["files"] == {"/a": "two"}


def test_subagents_at_work_at_once_do_not_undo_each_others_files(open_team):
    def writing(path: str, text: str) -> Any:
        return scripted(calls(call("write_file", "s1", file_path=path, content=text)), "written")

    main = scripted(handing("one", "two", "three"))
    team = open_team(
        main,
        subagent("one", writing("/a", "A")),
        subagent("two", writing("/b", "B")),
        subagent("three", writing("/b", "B, too")),
    )
    result = team.invoke({**USER, "files": {"/a": "a", "/b": "b"}})
    assert result["files"] == {"/a": "A", "/b": "B", "/b.1": "B, too"}


def test_any_compiled_graph_may_be_a_subagent(open_agent):
    def answer(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"heard {state['messages'][-1].content}")]}

    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()
    echo = {"name": "echo", "description": "echoes", "runnable": graph}
    app = open_agent(lambda saver: create_deep_agent(scripted(handing("echo")), subagents=[echo], checkpointer=saver))
    assert results(app.invoke(USER)) == {"t0": "heard work 0"}


def test_an_agent_as_a_compiled_subagent_asks_through_the_root(open_agent):
    def make(saver: Any) -> Any:
        inner = create_agent(working("a"), [sample_tool], interrupt_on=WATCHED)
        helper = {"name": "helper", "description": "helps", "runnable": inner}
        return create_deep_agent(scripted(handing("helper")), subagents=[helper], checkpointer=saver)

    app = open_agent(make)
    (question,) = app.invoke(USER)["__interrupt__"]
    assert question.value["path"] == ["helper"]
    app.invoke(Command(resume=decide(APPROVE)))
    assert RAN == ["a"]


def test_a_question_names_all_subagents_on_the_way_to_the_one_that_asks():
    inner = create_agent(working("a"), [sample_tool], interrupt_on=WATCHED)
    helper = {"name": "helper", "description": "helps", "runnable": inner}
    leader = create_deep_agent(scripted(handing("helper")), subagents=[helper])
    chief = {"name": "chief", "description": "leads", "runnable": leader}
    app = create_deep_agent(scripted(handing("chief")), subagents=[chief], checkpointer=InMemorySaver())
    (question,) = app.invoke(USER, CONFIG)["__interrupt__"]
    assert question.value["path"] == ["chief", "helper"]


def test_the_same_call_id_in_a_subagent_is_not_approved_by_the_answer_to_the_agent(open_team):
    inner = scripted(calls(call("sample_tool", "c1", text="a")), "worked")
    outer = scripted(
        calls(call("sample_tool", "c1", text="a"), call("task", "t0", description="w", subagent_type="writer"))
    )
    app = open_team(outer, subagent("writer", inner), interrupt_on=WATCHED)
    asked = app.invoke(USER)["__interrupt__"]
    assert [question.value.get("path") for question in asked] == [None, ["writer"]]
    app.invoke(Command(resume={asked[0].id: decide(APPROVE)}))
    assert RAN == ["a"]


def test_a_subagent_that_does_not_exist_is_told_to_the_model(open_team):
    result = open_team(scripted(handing("nobody"))).invoke(USER)
    assert "There is no subagent 'nobody'" in results(result)["t0"]


@pytest.mark.parametrize(
    "wrong",
    [{"name": "a"}, {"description": "b"}, {"name": "", "description": "b", "system_prompt": "c"}],
)
def test_a_subagent_that_is_not_described_is_refused(wrong):
    with pytest.raises(InvalidInput, match="subagent|Subagent"):
        create_deep_agent(scripted(), subagents=[wrong])


def test_a_subagent_without_instructions_has_the_usual_ones():
    one = {"name": "writer", "description": "writes", "model": scripted("done")}
    create_deep_agent(scripted(handing("writer")), subagents=[one]).invoke(USER)
    assert "for another agent" in one["model"].seen[0][0].text


def test_no_subagents_are_none():
    assert create_deep_agent(scripted("ok"), subagents=None).invoke(USER)["messages"][-1].text == "ok"


def test_two_subagents_of_one_name_are_refused():
    with pytest.raises(InvalidInput, match="Two subagents"):
        create_deep_agent(scripted(), subagents=[subagent("a", None), subagent("a", None)])


# Long histories


def test_a_long_history_is_summarised_and_no_call_is_parted_from_its_result(open_agent):
    def speak(messages: Any) -> Any:
        if "older part of a conversation" in str(messages[0].content):
            return AIMessage("they talked")
        turn = sum(isinstance(message, AIMessage) for message in messages)
        return calls(call("ls", f"c{len(messages)}")) if turn < 3 else AIMessage("done")

    app = open_agent(
        lambda saver: create_deep_agent(scripted(*[speak] * 20), checkpointer=saver, summarize_at=("messages", 21))
    )
    for _ in range(9):
        result = app.invoke(USER)
    assert isinstance(result["messages"][0], HumanMessage)
    assert "they talked" in result["messages"][0].content
    assert len(result["messages"]) < 30
    check_transcript(result["messages"])


def test_sizes_in_tokens_and_wrong_sizes():
    middleware = SummarizationMiddleware(scripted("short"), trigger=("tokens", 30), keep=("tokens", 10))
    messages = [HumanMessage("word " * 10) for _ in range(5)]
    old, kept = middleware.parted(messages)
    assert (len(old), len(kept)) == (4, 1)
    assert middleware.parted(messages[:1]) == ([], messages[:1])
    with pytest.raises(InvalidInput, match="no size"):
        SummarizationMiddleware(scripted(), trigger=("pages", 3))


def test_records_of_decisions_stay_in_the_transcript(open_team):
    app = open_team(scripted(calls(call("sample_tool", "c1", text="a"))), interrupt_on=WATCHED)
    app.invoke(USER)
    assert records(app.invoke(Command(resume=decide(APPROVE))))["c1"]["type"] == "approve"


def test_files_of_the_folder_are_not_in_the_state(tmp_path):
    Path(tmp_path, "a").write_text("text")
    app = create_deep_agent(scripted(calls(call("read_file", "c1", file_path="/a"))), backend=FolderBackend(tmp_path))
    result = app.invoke(USER)
    assert results(result) == {"c1": "     1\ttext"}
    assert "files" not in result
