"""Histories: their shape, updates by a person, forks, replays."""

from .harness import Boom, Programs, by_step, thread, unordered
from .states import Counted, Log, a, b, c, d, noting

program = Programs()


def _chain(lib):
    return lib.graph(Log, a, b, c, edges="START>a>b>c>END")


def _shape(history):
    return [(snapshot.values, snapshot.next, snapshot.metadata) for snapshot in history]


def _at(history, *next_nodes):
    """The newest checkpoint before these nodes."""
    return next(snapshot for snapshot in history if snapshot.next == next_nodes)


@program
def p29_the_history_of_one_turn(lib):
    app = lib.saved(_chain(lib))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.history(thread())


@program
def p29_the_history_of_two_turns(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["one"]}, thread())
    app.invoke({"log": ["two"]}, thread())
    yield app.history(thread())


@program
def the_state_of_a_thread(lib):
    app = lib.saved(_chain(lib))
    yield app.get_state(thread())
    yield app.history(thread())
    app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread())
    yield app.get_state(thread("other"))


@program
def the_state_at_each_checkpoint(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield [app.get_state(snapshot.config) for snapshot in app.history(thread())]
    yield [app.get_state(snapshot.config) == snapshot for snapshot in app.history(thread())]


@program
def p4_a_saver_needs_a_thread_id(lib):
    app = lib.saved(_chain(lib))
    yield app.invoke({"log": []}, fails=True)
    yield app.invoke({"log": []}, {"configurable": {}}, fails=True)


@program
def there_is_no_state_without_a_saver(lib):
    app = lib.app(_chain(lib))
    yield app.get_state(thread(), fails=True)
    yield app.update_state(thread(), {"log": []}, fails=True)
    yield app.history(thread(), fails=True)


@program
def a_thread_id_may_be_a_number(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread(7))
    yield app.get_state(thread("7")).values


@program
def p37_metadata_has_the_extra_keys_of_configurable(lib):
    app = lib.saved(_chain(lib))
    config = {**thread("1", user="ana", level=3), "metadata": {"asked": "twice"}, "tags": ["tag"], "run_name": "name"}
    app.invoke({"log": ["in"]}, config)
    yield [snapshot.metadata for snapshot in app.history(thread())]
    app.update_state(thread("1", user="bob"), {"log": ["told"]})
    yield app.get_state(thread()).metadata
    yield app.get_state(thread()).config


@program
def history_by_limit_before_and_filter(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["one"]}, thread())
    app.invoke({"log": ["two"]}, thread())
    yield _shape(app.history(thread(), limit=2))
    middle = app.history(thread())[4]
    yield _shape(app.history(thread(), before=middle.config, limit=2))
    yield _shape(app.history(thread(), filter={"source": "input"}))
    yield _shape(app.history(thread(), filter={"step": 1}))


@program
def a_history_from_a_checkpoint(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["one"]}, thread())
    middle = app.history(thread())[2]
    yield _shape(app.history(middle.config))


@program
def the_history_of_parallel_nodes(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    app.invoke({"log": ["in"]}, thread())
    yield app.history(thread())


@program
def the_history_of_a_node_that_returns_nothing(lib):
    def silent(state):
        return None

    app = lib.saved(lib.graph(Log, a, silent, edges="START>a>silent>END"))
    app.invoke({"log": ["in"]}, thread())
    yield app.history(thread())


@program
def p34_an_update_acts_as_a_node(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def p34_an_update_without_as_node_is_by_who_wrote_last(lib):
    app = lib.saved(_chain(lib), interrupt_before=["c"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["told"]})
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p34_an_update_of_a_finished_thread(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]})
    yield app.get_state(thread())


