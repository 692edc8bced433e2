"""Updates by a person: as a node, in bulk, as a copy, as the end."""

from .harness import Programs, thread, unordered
from .states import Counted, Log, a, b, before, c, chain, d, noting, shapes

program = Programs()


@program
def p34_an_update_acts_as_a_node(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def p34_an_update_without_as_node_is_by_who_wrote_last(lib):
    app = lib.saved(chain(lib), interrupt_before=["c"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["told"]})
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p34_an_update_of_a_finished_thread(lib):
    app = lib.saved(chain(lib))
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
    app = lib.saved(chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None)
    yield app.get_state(thread())
    app.update_state(thread(), None, as_node="b")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p34_an_update_of_a_thread_that_has_not_begun(lib):
    app = lib.saved(chain(lib))
    yield app.update_state(thread(), {"log": ["told"]}, as_node="a")
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def an_update_as_the_start(lib):
    app = lib.saved(chain(lib))
    app.update_state(thread(), {"log": ["told"]}, as_node=lib.START)
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def an_update_as_nobody_in_an_unborn_thread(lib):
    app = lib.saved(chain(lib))
    yield app.update_state(thread(), {"log": ["told"]})
    yield app.get_state(thread())


@program
def an_update_as_an_unknown_node(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, as_node="nobody", fails=True)
    yield len(app.history(thread()))


@program
def an_update_with_another_kind_of_value(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), 5, as_node="a", fails=True)


@program
def p34_an_update_of_an_old_checkpoint_branches_there(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = before(app.history(thread()), "b")
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
    old = before(app.history(thread()), "count")
    fork = app.update_state(old.config, {"log": ["told"]}, as_node=lib.START)
    yield app.get_state(fork)
    yield app.invoke(None, fork)
    yield calls


@program
def p34_an_update_of_an_old_checkpoint_leaves_what_ran_from_there_as_it_is(lib):
    app = lib.saved(lib.graph(Counted, a, b, c, edges="START>a>b>END, a>c>END"), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    stopped = app.get_state(thread()).config
    for name in ("b", "c"):
        app.update_state(stopped, {"log": [f"as {name}"]}, as_node=name)
        app.update_state(stopped, {"log": [f"as {name} again"], "count": 1}, as_node=name)
    yield app.history(thread())
    yield app.invoke(None, stopped)
    yield app.update_state(stopped, {"log": ["anew"], "count": 2}, as_node="b")
    yield app.history(thread())


@program
def an_update_as_a_node_that_has_finished_leaves_what_it_came_to_in_the_history(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Counted, a, ask, c, edges="START>ask>END, START>a>c>END"))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), {"log": ["by hand"], "count": 1}, as_node="a")
    yield [(old.values, [(task.name, task.result) for task in old.tasks]) for old in app.history(thread())]


@program
def updates_one_after_the_other(lib):
    app = lib.saved(chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    for word in ("one", "two", "three"):
        app.update_state(thread(), {"log": [word]})
    yield app.get_state(thread())
    yield app.invoke(None, thread())
    yield shapes(app.history(thread()))


@program
def p18_an_update_as_the_end_cancels_what_is_pending(lib):
    app = lib.saved(chain(lib), interrupt_before=["b"])
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
def to_end_a_step_that_was_changed_since_keeps_what_it_had_finished(lib):
    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    app = lib.saved(lib.graph(Log, a, c, ask, edges="START>a>c, START>ask"))
    app.invoke({"log": []}, thread())
    paused = app.get_state(thread()).config
    app.update_state(thread(), {"log": ["by hand"]}, as_node="ask")
    app.update_state(paused, None, as_node=lib.END)
    yield app.get_state(thread()).values
    yield app.invoke(None, thread())


@program
def a_join_whose_node_was_ended_waits_for_all_again(lib):
    def ask(state):
        return {"log": [lib.interrupt("?")]}

    app = lib.saved(lib.graph(Log, a, b, c, ask, edges="START>a, START>b>c, a+b>ask"))
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None, as_node=lib.END)
    app.update_state(thread(), {"log": ["told"]}, as_node="b")
    yield app.invoke(None, thread())


