"""What is in memory, and what guards it, in a forked child."""

import multiprocessing
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import pytest

from forking import said_by_child
from signoff import _forks
from signoff._forks import Inherited, free, left, watch, whole
from signoff.cache.memory import InMemoryCache
from signoff.checkpoint import ids
from signoff.checkpoint.memory import InMemorySaver
from signoff.config import RunnableConfig
from signoff.drivers.calls import soon
from signoff.errors import InvalidInput, OutsideOfRun
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.store.memory import InMemoryStore
from signoff.types import Command, interrupt
from strict import STRICT_PYTHON

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    answer: str


def graph() -> Any:
    def ask(state: State) -> State:
        return {"answer": interrupt("Well?")}

    return StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=InMemorySaver())


@contextmanager
def held(lock: Any) -> Iterator[None]:
    """Another thread has a lock meanwhile."""
    has_it, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            has_it.set()
            is_over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    has_it.wait()
    yield
    is_over.set()
    thread.join()


def test_a_graph_in_memory_goes_on_in_a_child_with_a_copy_of_its_own():
    app = graph()
    app.invoke({}, CONFIG)
    assert said_by_child(lambda: app.invoke(Command(resume="child"), CONFIG)["answer"]) == "child"
    assert app.get_state(CONFIG).interrupts  # the parent's question is still open
    assert app.invoke(Command(resume="parent"), CONFIG)["answer"] == "parent"


def test_a_graph_in_memory_works_in_a_process_of_multiprocessing():
    app, context = graph(), multiprocessing.get_context("fork")
    app.invoke({}, CONFIG)
    answers = context.SimpleQueue()
    process = context.Process(target=lambda: answers.put(app.invoke(Command(resume="child"), CONFIG)["answer"]))
    process.start()
    process.join()
    assert (process.exitcode, answers.get()) == (0, "child")


def test_tasks_run_in_a_child():
    """They are begun by threads, and those of the parent are not there."""

    @task
    def double(number: int) -> int:
        return 2 * number

    @entrypoint()
    def program(numbers: list[int]) -> list[int]:
        return [future.result() for future in [double(number) for number in numbers]]

    assert program.invoke([1, 2, 3]) == [2, 4, 6]
    with held(soon._lock):
        assert said_by_child(lambda: program.invoke([1, 2, 3])) == "[2, 4, 6]"


def ask_now() -> Any:
    return interrupt("Well?")


@task
def pay() -> str:
    return "paid"


@pytest.mark.parametrize("work", [ask_now, lambda: pay().result()], ids=["asks", "calls"])
def test_a_process_that_a_node_forks_off_has_no_part_in_its_run(work: Callable[[], Any]):
    """The node would not hear of what is asked there, nor of what was done: it would be done twice."""

    @entrypoint(checkpointer=InMemorySaver())
    def program(input: str) -> list[str]:
        return [said_by_child(work), str(pay().result()), interrupt("Sure?")]

    assert [question.value for question in program.invoke("", CONFIG)["__interrupt__"]] == ["Sure?"]
    refused, *rest = program.invoke(Command(resume="yes"), CONFIG)
    assert refused.startswith("OutsideOfRun: This process was forked off by node 'program'")
    assert rest == ["paid", "yes"]


def test_a_graph_runs_by_itself_in_a_process_that_a_node_forks_off():
    def say(state: State) -> State:
        return {"answer": "said"}

    there = StateGraph(State).add_node("say", say).add_edge(START, "say").compile()

    @entrypoint(checkpointer=InMemorySaver())
    def program(input: str, config: RunnableConfig) -> list[str]:
        return [said_by_child(lambda: there.invoke({})), said_by_child(lambda: there.invoke({}, config))]

    assert program.invoke("", CONFIG) == ["{'answer': 'said'}"] * 2


def test_a_pool_of_processes_is_not_waited_for_when_one_of_them_asks():
    """A pause that ends the process is not what its pool waits for; an error is."""

    def ask(state: State) -> State:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return {"answer": pool.apply(ask_now)}

    app = StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=InMemorySaver())
    with pytest.raises(OutsideOfRun, match="Ask, and call tasks, in the node itself"):
        app.invoke({}, CONFIG)


