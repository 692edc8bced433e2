"""Promise 3: of many answers to one question, one is taken; and one run at a time has a thread."""

import asyncio
import signal
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import AlreadyAnswered, LeaseLost, ThreadBusy
from signoff.types import Command, interrupt

from .desk import Desk, Process
from .programs import NEW, Works, asking, beside, line
from .ways import SERVER_WAYS, on_thread

ON_SERVERS = SERVER_WAYS

REFUSALS = {"AlreadyAnswered", "ThreadBusy"}


def judge(told, works, waves, at_a_time):
    """One winner a wave, all others refused, the work done once."""
    assert len(told) == waves
    for wave in told:
        names = Counter(type(one).__name__ for one in wave)
        assert names["dict"] == 1
        assert names.keys() <= {"dict", *REFUSALS}
        assert names.total() == at_a_time
    assert works.done == {"pay": waves}


def test_of_many_answers_at_once_one_wins(open_app):
    works = Works()
    app = open_app(line(ask=asking("pay?"), pay=works.node("pay")))
    told = []
    for number in range(2):
        config = on_thread(str(number))
        app.invoke(NEW, config)
        told.append(app.at_once([Command(resume=n, by=f"person {n}") for n in range(8)], config))
        assert (app.ids(config), app.filed(thread_id=str(number))) == ({}, [])
    judge(told, works, 2, 8)


def test_a_loser_is_told_who_won(open_app):
    app = open_app(beside(ask=asking("pay?")))
    app.invoke(NEW)
    told = app.at_once([Command(resume=name, by=name) for name in ("ana", "ben")])
    winner = next(one for one in told if isinstance(one, dict))["log"][0]
    with pytest.raises(AlreadyAnswered, match=f"'pay.'.* was answered by {winner} at 20"):
        app.invoke(Command(resume="late"))


class Overtaken(InMemorySaver):
    """A saver on which somebody else is quicker than the run that has just looked at a thread."""

    quicker = None

    def look(self, config):
        seen, quicker, self.quicker = super().look(config), self.quicker, None
        if quicker is not None:
            quicker()
        return seen


@pytest.mark.parametrize("is_named", [False, True])
def test_an_answer_that_was_overtaken_is_not_given_to_the_question_after(is_named):
    saver, config = Overtaken(), on_thread("1")
    app = line(first=asking("pay 9?"), second=asking("pay 900?")).compile(checkpointer=saver)
    (first,) = app.invoke(NEW, config)["__interrupt__"]
    saver.quicker = lambda: app.invoke(Command(resume="no", by="ana"), config)
    with pytest.raises(AlreadyAnswered, match=r"'pay 9\?'.* was answered by ana"):
        app.invoke(Command(resume={first.id: "yes"} if is_named else "yes"), config)
    state = app.get_state(config)
    assert ([question.value for question in state.interrupts], state.values) == (["pay 900?"], {"log": ["no"]})


def test_answers_to_different_questions_at_once_do_not_get_lost(open_app):
    works = Works()
    app = open_app(beside(one=works.asking("one"), two=works.asking("two"), three=works.asking("three")))
    app.invoke(NEW)
    left = [Command(resume={id: "yes"}) for id in app.ids().values()]
    while left:
        told = app.at_once(left)
        assert any(isinstance(one, dict) for one in told), "somebody gets through each time"
        assert all(isinstance(one, dict | ThreadBusy) for one in told)
        left = [answer for answer, one in zip(left, told, strict=True) if isinstance(one, ThreadBusy)]
    assert app.get_state().values == {"log": ["one: yes", "three: yes", "two: yes"]}
    assert works.done == {"one": 2, "two": 2, "three": 2}


def test_of_many_new_inputs_at_once_none_overwrites_another(open_app):
    app = open_app(beside(work=lambda state: {}))
    told = app.at_once([{"log": [number]} for number in range(6)])
    taken = [one for one in told if isinstance(one, dict)]
    assert taken
    assert all(isinstance(one, dict | ThreadBusy) for one in told)
    assert sorted(app.get_state().values["log"]) == sorted(n for n, one in enumerate(told) if isinstance(one, dict))