@program
def p18_an_update_as_the_end_takes_no_values(lib):
    app = lib.saved(chain(lib), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    yield app.update_state(thread(), {"log": ["told"]}, as_node=lib.END, fails=True)


@program
def p35_a_copy_is_a_sibling(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = before(app.history(thread()), "b")
    copy = app.update_state(old.config, None, as_node="__copy__")
    yield app.get_state(copy)
    yield app.invoke(None, copy)
    yield app.history(thread())


@program
def p35_a_copy_of_the_head(lib):
    app = lib.saved(chain(lib), interrupt_before=["c"])
    app.invoke({"log": ["in"]}, thread())
    app.update_state(thread(), None, as_node="__copy__")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p35_a_copy_with_other_results(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    app.invoke({"log": ["in"]}, thread())
    old = before(app.history(thread()), "b", "c")
    copy = app.update_state(old.config, [({"log": ["other b"]}, "b"), ({"log": ["other c"]}, "c")], as_node="__copy__")
    yield app.get_state(copy)
    yield app.invoke(None, copy)
    yield app.history(thread())


@program
def p36_a_bulk_update_makes_one_checkpoint_for_each_step(lib):
    app = lib.saved(chain(lib))
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
    real = lib.saved(chain(lib))
    real.invoke({"log": ["in"]}, thread())
    told = lib.saved(chain(lib))
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
    app = lib.saved(chain(lib))
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
    app = lib.saved(chain(lib))
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
def a_deferred_node_and_an_update(lib):
    graph = lib.graph(Log, a, b, edges="START>a>b")
    graph.add_node("late", noting("late"), defer=True)
    app = lib.saved(lib.connect(graph, "a>late>END"), interrupt_before=["b"])
    app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())
    yield shapes(app.history(thread()))


def _sending(lib):
    """A node that both leads to another one by an edge and sends to it: that one runs twice."""

    def a(state):
        return lib.Command(update={"log": ["a"]}, goto=[lib.Send("b", {})])

    return lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"))


@program
def p35_a_copy_has_no_send_that_its_parent_had(lib):
    app = _sending(lib)
    app.invoke({"log": []}, thread())
    before_c = app.history(thread())[1]
    copy = app.update_state(before_c.config, None, as_node="__copy__")
    yield app.get_state(copy)
    yield app.invoke(None, copy)
    yield app.history(thread())


@program
def p35_two_results_for_two_tasks_of_one_node(lib):
    app = _sending(lib)
    app.invoke({"log": []}, thread())
    before_b = app.history(thread())[2]
    updates = [({"log": ["first"]}, "b"), ({"log": ["second"]}, "b")]
    yield app.get_state(app.update_state(before_b.config, updates, as_node="__copy__"))
    yield app.invoke(None, thread())
    yield app.history(thread())


@program
def an_update_before_a_deferred_node_leaves_it_due(lib):
    def late(state):
        return {"log": [f"late after {len(state['log'])}"]}

    graph = lib.StateGraph(Log).add_node(a).add_node(b).add_node(late, defer=True)
    lib.connect(graph, "START>a>b, a>late>END")
    app = lib.saved(graph, interrupt_before=["late"])
    app.invoke({"log": []}, thread())
    app.update_state(thread(), {"log": ["by hand"]})
    yield app.get_state(thread()).next
    app.update_state(thread(), {"log": ["again"]}, as_node="b")
    yield app.get_state(thread()).next
    yield app.invoke(None, thread()), app.get_state(thread()).next


@program
def an_update_before_a_join_leaves_it_open(lib):
    graph = lib.graph(Log, a, b, c, edges="START>a, START>b, a+b>c>END")
    app = lib.saved(graph, interrupt_before=["c"])
    app.invoke({"log": []}, thread())
    app.update_state(thread(), {"log": ["by hand"]}, as_node="a")
    yield app.get_state(thread()).next
    yield app.invoke(None, thread()), app.get_state(thread()).next


test_same = program.as_test()