@pytest.mark.parametrize(
    ("lock_of", "use"),
    [
        (lambda: InMemorySaver(), lambda saver: saver.get_tuple(CONFIG)),
        (lambda: InMemoryStore(), lambda store: store.get(("a",), "b")),
        (lambda: InMemoryCache(), lambda cache: cache.get([(("a",), "b")]).get("c")),
        (lambda: ids, lambda module: None if module.uuid6() else "no id"),
    ],
    ids=["saver", "store", "cache", "ids"],
)
def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have(
    lock_of: Callable[[], Any], use: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(_forks, "_WAIT_S", 0.01)
    owner = lock_of()
    with held(owner._lock):
        assert said_by_child(lambda: use(owner)) == "None"
    assert use(owner) is None


def test_a_fork_waits_until_a_change_is_whole():
    """The thread ends its change once the fork has begun."""
    lock, halves, is_forking = whole(threading.Lock()), [], threading.Event()
    has_begun = threading.Event()

    def change() -> None:
        with lock:
            halves.append("one")
            has_begun.set()
            is_forking.wait()
            halves.append("two")

    os.register_at_fork(before=is_forking.set)
    thread = threading.Thread(target=change)
    thread.start()
    has_begun.wait()
    assert said_by_child(lambda: (halves, lock.locked())) == "(['one', 'two'], False)"
    thread.join()
    assert not lock.locked()


def test_a_thread_that_forks_with_a_lock_in_its_hands_still_has_it_in_the_child():
    lock = whole(threading.RLock())

    def let_go() -> str:
        lock.release()
        return "had it"

    with lock:
        assert said_by_child(let_go) == "had it"


def test_several_threads_may_fork_at_once():
    locks = [whole(threading.Lock()) for _ in range(20)]
    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(said_by_child(lambda: "here"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == ["here"] * 8
    assert not any(lock.locked() for lock in locks)


def test_a_lock_is_the_same_one_in_the_child_and_free():
    lock = free(threading.Lock())
    known = {"to others": lock}
    with held(lock):
        assert said_by_child(lambda: lock.acquire(timeout=0) and known["to others"] is lock) == "True"


def test_what_is_left_to_the_parent_may_be_closed_and_nothing_else():
    class Owner:
        def __init__(self) -> None:
            self.conn: Any = object()
            watch(self)

        def after_fork(self) -> None:
            self.conn = left(self.conn)

    owner = Owner()
    assert said_by_child(lambda: owner.conn.close()) == "None"
    assert "Open one in each process, after the fork" in said_by_child(lambda: owner.conn.execute)
    assert not isinstance(owner.conn, Inherited)


def test_what_refuses_is_a_mistake_in_the_call():
    with pytest.raises(InvalidInput, match="belongs to the process that opened it"):
        Inherited().execute("SELECT 1")


LEAVING = """
import os, sqlite3, sys
from contextlib import closing
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.store.sqlite import SqliteStore

def note(what, write=os.write, getpid=os.getpid, parent=os.getpid()):
    write(1, f"{what} in {'parent' if getpid() == parent else 'child'}\\n".encode())

class Noted(sqlite3.Connection):
    def close(self):
        note("closed")
        super().close()

    def __del__(self, note=note):  # at the end of a process, there are no names any more
        note("gone")

saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False, factory=Noted))
saver.setup()
with closing(saver), SqliteStore.from_conn_string(sys.argv[1]) as store:
    store.put(("a",), "b", {})
    child = os.fork()
    if child == 0:
        sys.exit(3)  # through the ends of the blocks, and all that Python does at its end
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    store.put(("a",), "c", {})
    print(len(store.search(("a",))), saver.get_tuple({"configurable": {"thread_id": "1"}}), flush=True)
"""


def test_a_child_that_ends_closes_nothing_of_its_parents(tmp_path: Any):
    """SQLite forbids it, even as the last thing that a process does."""
    done = subprocess.run(
        [*STRICT_PYTHON, "-X", "dev", "-c", LEAVING, tmp_path / "a.db"], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["2 None", "closed in parent", "gone in parent"], done.stderr