@program
def p34_an_update_after_two_writers_is_ambiguous(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>c>END, START>b>c"), interrupt_before=["c"])
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, fails=True)
    app.update_state(thread(), {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())


@program
def p34_an_update_follows_conditional_edges(lib):
    def route(state):
        return "b" if "told" in state["log"] else "c"

    graph = lib.graph(Log, a, b, c, edges="START>a, b>END, c>END")
    graph.add_conditional_edges("a", route)
    app = lib.saved(graph)
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p34_an_update_counts_for_a_join(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a, START>b, a+b>c>END"))
    app.update_state(thread(), {"log": ["as a"]}, as_node="a")
    yield app.get_state(thread()).next
    app.update_state(thread(), {"log": ["as b"]}, as_node="b")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p34_an_update_with_nothing(lib):
    app = lib.saved(_chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None)
    yield app.get_state(thread())
    app.update_state(thread(), None, as_node="b")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p34_an_update_of_a_thread_that_has_not_begun(lib):
    app = lib.saved(_chain(lib))
    yield app.update_state(thread(), {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def an_update_as_the_start(lib):
    app = lib.saved(_chain(lib))
    app.update_state(thread(), {"log": ["told"]}, as_node=lib.START)
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def an_update_as_nobody_in_an_unborn_thread(lib):
    app = lib.saved(_chain(lib))
    yield app.update_state(thread(), {"log": ["told"]})
    yield app.get_state(thread())


@program
def an_update_as_an_unknown_node(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, as_node="nobody", fails=True)
    yield len(app.history(thread()))


@program
def an_update_with_another_kind_of_value(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), 5, as_node="a", fails=True)


@program
def p34_an_update_of_an_old_checkpoint_branches_there(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "b")
    yield app.update_state(old.config, {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def p34_a_fork_does_not_take_over_pending_writes(lib):
    calls = []

    def count(state):
        calls.append("count")
        return {"log": ["count"]}

    app = lib.saved(lib.graph(Log, count, b, c, edges="START>count>b>c>END"))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "count")
    fork = app.update_state(old.config, {"log": ["told"]}, as_node=lib.START)
    yield app.get_state(fork)
    yield app.invoke(None, fork)
    yield calls


@program
def updates_one_after_the_other(lib):
    app = lib.saved(_chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    for word in ("one", "two", "three"):
        app.update_state(thread(), {"log": [word]})
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield _shape(app.history(thread()))


@program
def p18_an_update_as_the_end_cancels_what_is_pending(lib):
    app = lib.saved(_chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), None, as_node=lib.END)
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.invoke({"log": ["again"]}, thread())


@program
def p18_an_update_as_the_end_keeps_what_finished_siblings_wrote(lib):
    def ask(state):
        return {"log": [lib.interrupt("?")]}

    app = lib.saved(lib.graph(Log, a, ask, edges="START>a>END, START>ask>END"))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None, as_node=lib.END)
    yield app.get_state(thread())


@program
def p18_an_update_as_the_end_takes_no_values(lib):
    app = lib.saved(_chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, as_node=lib.END, fails=True)


@program
def p30_a_replay_runs_what_comes_after(lib):
    calls = []

    def counting(name):
        def node(state):
            calls.append(name)
            return {"log": [name]}

        return node

    graph = lib.graph(Log, edges="START>a>b>c>END", a=counting("a"), b=counting("b"), c=counting("c"))
    app = lib.saved(graph)
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "b")
    calls.clear()
    yield app.stream(None, old.config, mode=["values", "updates"])
    yield calls
    yield app.history(thread())
    yield app.get_state(thread()).values


@program
def p30_two_replays_of_one_checkpoint(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "c")
    yield app.invoke(None, old.config)
    yield app.invoke(None, old.config)
    yield _shape(app.history(thread()))


@program
def p30_a_replay_from_the_input(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    first = app.history(thread())[-1]
    yield app.invoke(None, first.config)
    yield _shape(app.history(thread()))


@program
def p31_a_replay_of_a_finished_checkpoint_does_nothing(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    head = app.get_state(thread())
    yield app.invoke(None, head.config)
    yield app.get_state(thread()).values


@program
def p31_a_replay_of_the_end_of_an_earlier_turn(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["one"]}, thread())
    end = app.get_state(thread())
    app.invoke({"log": ["two"]}, thread())
    yield app.stream(None, end.config, mode=["values", "updates"])
    yield app.get_state(thread())
    yield _shape(app.history(thread()))
    yield app.invoke({"log": ["three"]}, thread())


@program
def new_input_at_an_old_checkpoint(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "b")
    yield app.invoke({"log": ["other"]}, old.config)
    yield _shape(app.history(thread()))
    yield app.get_state(thread()).parent_config is not None


@program
def a_run_from_a_checkpoint_that_does_not_exist(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    ghost = thread("1", checkpoint_id="1f0a0000-0000-6000-8000-000000000000")
    yield app.get_state(ghost).values


@program
def p35_a_copy_is_a_sibling(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "b")
    copy = app.update_state(old.config, None, as_node="__copy__")
    yield app.get_state(copy)
    yield app.invoke(None, copy)
    yield app.history(thread())


@program
def p35_a_copy_of_the_head(lib):
    app = lib.saved(_chain(lib), interrupt_before=["c"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None, as_node="__copy__")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p35_a_copy_with_other_results(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "b", "c")
    copy = app.update_state(old.config, [({"log": ["other b"]}, "b"), ({"log": ["other c"]}, "c")], as_node="__copy__")
    yield app.get_state(copy)
    yield app.invoke(None, copy)
    yield app.history(thread())


@program
def p36_a_bulk_update_makes_one_checkpoint_for_each_step(lib):
    app = lib.saved(_chain(lib))
    update = lib.StateUpdate
    yield app.bulk_update_state(
        thread(),
        [
            [update({"log": ["one"]}, as_node="a")],
            [update({"log": ["two"]}, as_node="b")],
        ],
    )
    yield app.history(thread())
    yield app.invoke(None, thread())


@program
def p36_a_bulk_update_rebuilds_a_conversation(lib):
    real = lib.saved(_chain(lib))
    real.invoke({"log": ["in"]}, thread())
    told = lib.saved(_chain(lib))
    update = lib.StateUpdate
    told.bulk_update_state(
        thread(),
        [
            [update({"log": ["in"]}, as_node="__input__")],
            [update({"log": ["in"]}, as_node=lib.START)],
            [update({"log": ["a"]}, as_node="a")],
            [update({"log": ["b"]}, as_node="b")],
            [update({"log": ["c"]}, as_node="c")],
        ],
    )
    yield told.history(thread())
    for app in (real, told):
        yield [(s.values, s.next, [(t.name, t.result) for t in s.tasks]) for s in app.history(thread())]
    yield told.invoke({"log": ["more"]}, thread())


@program
def p36_an_input_told_by_a_person(lib):
    app = lib.saved(_chain(lib))
    app.update_state(thread(), {"log": ["in"]}, as_node="__input__")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p36_a_bulk_update_of_parallel_nodes(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    update = lib.StateUpdate
    app.bulk_update_state(
        thread(),
        [
            [update({"log": ["as a"]}, as_node="a")],
            [update({"log": ["as c"]}, as_node="c"), update({"log": ["as b"]}, as_node="b")],
        ],
    )
    yield app.history(thread())
    yield app.invoke(None, thread())


@program
def p36_what_a_bulk_update_refuses(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["in"]}, thread())
    update = lib.StateUpdate
    for steps in (
        [],
        [[]],
        [[update(None, lib.END), update({"log": []}, "a")]],
        [[update(None, "__copy__"), update({"log": []}, "a")]],
        [[update({"log": []}, "a"), update({"log": []}, "nobody")]],
    ):
        yield app.bulk_update_state(thread(), steps, fails=True)
    yield len(app.history(thread()))


@program
def p36_a_bulk_update_with_sends(lib):
    def plan(state):
        return lib.Command(goto=[lib.Send("work", n) for n in (1, 2)])

    def work(state):
        return {"log": [f"work {state}"]}

    def fan(state):
        return [lib.Send("work", n) for n in (1, 2)]

    graph = lib.graph(Log, a, work, edges="START>a, work>END")
    graph.add_conditional_edges("a", fan)
    app = lib.saved(graph)
    app.update_state(thread(), {"log": ["as a"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def an_update_of_one_of_several_pending_tasks(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>END, START>b>END, c>END"), interrupt_before=["a", "b"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["as a"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p20_new_input_after_a_failure_is_a_new_turn(lib):
    broken = [True]

    def fragile(state):
        if broken:
            raise Boom("broken")
        return {"log": ["mended"]}

    app = lib.saved(lib.graph(Log, a, fragile, edges="START>a>fragile>END"))
    yield app.invoke({"log": ["one"]}, thread(), fails=True)
    broken.clear()
    yield app.invoke({"log": ["two"]}, thread())
    yield app.history(thread())


@program
def p19_a_failure_stays_in_the_history(lib):
    def fragile(state):
        raise Boom("broken")

    app = lib.saved(lib.graph(Log, a, fragile, edges="START>a>fragile>END"))
    app.invoke({"log": ["in"]}, thread(), fails=True)
    yield app.get_state(thread())
    yield app.invoke(None, thread(), fails=True)
    yield app.history(thread())


@program
def p19_a_repaired_failure(lib):
    def fragile(state):
        if "mended" not in state["log"]:
            raise Boom("broken")
        return {"log": ["fragile"]}

    app = lib.saved(lib.graph(Log, a, fragile, edges="START>a>fragile>END"))
    app.invoke({"log": ["in"]}, thread(), fails=True)
    app.update_state(thread(), {"log": ["mended"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield _shape(app.history(thread()))


@program
def threads_do_not_know_each_other(lib):
    app = lib.saved(_chain(lib))
    app.invoke({"log": ["one"]}, thread("1"))
    app.invoke({"log": ["two"]}, thread("2"))
    app.invoke({"log": ["three"]}, thread("1"))
    yield app.get_state(thread("1")).values
    yield app.get_state(thread("2")).values


@program
def a_deleted_thread_begins_anew(lib):
    saver = lib.saver()
    app = lib.app(_chain(lib), checkpointer=saver)
    app.invoke({"log": ["one"]}, thread())
    lib.call(saver.adelete_thread if lib.is_async else saver.delete_thread, "1")
    yield app.history(thread())
    yield app.invoke({"log": ["two"]}, thread())


@program
def a_second_graph_with_more_keys_reads_the_thread(lib):
    saver = lib.saver()
    lib.app(_chain(lib), checkpointer=saver).invoke({"log": ["one"]}, thread())
    wider = lib.app(lib.graph(Counted, a, d, edges="START>a>d>END"), checkpointer=saver)
    yield wider.get_state(thread()).values
    yield wider.invoke({"count": 3}, thread())


@program
def an_update_by_task_id(lib):
    def plan(state):
        return lib.Command(goto=[lib.Send("work", n) for n in (1, 2)])

    def work(state):
        return {"log": [f"work {state}"]}

    app = lib.saved(lib.graph(Log, plan, work, edges="START>plan, work>END"), interrupt_before=["work"])
    app.invoke({"log": ["in"]}, thread())
    task = app.get_state(thread()).tasks[1]
    app.update_state(thread(), {"log": ["told"]}, as_node="work", task_id=task.id)
    yield app.get_state(thread())
    yield unordered(app.stream(None, thread(), mode="updates"))


@program
def parallel_updates_in_the_stream_after_a_fork(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    app.invoke({"log": ["in"]}, thread())
    old = _at(app.history(thread()), "b", "c")
    yield by_step(app.stream(None, old.config, mode=["updates", "values"]))


@program
def a_deferred_node_and_an_update(lib):
    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_node("late", noting("late"), defer=True)
    app = lib.saved(lib.connect(graph, "a>late>END"), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())
    yield _shape(app.history(thread()))


test_same = program.as_test()
