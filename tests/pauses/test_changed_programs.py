"""Promise 7: a changed program is noticed, delivers nothing, and keeps the question."""

import asyncio
import compileall
import shutil
import subprocess
import sys
import textwrap
import threading
from itertools import count
from pathlib import Path

import pytest

import signoff
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput, ReplayMismatch
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, Log, Works, asking, beside, line


def code(source, **names):
    """The function `ask` of a version of a program."""
    module = {"__name__": "shop", "interrupt": interrupt, "task": task, **names}
    exec(textwrap.dedent(source), module)
    return module["ask"]


PLAIN = """
    def ask(state):
        return {"log": [interrupt("sure?")]}
"""
INSERTED = """
    def ask(state):
        interrupt("delete it all?")
        return {"log": [interrupt("sure?")]}
"""
ADDED_A_LINE = """
    def ask(state):
        greeting = "hello"
        return {"log": [interrupt("sure?")]}
"""
REWORDED = """
    def ask(state):
        return {"log": [interrupt("really sure?")]}
"""
WITH_HELPER = """
    def confirm(question):
        return interrupt(question)

    def ask(state):
        return {"log": [confirm("sure?")]}
"""
HELPER_CHANGED = """
    def confirm(question):
        question = question.strip()
        return interrupt(question)

    def ask(state):
        return {"log": [confirm("sure?")]}
"""
HELPER_REWORDED = """
    def confirm(question):
        return interrupt(f"{question} (yes or no)")

    def ask(state):
        return {"log": [confirm("sure?")]}
"""
DECORATED = """
    def traced(function):
        return lambda *args: function(*args)

    @traced
    def ask(state):
        return {"log": [interrupt("sure?")]}
"""
DECORATED_AND_REWORDED = DECORATED.replace("sure?", "really sure?")
HELPER_DECORATED = """
    def traced(function):
        return lambda *args: function(*args)

    @traced
    def confirm(question):
        return interrupt(question)

    def ask(state):
        return {"log": [confirm("sure?")]}
"""
CAREFUL = """
    def ask(state):
        try:
            return {"log": [interrupt("really sure?")]}
        except Exception:
            return {"log": ["swallowed"]}
"""

