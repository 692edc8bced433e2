"""Low-level graphs: nodes that listen to channels."""

import operator

from .harness import Boom, Programs, by_step, thread, unordered

program = Programs()


def _adds(number):
    return lambda value: value + number


def _chain(lib, **options):
    one = lib.NodeBuilder().subscribe_only("input").do(_adds(1)).write_to("inbox")
    two = lib.NodeBuilder().subscribe_only("inbox").do(_adds(10)).write_to("output")
    settings = {
        "nodes": {"one": one, "two": two},
        "channels": {"input": lib.LastValue(int), "inbox": lib.LastValue(int), "output": lib.LastValue(int)},
        "input_channels": "input",
        "output_channels": "output",
        **options,
    }
    return lib.watch(lib.Pregel(**settings))


@program
def a_value_goes_through_channels(lib):
    app = _chain(lib)
    yield app.invoke(2)
    yield app.stream(2)
    yield app.stream(2, mode="updates")
    yield app.stream(2, mode=["updates", "values"])


@program
def several_output_channels(lib):
    app = _chain(lib, output_channels=["inbox", "output"])
    yield app.invoke(2)
    yield app.stream(2, mode=["updates", "values"])
    yield app.invoke(2, output_keys="inbox")
    yield app.invoke(2, output_keys=["output"])


@program
def stream_channels_differ_from_output_channels(lib):
    app = _chain(lib, stream_channels=["inbox", "output"])
    yield app.invoke(2)
    yield app.stream(2, mode=["updates", "values"])


@program
def several_input_channels(lib):
    one = lib.NodeBuilder().subscribe_only("left").do(_adds(1)).write_to("output")
    two = lib.NodeBuilder().subscribe_only("right").do(_adds(10)).write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one, "two": two},
            channels={"left": lib.LastValue(int), "right": lib.LastValue(int), "output": lib.Topic(int)},
            input_channels=["left", "right"],
            output_channels="output",
        )
    )
    yield app.invoke({"left": 1, "right": 2})
    yield app.invoke({"left": 1})
    yield app.invoke({"right": 1})


@program
def a_node_that_listens_to_two_channels(lib):
    one = lib.NodeBuilder().subscribe_to("left", "right").do(lambda values: dict(values)).write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={"left": lib.LastValue(int), "right": lib.LastValue(int), "output": lib.LastValue(dict)},
            input_channels=["left", "right"],
            output_channels="output",
        )
    )
    yield app.invoke({"left": 1, "right": 2})
    yield app.invoke({"left": 1})


@program
def a_node_that_reads_without_listening(lib):
    one = lib.NodeBuilder().subscribe_to("left").read_from("right").do(lambda values: dict(values)).write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={"left": lib.LastValue(int), "right": lib.LastValue(int), "output": lib.LastValue(dict)},
            input_channels=["left", "right"],
            output_channels="output",
        )
    )
    yield app.invoke({"left": 1, "right": 2})


@program
def writes_to_several_channels(lib):
    one = (
        lib.NodeBuilder()
        .subscribe_only("input")
        .do(_adds(1))
        .write_to("first", second=lambda value: value * 100, third=7)
    )
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={name: lib.LastValue(int) for name in ("input", "first", "second", "third")},
            input_channels="input",
            output_channels=["first", "second", "third"],
        )
    )
    yield app.invoke(1)
    yield app.stream(1, mode="updates")


@program
def what_a_function_makes_of_a_result_is_written_even_if_it_is_nothing(lib):
    one = lib.NodeBuilder().subscribe_only("input").write_to(first=lambda value: None)
    two = lib.NodeBuilder().subscribe_only("first").do(lambda value: f"heard {value}").write_to("second", third=None)
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one, "two": two},
            channels={name: lib.LastValue(str) for name in ("input", "first", "second", "third")},
            input_channels="input",
            output_channels=["first", "second", "third"],
        )
    )
    yield app.invoke("x")
    yield app.stream("x", mode=["values", "updates"])


@program
def a_node_without_an_action_passes_its_input_on(lib):
    one = lib.NodeBuilder().subscribe_only("input").write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={"input": lib.LastValue(int), "output": lib.LastValue(int)},
            input_channels="input",
            output_channels="output",
        )
    )
    yield app.invoke(3)


