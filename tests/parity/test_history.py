"""Histories: their shape, updates by a person, forks, replays."""

from .harness import Boom, Programs, by_step, thread
from .states import Counted, Log, a, b, before, c, chain, d, shapes

program = Programs()


@program
def p29_the_history_of_one_turn(lib):
    app = lib.saved(chain(lib))
    yield app.invoke({"log": ["in"]}, thread())
    yield app.history(thread())


@program
def p29_the_history_of_two_turns(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["one"]}, thread())
    app.invoke({"log": ["two"]}, thread())
    yield app.history(thread())


@program
def the_state_of_a_thread(lib):
    app = lib.saved(chain(lib))
    yield app.get_state(thread())
    yield app.history(thread())
    app.invoke({"log": ["in"]}, thread())
    yield app.get_state(thread())
    yield app.get_state(thread("other"))


@program
def the_state_at_each_checkpoint(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    yield [app.get_state(snapshot.config) for snapshot in app.history(thread())]
    yield [app.get_state(snapshot.config) == snapshot for snapshot in app.history(thread())]


@program
def p4_a_saver_needs_a_thread_id(lib):
    app = lib.saved(chain(lib))
    yield app.invoke({"log": []}, fails=True)
    yield app.invoke({"log": []}, {"configurable": {}}, fails=True)


@program
def there_is_no_state_without_a_saver(lib):
    app = lib.app(chain(lib))
    yield app.get_state(thread(), fails=True)
    yield app.update_state(thread(), {"log": []}, fails=True)
    yield app.history(thread(), fails=True)


@program
def a_thread_id_may_be_a_number(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread(7))
    yield app.get_state(thread("7")).values


@program
def p37_metadata_has_the_extra_keys_of_configurable(lib):
    app = lib.saved(chain(lib))
    config = {**thread("1", user="ana", level=3), "metadata": {"asked": "twice"}, "tags": ["tag"], "run_name": "name"}
    app.invoke({"log": ["in"]}, config)
    yield [snapshot.metadata for snapshot in app.history(thread())]
    app.update_state(thread("1", user="bob"), {"log": ["told"]})
    yield app.get_state(thread()).metadata
    yield app.get_state(thread()).config


@program
def history_by_limit_before_and_filter(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["one"]}, thread())
    app.invoke({"log": ["two"]}, thread())
    yield shapes(app.history(thread(), limit=2))
    middle = app.history(thread())[4]
    yield shapes(app.history(thread(), before=middle.config, limit=2))
    yield shapes(app.history(thread(), filter={"source": "input"}))
    yield shapes(app.history(thread(), filter={"step": 1}))


@program
def a_history_from_a_checkpoint(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["one"]}, thread())
    middle = app.history(thread())[2]
    yield shapes(app.history(middle.config))


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
    old = before(app.history(thread()), "b")
    calls.clear()
    yield app.stream(None, old.config, mode=["values", "updates"])
    yield calls
    yield app.history(thread())
    yield app.get_state(thread()).values


@program
def p30_two_replays_of_one_checkpoint(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = before(app.history(thread()), "c")
    yield app.invoke(None, old.config)
    yield app.invoke(None, old.config)
    yield shapes(app.history(thread()))


@program
def p30_a_replay_from_the_input(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    first = app.history(thread())[-1]
    yield app.invoke(None, first.config)
    yield shapes(app.history(thread()))


@program
def p31_a_replay_of_a_finished_checkpoint_does_nothing(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    head = app.get_state(thread())
    yield app.invoke(None, head.config)
    yield app.get_state(thread()).values


@program
def p31_a_replay_of_the_end_of_an_earlier_turn(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["one"]}, thread())
    end = app.get_state(thread())
    app.invoke({"log": ["two"]}, thread())
    yield app.stream(None, end.config, mode=["values", "updates"])
    yield app.get_state(thread())
    yield shapes(app.history(thread()))
    yield app.invoke({"log": ["three"]}, thread())


@program
def new_input_at_an_old_checkpoint(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    old = before(app.history(thread()), "b")
    yield app.invoke({"log": ["other"]}, old.config)
    yield shapes(app.history(thread()))
    yield app.get_state(thread()).parent_config is not None


@program
def a_run_from_a_checkpoint_that_does_not_exist(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["in"]}, thread())
    ghost = thread("1", checkpoint_id="1f0a0000-0000-6000-8000-000000000000")
    yield app.get_state(ghost).values


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
    yield shapes(app.history(thread()))


@program
def threads_do_not_know_each_other(lib):
    app = lib.saved(chain(lib))
    app.invoke({"log": ["one"]}, thread("1"))
    app.invoke({"log": ["two"]}, thread("2"))
    app.invoke({"log": ["three"]}, thread("1"))
    yield app.get_state(thread("1")).values
    yield app.get_state(thread("2")).values


@program
def a_deleted_thread_begins_anew(lib):
    saver = lib.saver()
    app = lib.app(chain(lib), checkpointer=saver)
    app.invoke({"log": ["one"]}, thread())
    lib.call(saver.adelete_thread if lib.is_async else saver.delete_thread, "1")
    yield app.history(thread())
    yield app.invoke({"log": ["two"]}, thread())


@program
def a_second_graph_with_more_keys_reads_the_thread(lib):
    saver = lib.saver()
    lib.app(chain(lib), checkpointer=saver).invoke({"log": ["one"]}, thread())
    wider = lib.app(lib.graph(Counted, a, d, edges="START>a>d>END"), checkpointer=saver)
    yield wider.get_state(thread()).values
    yield wider.invoke({"count": 3}, thread())


@program
def parallel_updates_in_the_stream_after_a_fork(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>d>END, a>c>d"))
    app.invoke({"log": ["in"]}, thread())
    old = before(app.history(thread()), "b", "c")
    yield by_step(app.stream(None, old.config, mode=["updates", "values"]))


test_same = program.as_test()
