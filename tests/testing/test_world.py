"""The world itself: what it sees, what it says, and that it leaves nothing behind."""

from contextlib import closing

import pytest
from tests.testing.graphs import EMPTY, PROGRAMS, State, chain, graph, work

from signoff.checkpoint.memory import InMemorySaver
from signoff.drivers import aio, sync, workers
from signoff.drivers.saving import holding
from signoff.errors import InvalidInput
from signoff.graph import START, StateGraph
from signoff.testing import GoOn, Input, Update, Violation, World, did, sqlite
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_world_sees_every_call(name, is_async):
    witness = PROGRAMS[name].world(is_async=is_async).run().witness
    assert witness.calls > 1
    if PROGRAMS[name].options.get("durability") != "exit":
        assert witness.kept.keys() == witness.done.keys() != set()


def test_a_clean_run_says_what_it_came_to():
    clean = PROGRAMS["linear"].world().run()
    assert clean.values == {"log": ["a", "b", "c"]}
    assert clean.moments["effects"] > 10
    assert clean.moments["saver calls"] > 5


def test_work_that_was_not_stored_is_done_again_and_counted():
    world = PROGRAMS["linear"].world()
    counts = [world.crash(moment).witness.done["b"] for moment in range(sum(world.run().moments.values()))]
    assert set(counts) == {1, 2}


def test_a_graph_that_is_not_the_same_in_every_process_is_caught():
    built = []

    def build(saver):
        built.append(saver)
        return chain(graph(a=lambda state: {"log": [len(built)]}, b=work("b")), "a", "b").compile(saver)

    with pytest.raises(Violation, match=r"the state of the thread is[\s\S]*world.crash\(\d+\) shows it again"):
        World(build, [Input(EMPTY)]).crash_everywhere()


def test_what_a_node_changes_in_place_is_caught_and_stays_in_its_run():
    def change(state):
        state["log"].append("unsaid")

    world = World(
        lambda saver: chain(graph(a=change, b=work("b")), "a", "b").compile(saver), [Input({"log": ["given"]})]
    )
    assert world.run().values == {"log": ["given", "unsaid", "b"]}
    with pytest.raises(Violation, match=r"\['given', 'b'\][\s\S]*and not[\s\S]*\['given', 'unsaid', 'b'\]"):
        world.crash_everywhere()


def test_a_question_without_an_answer_in_the_script_is_named():
    world = World(PROGRAMS["two_turns"].build, [Input(EMPTY)], answers={"other?": 1})
    with pytest.raises(InvalidInput, match=r"asks 'sure\?', and the script has no answer"):
        world.run()


@pytest.mark.parametrize("act", [GoOn(at=lambda state: False), Update(EMPTY, at=lambda state: False)])
def test_an_act_at_a_checkpoint_that_is_not_there_is_refused(act):
    with pytest.raises(InvalidInput, match="no checkpoint"):
        World(PROGRAMS["linear"].build, [Input(EMPTY), act]).run()


def test_a_graph_that_fails_for_good_is_not_run_for_ever():
    def broken(state):
        raise ValueError("broken")

    def build(saver):
        return chain(graph(broken=broken), "broken").compile(saver)

    with pytest.raises(ValueError, match="broken"):
        World(build, [Input(EMPTY)]).run()


def test_an_input_that_is_refused_is_not_given_again():
    with pytest.raises(Exception, match="nonsense"):
        World(PROGRAMS["linear"].build, [Input({"nonsense": 1})]).run()


def test_a_function_may_answer_every_question():
    def build(saver):
        return chain(graph(a=lambda state: {"log": [interrupt({"ask": ["x"]})]}), "a").compile(saver)

    world = World(build, [Input(EMPTY)], answers=lambda question: question.value["ask"][0])
    assert world.run().values == {"log": ["x"]}
    with pytest.raises(InvalidInput, match="or a function"):
        World(build, [Input(EMPTY)], answers={"x": 1}).run()