SAME = {
    "same": (PLAIN, PLAIN),
    "line added": (PLAIN, ADDED_A_LINE),
    "helper changed": (WITH_HELPER, HELPER_CHANGED),
    "helper made": (PLAIN, WITH_HELPER),
    "decorator added": (PLAIN, DECORATED),
    "decorator removed": (DECORATED, PLAIN),
    "helper decorated": (WITH_HELPER, HELPER_DECORATED),
}
OTHER = {
    "inserted": (PLAIN, INSERTED),
    "reworded": (PLAIN, REWORDED),
    "helper reworded": (WITH_HELPER, HELPER_REWORDED),
    "caught": (PLAIN, CAREFUL),
    "decorator added": (PLAIN, DECORATED_AND_REWORDED),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_the_same_question_of_changed_code_gets_its_answer(open_app, old, new):
    open_app(beside(ask=code(old))).invoke(NEW)
    assert open_app(beside(ask=code(new))).invoke(Command(resume="yes")) == {"log": ["yes"]}


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_another_question_of_changed_code_does_not(open_app, old, new):
    first = open_app(beside(ask=code(old)))
    first.invoke(NEW)
    before = first.get_state()
    deployed = open_app(beside(ask=code(new)))
    for _ in range(2):
        with pytest.raises(ReplayMismatch, match="where 'sure\\?' was asked.*key=.*on_changed=\"accept\""):
            deployed.invoke(Command(resume="yes"))
    assert first.get_state().interrupts == before.interrupts
    assert [question.value for question in first.filed()] == ["sure?"]
    assert first.invoke(Command(resume="yes")) == {"log": ["yes"]}
    assert first.filed() == []


def test_another_payload_at_the_same_place_is_the_same_question(open_app):
    ticks = count()
    app = open_app(beside(ask=lambda state: {"log": [interrupt(f"sure, at {next(ticks)}?")]}))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_another_way_through_unchanged_code_is_noticed(open_app):
    weather = ["rain"]

    def ask(state):
        if weather == ["rain"]:
            return {"log": [interrupt("umbrella?")]}
        return {"log": [interrupt("umbrella?" if weather else "hat?")]}

    app = open_app(beside(ask=ask))
    app.invoke(NEW)
    weather[:] = ["sun"]
    with pytest.raises(ReplayMismatch):
        app.invoke(Command(resume="yes"))
    weather[:] = ["rain"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_a_question_that_was_answered_before_is_checked_as_well(open_app):
    two = """
        def ask(state):
            return {"log": [interrupt("name?"), interrupt("age?")]}
    """
    first = open_app(beside(ask=code(two)))
    first.invoke(NEW)
    first.invoke(Command(resume="Ana"))
    deployed = open_app(beside(ask=code(two.replace("name?", "city?"))))
    with pytest.raises(ReplayMismatch, match="'city\\?' where 'name\\?'"):
        deployed.invoke(Command(resume=41))
    assert first.questions() == ["age?"]
    assert first.invoke(Command(resume=41)) == {"log": ["Ana", 41]}


def test_a_key_goes_with_its_question_wherever_it_is_asked(open_app):
    old = """
        def ask(state):
            return {"log": [interrupt("name?", key="name"), interrupt("age?", key="age")]}
    """
    new = """
        def ask(state):
            age = interrupt("How old are you?", key="age")
            city = interrupt("Where do you live?", key="city")
            return {"log": [interrupt("What is your name?", key="name"), age, city]}
    """
    first = open_app(beside(ask=code(old)))
    first.invoke(NEW)
    first.invoke(Command(resume="Ana"))
    deployed = open_app(beside(ask=code(new)))
    assert deployed.ask(Command(resume={"age": 41})) == ["Where do you live?"]
    assert deployed.invoke(Command(resume="Oslo")) == {"log": ["Ana", 41, "Oslo"]}


def test_a_changed_question_can_be_accepted(open_app):
    open_app(beside(ask=code(PLAIN))).invoke(NEW)
    deployed = open_app(beside(ask=code(REWORDED)))
    assert deployed.invoke(Command(resume="yes"), on_changed="accept") == {"log": ["yes"]}


def test_an_unknown_way_to_take_changes_is_refused(open_app):
    with pytest.raises(InvalidInput, match='"raise" or "accept", not \'ignore\''):
        open_app(beside(ask=code(PLAIN))).invoke(NEW, on_changed="ignore")


def test_a_question_of_a_nested_graph_is_checked(open_app):
    def shop(source):
        return open_app(line(inner=beside(ask=code(source)).compile(), after=Works().node("after")))

    first = shop(PLAIN)
    first.invoke(NEW)
    with pytest.raises(ReplayMismatch):
        shop(REWORDED).invoke(Command(resume="yes"))
    assert first.questions() == ["sure?"]
    assert first.invoke(Command(resume="yes")) == {"log": ["yes", "after"]}


def test_a_question_of_a_call_is_checked(open_app):
    def shop(source):
        def program(saver):
            confirm = task(code(source))

            @entrypoint(checkpointer=saver)
            def flow(text):
                return confirm(text).result()["log"]

            return flow

        return open_app(program)

    first = shop(PLAIN)
    first.invoke("x")
    with pytest.raises(ReplayMismatch):
        shop(REWORDED).invoke(Command(resume="yes"))
    assert first.questions() == ["sure?"]
    assert first.invoke(Command(resume="yes")) == ["yes"]


GOES_ON_WITH_WORK = """
    def ask(state):
        try:
            return {"log": [interrupt("really sure?")]}
        except Exception:
            return {"log": [work("instead").result()]}
"""
GOES_ON_WITH_A_QUESTION = """
    def ask(state):
        try:
            return {"log": [interrupt("really sure?")]}
        except Exception:
            return {"log": [interrupt("what then?", key="then")]}
"""


@pytest.mark.parametrize("source", [GOES_ON_WITH_WORK, GOES_ON_WITH_A_QUESTION], ids=["work", "question"])
def test_whoever_swallows_a_mismatch_does_nothing_more(open_app, source):
    done = []

    @task
    def work(what):
        done.append(what)
        return what

    def shop(source):
        return open_app(line(ask=code(source, work=work)))

    shop(PLAIN).invoke(NEW)
    with pytest.raises(ReplayMismatch):
        shop(source).invoke(Command(resume="yes"))
    assert done == []
    assert shop(PLAIN).questions() == ["sure?"]
    assert shop(PLAIN).invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_a_graph_that_was_refused_an_answer_is_not_begun_anew_by_whoever_tries_again(open_app):
    begun = []

    def shop(source):
        inner = line(begin=lambda state: begun.append(1), ask=code(source)).compile()

        def stubborn(state):
            for _ in range(3):
                try:
                    return inner.invoke(NEW)
                except Exception:
                    continue
            return {"log": ["gave up"]}

        return open_app(line(stubborn=stubborn))

    shop(PLAIN).invoke(NEW)
    with pytest.raises(ReplayMismatch):
        shop(REWORDED).invoke(Command(resume="yes"))
    assert begun == [1]
    assert shop(PLAIN).questions() == ["sure?"]
    assert shop(PLAIN).invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_nothing_else_hears_of_a_mismatch(open_app):
    heard = []
    policy = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=Exception)

    def shop(source):
        graph = StateGraph(Log)
        graph.add_node("ask", code(source), retry_policy=policy, error_handler=lambda state: heard.append(1))
        return open_app(graph.add_edge(START, "ask"))

    shop(PLAIN).invoke(NEW)
    with pytest.raises(ReplayMismatch):
        shop(REWORDED).invoke(Command(resume="yes"))
    assert heard == []
    assert shop(PLAIN).invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_constants_in_sets_are_the_same_in_every_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import sys
            from typing import TypedDict
            from signoff.checkpoint.sqlite import SqliteSaver
            from signoff.graph import START, StateGraph
            from signoff.types import Command, interrupt

            class State(TypedDict):
                answer: str

            def ask(state):
                if state["answer"] in {"no", "never", "nothing", "not now", "not that"}:
                    return {}
                return {"answer": interrupt(f"{sys.argv[2]}?")}

            with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
                app = StateGraph(State).add_node(ask).add_edge(START, "ask").compile(checkpointer=saver)
                input = {"answer": ""} if sys.argv[2] == "first" else Command(resume="yes")
                print(app.invoke(input, {"configurable": {"thread_id": "1"}})["answer"])
            """
        )
    )
    for seed, turn, shown in (("1", "first", ""), ("2", "second", "yes")):
        done = subprocess.run(
            [sys.executable, str(program), str(tmp_path / "threads.db"), turn],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout.strip(), done.returncode) == (shown, 0), done.stderr


def test_code_in_a_package_whose_name_begins_like_ours_is_the_users():
    """Such a package stands beside ours, where both are installed."""
    saver, beside_ours = InMemorySaver(), f"{Path(signoff.__file__).parent}_shop/nodes.py"

    def shop(source):
        module = {"__name__": "signoff_shop.nodes", "interrupt": interrupt}
        exec(compile(textwrap.dedent(source), beside_ours, "exec"), module)
        return beside(ask=module["ask"]).compile(saver)

    config = {"configurable": {"thread_id": "1"}}
    shop(PLAIN).invoke(NEW, config)
    with pytest.raises(ReplayMismatch, match=r"asks 'really sure\?'"):
        shop(REWORDED).invoke(Command(resume="yes"), config)
    assert shop(PLAIN).invoke(Command(resume="yes"), config) == {"log": ["yes"]}


def test_a_question_is_the_same_where_only_compiled_code_is_installed(tmp_path):
    """As an image or a bundle has it. Such code says where it was built, and not where it is."""
    ours = tmp_path / "signoff"
    shutil.copytree(Path(signoff.__file__).parent, ours, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(ours, quiet=1, legacy=True, ddir="built/signoff")
    for source in ours.rglob("*.py"):
        source.unlink()
    program = f"""
        import sys, time
        sys.path.insert(0, {str(tmp_path)!r})
        from signoff.checkpoint.memory import InMemorySaver
        from signoff.func import entrypoint
        from signoff.types import Command, interrupt

        @entrypoint(checkpointer=InMemorySaver())
        def ask(input):
            return interrupt(f"{{time.monotonic_ns()}}?")

        thread = {{"configurable": {{"thread_id": "1"}}}}
        ask.invoke("", thread)
        print(interrupt.__code__.co_filename, ask.invoke(Command(resume="yes"), thread))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.returncode) == (["built/signoff/_words/questions.py", "yes"], 0), done.stderr