@program
def several_actions_one_after_the_other(lib):
    one = lib.NodeBuilder().subscribe_only("input").do(_adds(1)).do(_adds(5)).write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={"input": lib.LastValue(int), "output": lib.LastValue(int)},
            input_channels="input",
            output_channels="output",
        )
    )
    yield app.invoke(3)


@program
def a_topic_collects_the_writes_of_a_step(lib):
    nodes = {
        name: lib.NodeBuilder().subscribe_only("input").do(_adds(number)).write_to("topic")
        for number, name in enumerate(("c", "a", "b"))
    }
    nodes["sum"] = lib.NodeBuilder().subscribe_only("topic").do(lambda values: list(values)).write_to("output")
    for accumulate in (False, True):
        app = lib.watch(
            lib.Pregel(
                nodes=nodes,
                channels={
                    "input": lib.LastValue(int),
                    "topic": lib.Topic(int, accumulate=accumulate),
                    "output": lib.LastValue(list),
                },
                input_channels="input",
                output_channels="output",
                checkpointer=lib.saver(),
            )
        )
        yield app.invoke(10, thread())
        yield app.invoke(20, thread())


@program
def an_aggregate_folds(lib):
    nodes = {
        name: lib.NodeBuilder().subscribe_only("input").do(_adds(number)).write_to("total")
        for number, name in enumerate(("a", "b"))
    }
    app = lib.watch(
        lib.Pregel(
            nodes=nodes,
            channels={"input": lib.LastValue(int), "total": lib.BinaryOperatorAggregate(int, operator.add)},
            input_channels="input",
            output_channels="total",
            checkpointer=lib.saver(),
        )
    )
    yield app.invoke(10, thread())
    yield app.invoke(10, thread())


@program
def p48_two_writes_to_a_last_value(lib):
    nodes = {name: lib.NodeBuilder().subscribe_only("input").do(_adds(1)).write_to("output") for name in ("a", "b")}
    app = lib.watch(
        lib.Pregel(
            nodes=nodes,
            channels={"input": lib.LastValue(int), "output": lib.LastValue(int)},
            input_channels="input",
            output_channels="output",
        )
    )
    yield app.invoke(1, fails=True)


@program
def an_ephemeral_channel(lib):
    one = lib.NodeBuilder().subscribe_only("input").do(_adds(1)).write_to("once")
    two = lib.NodeBuilder().subscribe_only("once").do(_adds(1)).write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one, "two": two},
            channels={"input": lib.EphemeralValue(int), "once": lib.EphemeralValue(int), "output": lib.LastValue(int)},
            input_channels="input",
            output_channels=["once", "output"],
        )
    )
    yield app.invoke(1)
    yield app.stream(1, mode=["values", "updates"])


@program
def a_node_that_returns_nothing_writes_nothing(lib):
    one = lib.NodeBuilder().subscribe_only("input").do(lambda value: None).write_to("output")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={"input": lib.LastValue(int), "output": lib.LastValue(int)},
            input_channels="input",
            output_channels="output",
        )
    )
    yield app.stream(1, mode=["updates"])


@program
def a_loop_of_channels(lib):
    def count(value):
        return value + 1 if value < 5 else None

    one = lib.NodeBuilder().subscribe_only("number").do(count).write_to("number")
    app = lib.watch(
        lib.Pregel(
            nodes={"one": one},
            channels={"number": lib.LastValue(int)},
            input_channels="number",
            output_channels="number",
        )
    )
    yield app.stream(1, mode=["updates", "values"], fails=True)


@program
def a_fan_in_of_channels(lib):
    nodes = {
        "one": lib.NodeBuilder().subscribe_only("input").do(_adds(1)).write_to("left"),
        "two": lib.NodeBuilder().subscribe_only("input").do(_adds(2)).write_to("right"),
        "both": lib.NodeBuilder().subscribe_to("left", "right").do(lambda v: v["left"] * v["right"]).write_to("output"),
    }
    app = lib.watch(
        lib.Pregel(
            nodes=nodes,
            channels={name: lib.LastValue(int) for name in ("input", "left", "right", "output")},
            input_channels="input",
            output_channels="output",
        )
    )
    yield app.invoke(2)
    yield by_step(app.stream(2, mode=["updates", "values"], output_keys=["left", "right", "output"]))