def test_two_hundred_threads_in_waves_in_memory():
    works = Works()
    app = line(ask=asking("pay?"), pay=works.node("pay")).compile(checkpointer=InMemorySaver())
    told = []
    with ThreadPoolExecutor(20) as people:
        for number in range(10):
            config = on_thread(str(number))
            app.invoke(NEW, config)
            together = threading.Barrier(20)
            clicks = [people.submit(_click, app, config, together, person) for person in range(20)]
            told.append([click.exception() or click.result() for click in clicks])
            assert app.get_state(config).interrupts == ()
    judge(told, works, 10, 20)


def _click(app, config, together, person):
    together.wait()
    return app.invoke(Command(resume=person), config)


def test_two_hundred_coroutines_in_waves_in_memory():
    works = Works()
    app = line(ask=asking("pay?"), pay=works.node("pay")).compile(checkpointer=InMemorySaver())

    async def wave(number):
        config = on_thread(str(number))
        await app.ainvoke(NEW, config)
        clicks = [app.ainvoke(Command(resume=person), config) for person in range(20)]
        return await asyncio.gather(*clicks, return_exceptions=True)

    async def waves():
        return await asyncio.gather(*map(wave, range(10)))

    judge(asyncio.run(waves()), works, 10, 20)


def test_two_hundred_answers_of_processes_in_waves(tmp_path):
    answers_of_processes(tmp_path, (), 20)


def test_fifty_answers_of_processes_in_waves_on_a_server(tmp_path, server_place):
    answers_of_processes(tmp_path, server_place, 5)


def answers_of_processes(folder, place, waves):
    """Ten processes answer the same question at once, wave by wave; every other one is async."""
    desk = Desk(str(folder), place=place)
    people = [Process(folder, place=place) for _ in range(10)]
    try:
        for number in range(waves):
            thread = str(number)
            desk.run({"thread": thread, "input": {"log": []}})
            for person, process in enumerate(people):
                process.tell(thread=thread, answer="yes", by=str(person), is_async=person % 2 == 1)
            told = [process.hear() for process in people]
            assert len([one for one in told if isinstance(one, list)]) == 1
            assert {one.partition(":")[0] for one in told if isinstance(one, str)} <= REFUSALS
    finally:
        for process in people:
            process.close()
    counts = Counter(desk.done())
    assert (counts["pay"], counts["after the answer"], counts["fetch market"]) == (waves, waves, waves)
    assert desk.run({"thread": "0", "answer": "late"}).startswith("AlreadyAnswered")


# One run at a time


def test_a_second_run_is_refused_while_the_first_one_runs(open_app):
    heard = []

    def work(state):
        if state["log"] == ["first"]:
            with ThreadPoolExecutor(1) as other:
                heard.append(other.submit(app.invoke, {"log": ["second"]}).exception())
                heard.append(other.submit(app.update_state, {"log": ["by hand"]}, as_node="work").exception())
                heard.append(other.submit(app.get_state).result().next)

    app = open_app(beside(work=work))
    assert app.invoke({"log": ["first"]}) == {"log": ["first"]}
    busy, changed, read = heard
    assert isinstance(busy, ThreadBusy)
    assert isinstance(changed, ThreadBusy)
    assert "Another run has thread '1' just now: process" in str(busy)
    assert read == ("work",)
    assert app.invoke({"log": ["third"]}) == {"log": ["first", "third"]}


def test_other_threads_are_not_held_up(open_app):
    def work(state):
        if state["log"] == ["first"]:
            with ThreadPoolExecutor(1) as other:
                return {"log": other.submit(app.invoke, {"log": ["other"]}, on_thread("2")).result()["log"]}
        return {}

    app = open_app(beside(work=work))
    assert app.invoke({"log": ["first"]}) == {"log": ["first", "other"]}


