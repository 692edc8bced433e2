"""Programs about a person who decides on calls: the shapes of questions and answers."""

from typing import Any

from .agents import LOOK, MAIL, PAY, TOOLS, USER, asked, by_call, call, calls, saved_agent, scripted, watch
from .harness import Library, Programs, thread

programs = Programs()

APPROVE = {"type": "approve"}
TWO: Any = {
    "pay": {"allowed_decisions": ["approve", "edit", "reject", "respond"], "description": "Pay?"},
    "mail": {"allowed_decisions": ["approve", "reject"], "description": "Write?"},
}
ALL = calls(PAY, MAIL, LOOK, id="ai-1")


def decided(lib: Library, *decisions: Any, wanted: Any = ALL, on: Any = TWO, hides: Any = (), **options: Any) -> Any:
    """What an agent asks, and what the decisions come to."""
    app = saved_agent(lib, scripted(wanted), TOOLS, middleware=[watch(lib, on, **options)])
    yield asked(app.invoke(USER, thread()))
    result = app.invoke(lib.Command(resume={"decisions": list(decisions)}), thread())
    yield by_call(result, hides=hides)
    yield result["messages"][-1].content
    yield app.get_state(thread()).next


@programs
def two_of_three_are_approved(lib: Library):
    yield from decided(lib, APPROVE, APPROVE)


@programs
def one_is_rejected_with_a_reason(lib: Library):
    yield from decided(lib, {"type": "reject", "message": "no"}, APPROVE, hides=["c1"])


@programs
def both_are_rejected_without_a_reason(lib: Library):
    yield from decided(lib, {"type": "reject"}, {"type": "reject"}, hides=["c1", "c2"])


@programs
def one_is_answered_by_the_person(lib: Library):
    yield from decided(lib, {"type": "respond", "message": "paid by hand"}, APPROVE)


@programs
def one_is_edited(lib: Library):
    edited = {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 4, "to": "bo"}}}
    yield from decided(lib, edited, APPROVE, hides=["c1"])


@programs
def one_is_edited_and_nothing_is_said_about_it(lib: Library):
    edited = {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 4, "to": "bo"}}}
    yield from decided(lib, edited, APPROVE, edit_notice=None)


@programs
def a_tool_with_every_decision_and_the_usual_description(lib: Library):
    yield from decided(lib, APPROVE, wanted=calls(PAY), on={"pay": True}, description_prefix="May it?")


@programs
def a_tool_that_is_not_watched(lib: Library):
    app = saved_agent(lib, scripted(ALL), TOOLS, middleware=[watch(lib, {"pay": False})])
    result = app.invoke(USER, thread())
    yield asked(result), by_call(result)


@programs
def a_turn_without_watched_calls(lib: Library):
    app = saved_agent(lib, scripted(calls(LOOK)), TOOLS, middleware=[watch(lib, TWO)])
    result = app.invoke(USER, thread())
    yield asked(result), by_call(result)


@programs
def a_description_out_of_the_call_and_the_state(lib: Library):
    def describe(tool_call: Any, state: Any, runtime: Any) -> str:
        return f"{tool_call['name']} {tool_call['args']} {len(state['messages'])}"

    on = {"pay": {"allowed_decisions": ["approve"], "description": describe}}
    yield from decided(lib, APPROVE, wanted=calls(PAY), on=on)


@programs
def a_predicate_lets_some_calls_pass(lib: Library):
    on = {"pay": {**TWO["pay"], "when": lambda request: request.tool_call["args"]["amount"] > 10}}
    wanted = calls(PAY, call("pay", "c2", amount=50, to="bo"))
    yield from decided(lib, {"type": "reject", "message": "no"}, wanted=wanted, on=on, hides=["c2"])


@programs
def two_calls_of_one_tool_are_two_requests(lib: Library):
    wanted = calls(PAY, call("pay", "c2", amount=50, to="bo"))
    yield from decided(lib, APPROVE, {"type": "respond", "message": "no"}, wanted=wanted)


@programs
def a_question_in_the_second_turn(lib: Library):
    app = saved_agent(lib, scripted(calls(LOOK), calls(PAY)), TOOLS, middleware=[watch(lib, TWO)])
    yield asked(app.invoke(USER, thread()))
    yield by_call(app.invoke(lib.Command(resume={"decisions": [APPROVE]}), thread()))


@programs
def two_conversations_do_not_know_of_each_other(lib: Library):
    app = saved_agent(lib, scripted(calls(PAY)), TOOLS, middleware=[watch(lib, TWO)])
    for one in ("1", "2"):
        yield asked(app.invoke(USER, thread(one)))
    yield by_call(app.invoke(lib.Command(resume={"decisions": [APPROVE]}), thread("2")))
    yield len(app.get_state(thread("1")).interrupts)


@programs
def one_question_for_each_call(lib: Library):
    app = saved_agent(lib, scripted(ALL), TOOLS, middleware=[watch(lib, TWO, interrupt_mode="per_call")])
    first = app.invoke(USER, thread())
    yield asked(first)
    ids = {question.value["name"]: question.id for question in first["__interrupt__"]}
    second = app.invoke(lib.Command(resume={ids["mail"]: APPROVE}), thread())
    yield asked(second)
    responded = {"type": "respond", "message": "by hand"}
    yield by_call(app.invoke(lib.Command(resume={ids["pay"]: responded}), thread()))


@programs
def an_edit_and_a_rejection_of_single_calls(lib: Library):
    app = saved_agent(lib, scripted(ALL), TOOLS, middleware=[watch(lib, TWO, interrupt_mode="per_call")])
    ids = {question.value["name"]: question.id for question in app.invoke(USER, thread())["__interrupt__"]}
    edited = {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": 4, "to": "bo"}}}
    result = app.invoke(lib.Command(resume={ids["pay"]: edited, ids["mail"]: {"type": "reject"}}), thread())
    yield by_call(result, hides=["c1", "c2"])


@programs
def a_wrong_decision_is_an_error(lib: Library):
    app = saved_agent(lib, scripted(ALL), TOOLS, middleware=[watch(lib, TWO)])
    for wrong in ([APPROVE], [APPROVE, {"type": "respond", "message": "x"}], [{"type": "accept"}, APPROVE]):
        app.invoke(USER, thread(str(wrong)))
        try:
            lib.call(
                app.graph.ainvoke if lib.is_async else app.graph.invoke,
                lib.Command(resume={"decisions": wrong}),
                thread(str(wrong)),
            )
        except ValueError:
            yield "refused"


test_people = programs.as_test()