@program
def the_history_of_channels(lib):
    app = _chain(lib, checkpointer=lib.saver())
    yield app.invoke(2, thread())
    yield app.get_state(thread())
    yield app.history(thread())
    yield app.invoke(5, thread())
    yield [(snapshot.values, snapshot.next, snapshot.metadata) for snapshot in app.history(thread())]


@program
def a_breakpoint_between_channels(lib):
    for options in ({"interrupt_after_nodes": ["one"]}, {"interrupt_before_nodes": ["two"]}):
        app = _chain(lib, checkpointer=lib.saver(), **options)
        yield app.invoke(2, thread())
        yield app.get_state(thread()).next
        yield app.invoke(None, thread())


@program
def a_breakpoint_before_the_first_channel_lets_pass_what_it_has_stopped(lib):
    for durability in ("sync", "async", "exit"):
        app = _chain(lib, checkpointer=lib.saver(), interrupt_before_nodes="*")
        yield app.invoke(2, thread(), durability=durability)
        for _ in range(2):
            yield app.stream(None, thread(), mode=["updates", "values"], durability=durability)
            yield app.get_state(thread()).next


@program
def an_update_between_channels(lib):
    app = _chain(lib, checkpointer=lib.saver(), interrupt_before_nodes=["two"])
    app.invoke(2, thread())
    app.update_state(thread(), 50, as_node="one")
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p19_a_failure_between_channels(lib):
    broken = [True]

    def fail(value):
        if broken:
            raise Boom("broken")
        return value * 2

    one = lib.NodeBuilder().subscribe_only("input").do(_adds(1)).write_to("inbox")
    two = lib.NodeBuilder().subscribe_only("inbox").do(fail).write_to("output")
    app = _chain(lib, nodes={"one": one, "two": two}, checkpointer=lib.saver())
    yield app.invoke(2, thread(), fails=True)
    yield app.get_state(thread())
    broken.clear()
    yield app.invoke(None, thread())


@program
def a_question_between_channels(lib):
    one = lib.NodeBuilder().subscribe_only("input").do(_adds(1)).write_to("inbox")
    two = lib.NodeBuilder().subscribe_only("inbox").do(lambda value: lib.interrupt(value)).write_to("output")
    app = _chain(lib, nodes={"one": one, "two": two}, checkpointer=lib.saver())
    yield app.invoke(2, thread())
    yield app.invoke(lib.Command(resume=40), thread())


@program
def retries_of_a_low_level_node(lib):
    left = [2]

    def fragile(value):
        if left[0]:
            left[0] -= 1
            raise Boom("again")
        return value

    policy = lib.RetryPolicy(initial_interval=0.001, jitter=False)
    one = lib.NodeBuilder().subscribe_only("input").do(fragile).write_to("output").add_retry_policies(policy)
    app = _chain(lib, nodes={"one": one})
    yield app.invoke(2)


@program
def a_graph_as_a_low_level_node(lib):
    inner = _chain(lib).graph
    one = lib.NodeBuilder().subscribe_only("input").do(inner).write_to("output")
    app = _chain(lib, nodes={"one": one})
    yield app.invoke(2)


@program
def what_a_low_level_graph_refuses(lib):
    one = lib.NodeBuilder().subscribe_only("nowhere").do(_adds(1)).write_to("output")
    settings = {
        "an unknown subscription": {"nodes": {"one": one}},
        "an input that nobody listens to": {"input_channels": "output"},
        "an unknown input": {"input_channels": "nowhere"},
        "an unknown output": {"output_channels": "nowhere"},
    }
    for name, options in settings.items():
        try:
            _chain(lib, **options)
            yield name, "taken"
        except (ValueError, KeyError):
            yield name, "refused"


@program
def a_wide_low_level_graph(lib):
    nodes = {
        f"n{number}": lib.NodeBuilder().subscribe_only("input").do(_adds(number)).write_to("topic")
        for number in range(12)
    }
    app = lib.watch(
        lib.Pregel(
            nodes=nodes,
            channels={"input": lib.LastValue(int), "topic": lib.Topic(int)},
            input_channels="input",
            output_channels="topic",
        )
    )
    yield app.invoke(0)
    yield unordered(app.stream(0, mode="updates"))


test_same = program.as_test()