def test_an_answer_that_counts_only_for_the_same_words_from_now_on_is_no_second_one():
    def twice(state):
        return {"log": [interrupt("first?"), interrupt("second?")]}

    def build(saver):
        return chain(graph(twice=twice), "twice").compile(saver)

    told = Command(resume="two", update={"log": ["told"]})
    world = World(build, [Input(EMPTY)], answers={"first?": "one", "second?": told})
    assert world.run().values["log"] == ["told", "one", "two"]
    assert world.crash_everywhere().crashes > 20


def test_outside_of_a_world_nothing_is_counted_or_changed():
    taps = [(sync.Driver, "perform"), (aio.Driver, "perform"), (workers, "_idle"), (holding, "is_gone")]
    before = [getattr(owner, name) for owner, name in taps]
    PROGRAMS["linear"].world().schedule(1)
    did("nothing")
    assert [getattr(owner, name) for owner, name in taps] == before


def test_a_graph_runs_as_ever_while_a_world_is_under_way():
    app = PROGRAMS["questions_in_branches"].build(InMemorySaver())
    seen = []

    def build(saver):
        if not seen:
            context_free(lambda: seen.append(app.invoke(EMPTY, CONFIG)))
        return chain(graph(a=work("a")), "a").compile(saver)

    World(build, [Input(EMPTY)]).crash_everywhere()
    assert len(seen[0]["__interrupt__"]) == 3
    for _ in range(2):
        first = app.get_state(CONFIG).interrupts[0]
        app.invoke(Command(resume={first.id: "yes"}), CONFIG)


def context_free(function):
    """Call a function as a thread of its own would."""
    import contextvars

    contextvars.Context().run(function)


def test_a_graph_without_questions_needs_no_answers():
    def build(saver):
        return StateGraph(State).add_node("a", work("a")).add_edge(START, "a").compile(saver)

    assert World(build, [Input(EMPTY)]).crash_everywhere(every=3).crashes > 5


# Mistakes


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"script": [{"log": []}]}, "It is made of acts"),
        ({"script": Input(EMPTY)}, "Give a list of acts"),
        ({"script": []}, "nothing would be tested"),
        ({"answer": {}}, r"World\(\) has no keyword answer=. Did you mean answers="),
        ({"answers": "yes"}, "a dict of questions and answers"),
        ({"store": "sqlite"}, "a function that makes an empty store"),
        ({"build": None}, "a function that makes the graph"),
    ],
)
def test_a_world_that_cannot_be_played_is_refused(named, words):
    with pytest.raises(InvalidInput, match=words):
        World(**{"build": lambda saver: chain("a").compile(saver), "script": [Input(EMPTY)], **named})


@pytest.mark.parametrize(
    "build",
    [lambda saver: StateGraph(State), lambda saver: PROGRAMS["linear"].build(InMemorySaver())],
    ids=["not compiled", "another saver"],
)
def test_a_build_that_does_not_compile_with_its_saver_is_told(build):
    with pytest.raises(InvalidInput, match=r"builder.compile\(saver\)"):
        World(build, [Input(EMPTY)]).run()


def test_the_calls_of_coroutine_functions_are_seen():
    async def node(state):
        did("work")

    def build(saver):
        return StateGraph(State).add_node("node", node).add_edge(START, "node").compile(saver)

    schedule = World(build, [Input(EMPTY)], is_async=True).schedule(1)
    assert schedule.scene.witness.calls >= schedule.scene.witness.done["work"] >= 1


def test_a_folder_for_stores_keeps_the_files_that_are_there(tmp_path):
    kept = [tmp_path / name for name in ("world-1.db", "world-peace.txt", "world-2.db-wal")]
    for file in kept:
        file.write_bytes(b"somebody's own")
    make = sqlite(tmp_path)
    for _ in range(3):
        with closing(make()()) as saver:
            assert list(saver.list(None)) == []
    assert [file.read_bytes() for file in kept] == [b"somebody's own"] * 3
    assert len([*tmp_path.iterdir()]) == len(kept) + 1, "of its own it leaves the last one"
