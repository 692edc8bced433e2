"""Pauses in entrypoints and tasks, and what is not run again after them."""

from .harness import Boom, Programs, thread

program = Programs()


def _values(result):
    return [question.value for question in result["__interrupt__"]]


@program
def a_later_pause_comes_with_what_the_turn_before_returned(lib):
    def flow(amount):
        return {"paid": [amount, lib.interrupt("sure?")]}

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield app.invoke(2, thread())
    yield app.invoke(None, thread(), version="v2")
    yield app.stream(None, thread(), mode="values")[-1]


@program
def a_later_pause_of_a_flow_that_returns_no_dict(lib):
    def flow(amount):
        return [amount, lib.interrupt("sure?")]

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke(1, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    yield app.invoke(2, thread())
    yield app.invoke(None, thread(), version="v2")
    yield app.stream(None, thread(), mode="values")


@program
def p3_an_entrypoint_asks(lib):
    def flow(n):
        return {"answer": lib.interrupt({"about": n})}

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread())
    yield app.stream(None, thread(), mode=["updates", "values"])
    yield app.invoke(lib.Command(resume="yes"), thread())


@program
def p54_finished_tasks_are_not_run_again(lib):
    calls = []

    @lib.task
    def work(n):
        calls.append(n)
        return n * 10

    def flow(n):
        results = [work(n).result(), work(n + 1).result()]
        answer = lib.interrupt(results)
        results.append(work(n + 2).result())
        return [answer, *results]

    app = lib.flow(flow, checkpointer=lib.saver())
    yield _values(app.invoke(1, thread()))
    yield app.stream(lib.Command(resume="yes"), thread(), mode="updates")
    yield calls


@program
def p26_a_falsy_result_counts_as_finished(lib):
    calls = []

    @lib.task
    def work(n):
        calls.append(n)
        return n

    def flow(_):
        results = [work(n).result() for n in (0, None, False, "")]
        return [*results, lib.interrupt("?")]

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke("go", thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program
def p15_a_task_that_asks(lib):
    calls = []

    @lib.task
    def before(n):
        calls.append("before")
        return n + 1

    @lib.task
    def ask(n):
        calls.append("ask")
        return f"{n} {lib.interrupt(n)}"

    def flow(n):
        return ask(before(n).result()).result()

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread())
    yield _values(app.invoke(None, thread()))
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls.count("before")


@program
def p15_several_asking_tasks_one_after_the_other(lib):
    @lib.task
    def ask(n):
        return lib.interrupt(n)

    def flow(n):
        return [ask(n).result(), ask(n + 1).result(), lib.interrupt("last")]

    app = lib.flow(flow, checkpointer=lib.saver())
    yield _values(app.invoke(1, thread()))
    for answer in ("one", "two"):
        yield _values(app.invoke(lib.Command(resume=answer), thread()))
        yield [question.value for question in app.get_state(thread()).interrupts]
    yield app.invoke(lib.Command(resume="three"), thread())


@program
def p1_several_questions_in_an_entrypoint(lib):
    def flow(n):
        return [lib.interrupt(f"question {number}") for number in range(3)]

    app = lib.flow(flow, checkpointer=lib.saver())
    yield _values(app.invoke(1, thread()))
    yield _values(app.invoke(lib.Command(resume="a"), thread()))
    yield _values(app.invoke(lib.Command(resume="b"), thread()))
    yield app.invoke(lib.Command(resume="c"), thread())


@program
def a_task_called_in_a_node(lib):
    from .states import Log, a

    calls = []

    @lib.task
    def work(n):
        calls.append(n)
        return f"work {n}"

    def node(state):
        first = work(1).result()
        answer = lib.interrupt("?")
        return {"log": [first, answer, work(2).result()]}

    app = lib.saved(lib.graph(Log, a, node, edges="START>a>node>END"))
    yield app.stream({"log": []}, thread(), mode="updates")
    yield app.stream(lib.Command(resume="yes"), thread(), mode="updates")
    yield calls


@program
def the_state_of_a_paused_entrypoint(lib):
    @lib.task
    def double(n):
        return n * 2

    def flow(n):
        return [double(n).result(), lib.interrupt("?")]

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke(4, thread())
    snapshot = app.get_state(thread())
    yield snapshot.values, snapshot.next, snapshot.metadata
    yield [(task.name, task.path, task.result, len(task.interrupts)) for task in snapshot.tasks]


@program.only_async
def an_async_task_that_asks(lib):
    @lib.task
    async def ask(n):
        return lib.interrupt(n)

    async def flow(n):
        first = await ask(n)
        second = await ask(n + 1)
        return [first, second]

    app = lib.flow(flow, checkpointer=lib.saver())
    yield _values(app.invoke(1, thread()))
    yield _values(app.invoke(lib.Command(resume="one"), thread()))
    yield app.invoke(lib.Command(resume="two"), thread())


def _choosing(lib, ran):
    """A flow that calls one task or another, and then asks in a third, or fails."""

    @lib.task
    def one(n):
        ran.append(("one", n))
        return n

    @lib.task
    def other(n):
        ran.append(("other", n))
        return -n

    @lib.task
    def confirm():
        return lib.interrupt("sure?")

    def flow(n):
        found = (one if n % 2 else other)(n).result()
        if n > 10:
            raise Boom("too much")
        return [found, confirm().result()]

    return lib.flow(flow, checkpointer=lib.saver())


@program
def what_an_earlier_turn_was_answered_is_not_for_the_next_one(lib):
    ran = []
    app = _choosing(lib, ran)
    app.invoke(1, thread())
    app.invoke(lib.Command(resume="yes"), thread())
    asked = next(old for old in app.history(thread()) if old.tasks)
    yield _values(app.invoke(1, asked.config))
    yield app.invoke(lib.Command(resume="no"), thread())
    yield _values(app.invoke(2, asked.config))
    yield app.invoke(lib.Command(resume="neither"), thread())
    yield _values(app.invoke(None, asked.config))
    yield app.invoke(lib.Command(resume="still"), thread())
    yield ran


@program
def a_new_turn_after_a_failure_may_make_other_calls(lib):
    ran = []
    app = _choosing(lib, ran)
    yield app.invoke(11, thread(), fails=True)
    yield app.invoke(12, thread(), fails=True)
    yield app.invoke(None, thread(), fails=True)
    yield _values(app.invoke(2, thread()))
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield ran


@program
def a_replay_may_make_other_calls(lib):
    way, ran = ["one"], []

    @lib.task
    def one():
        ran.append("one")

    @lib.task
    def other():
        ran.append("other")

    def flow(n):
        (one if way == ["one"] else other)().result()
        return way[0]

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke(1, thread())
    way[0] = "other"
    began = app.history(thread())[-1]
    yield app.invoke(None, began.config)
    yield ran


test_same = program.as_test()