def test_a_question_below_a_builtin_is_the_same_however_often_it_was_asked():
    """The interpreter calls builtins from another instruction once it has seen a call a few times."""
    app = beside(ask=lambda state: {"log": [sum(interrupt(f"{n}?") for n in range(30))]}).compile(InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    app.invoke(NEW, config)
    for _ in range(30):
        answered = app.invoke(Command(resume=1), config)
    assert answered == {"log": [30]}


def test_an_answer_that_was_not_delivered_is_taken_back_though_a_graph_beside_it_has_gone_on(open_app):
    has_gone_on = threading.Event()

    def late(state):
        has_gone_on.set()
        return {"log": ["late"]}

    def reworded(state):
        assert has_gone_on.wait(60)
        return {"log": [interrupt("really pay?")]}

    inner = line(ask=asking("sure?"), step=Works().node("step"), late=late).compile()
    old = open_app(beside(inner=inner, pay=asking("pay?")))
    old.invoke(NEW)
    answers = dict.fromkeys(old.ids().values(), "yes")
    with pytest.raises(ReplayMismatch, match="really pay"):
        open_app(beside(inner=inner, pay=reworded)).invoke(Command(resume=answers))
    assert list(old.ids()) == [question.value for question in old.filed()] == ["pay?"]
    assert sorted(old.invoke(Command(resume="no"))["log"]) == ["late", "no", "step", "yes"]


@pytest.mark.parametrize("place", ["in the node", "in a nested graph"])
def test_what_a_call_asks_next_is_open_though_another_call_beside_it_is_refused(open_app, place):
    @task
    def confirm(text):
        return [interrupt(f"{text}?"), interrupt(f"{text}, really?")]

    fetch, look_up = (task(lambda what: what, name=name) for name in ("fetch", "look_up"))

    def shop(called):
        def node(state):
            calls = [confirm("pay"), called("rates")]
            return {"log": [call.result() for call in calls]}

        graph = line(node=node)
        return open_app(graph if place == "in the node" else line(inner=graph.compile()))

    first = shop(fetch)
    first.invoke(NEW)
    with pytest.raises(ReplayMismatch):
        shop(look_up).invoke(Command(resume="yes"))
    assert first.questions() == [question.value for question in first.filed()] == ["pay, really?"]
    assert first.invoke(Command(resume="sure"))["log"] == [["yes", "sure"], "rates"]


def test_what_a_node_asks_next_is_open_though_another_one_beside_it_in_a_nested_graph_is_refused(open_app):
    def twice(state):
        return {"log": [interrupt("pay?"), interrupt("pay, really?")]}

    def shop(source):
        return open_app(line(inner=beside(ask=code(source), twice=twice).compile()))

    first = shop(PLAIN)
    first.invoke(NEW)
    with pytest.raises(ReplayMismatch):
        shop(REWORDED).invoke(Command(resume=dict.fromkeys(first.ids().values(), "yes")))
    assert (
        sorted(first.questions()) == sorted(question.value for question in first.filed()) == ["pay, really?", "sure?"]
    )
    assert sorted(first.invoke(Command(resume=dict.fromkeys(first.ids().values(), "no")))["log"]) == ["no", "no", "yes"]


def test_what_a_program_that_is_accepted_does_not_ask_any_more_is_not_asked_beside_what_it_does(open_async_app):
    async def ask(what):
        return interrupt(what)

    def shop(*wanted):
        async def buy(state):
            return {"log": await asyncio.gather(*[ask(what) for what in wanted])}

        return open_async_app(beside(buy=buy))

    first = shop("tea?", "milk?")
    first.invoke(NEW)
    answer = Command(resume={first.ids()["tea?"]: "yes"})
    assert shop("tea?", "jam?").ask(answer, on_changed="accept") == ["jam?"]