def test_a_run_that_failed_or_paused_has_let_go_of_its_thread(open_app):
    broken = [True]

    def work(state):
        if broken:
            raise LookupError("not today")
        return {"log": [interrupt("sure?")]}

    app = open_app(beside(work=work))
    with pytest.raises(LookupError):
        app.invoke(NEW)
    broken.clear()
    assert app.ask(None) == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["yes"]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_slept_too_long_cannot_overwrite_its_successor(open_app_with_clock, durability):
    now = [1000.0]

    def work(state):
        if state["log"] == ["first"]:
            now[0] += 3600
            with ThreadPoolExecutor(1) as other:
                assert other.submit(app.invoke, {"log": ["second"]}).result()["log"][-1] == "second"
            return {"log": ["late"]}
        return {}

    app = open_app_with_clock(line(work=work, after=lambda state: {}), lease_s=60.0, clock=lambda: now[0])
    with pytest.raises(LeaseLost, match="Thread '1' was taken over by another run"):
        app.invoke({"log": ["first"]}, durability=durability)
    assert "late" not in app.get_state().values["log"]
    assert app.get_state().values["log"][-1] == "second"


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_whose_thread_is_deleted_and_begun_anew_leaves_it_alone(open_app, durability):
    def work(state):
        if state["log"] == ["old"]:
            with ThreadPoolExecutor(1) as other:
                other.submit(begin_anew).result()
        return {"log": ["worked"]}

    def begin_anew():
        with app.storage.opened() as saver:
            saver.delete_thread("1")
        assert app.ask({"log": ["new"]}) == ["sure?"]

    app = open_app(line(work=work, ask=asking("sure?")))
    with pytest.raises(LeaseLost, match="Thread '1' .* was deleted"):
        app.invoke({"log": ["old"]}, durability=durability)
    assert [one.value for one in app.filed()] == ["sure?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["new", "worked", "yes"]}


def test_a_lease_that_has_not_run_out_is_not_taken(open_app_with_clock):
    now = [1000.0]

    def work(state):
        now[0] += 59
        with ThreadPoolExecutor(1) as other:
            return {"log": [type(other.submit(app.invoke, NEW).exception()).__name__]}

    app = open_app_with_clock(beside(work=work), lease_s=60.0, clock=lambda: now[0])
    assert app.invoke(NEW) == {"log": ["ThreadBusy"]}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_suspended_process_that_wakes_up_late_is_told_so(tmp_path, is_async):
    """The same on servers, at every moment: test_storms.py."""
    desk, process = Desk(str(tmp_path)), Process(tmp_path, stop_at="pay")
    try:
        order = {"thread": "1", "lease_s": 1.0, "is_async": is_async, "settings": {"durability": "sync"}}
        desk.run({"thread": "1", "input": {"log": []}})
        process.tell(**order, answer="yes")
        assert process.hear() == "stopped"
        assert desk.run({"thread": "1"}).startswith("ThreadBusy")
        suspend(process, desk)
        while isinstance(result := desk.run({"thread": "1"}), str):
            assert result.startswith("ThreadBusy"), result
            threading.Event().wait(0.1)
        assert result[-1] == "pay"
        process.signal(signal.SIGCONT)
        process.tell()
        assert process.hear().startswith("LeaseLost: Thread '1' was taken over by another run")
    finally:
        process.close()
    assert desk.run({"thread": "1"}) == result
    assert Counter(desk.done())["after the answer"] == 1


def suspend(process, desk):
    """Suspend a process, but not while it writes: SQLite would wait for it."""
    with closing(sqlite3.connect(desk.file, timeout=0, isolation_level=None)) as file:
        while True:
            process.process.suspend()
            try:
                file.execute("BEGIN IMMEDIATE")
                file.execute("ROLLBACK")
                return
            except sqlite3.OperationalError:
                process.signal(signal.SIGCONT)


def test_processes_that_are_only_slow_keep_their_threads(tmp_path, every_place):
    desks, processes = [], []
    with ExitStack() as stack:
        for number, place in enumerate(every_place):
            (folder := tmp_path / str(number)).mkdir()
            desks.append(Desk(str(folder), place=place))
            process = stack.enter_context(closing(Process(folder, stop_at="check", place=place)))
            processes.append(process)
            process.tell(thread="1", lease_s=3.0, input={"log": []})
        assert [process.hear() for process in processes] == ["stopped"] * 3
        for _ in range(12):
            for desk in desks:
                assert desk.run({"thread": "1"}).startswith("ThreadBusy")
            threading.Event().wait(0.3)
        for process in processes:
            process.tell()
            assert sorted(process.hear()) == ["check", "fetch market", "fetch risk"]


def test_the_thread_of_a_killed_process_is_free_at_once(tmp_path):
    desk, process = Desk(str(tmp_path)), Process(tmp_path, stop_at="pay")
    desk.run({"thread": "1", "input": {"log": []}})
    process.tell(thread="1", answer="yes", lease_s=3600.0, settings={"durability": "sync"})
    assert process.hear() == "stopped"
    process.close()
    assert desk.run({"thread": "1"})[-1] == "pay"
    assert Counter(desk.done())["after the answer"] == 1
