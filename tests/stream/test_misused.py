"""Transformers and projections that are used as they cannot be: each is refused with what to do instead."""

import asyncio
import operator
from typing import Annotated, TypedDict

import pytest

from signoff.errors import InvalidInput, NeedsAsync, StreamMisused
from signoff.graph import START, StateGraph
from signoff.stream import StreamChannel, StreamTransformer


class State(TypedDict):
    log: Annotated[list, operator.add]


class Scores(StreamTransformer):
    """Has what it is given as its projections."""

    required_stream_modes = ("values",)
    projections: object = {}

    def init(self):
        return self.projections

    def process(self, event):
        return True


def one(state):
    return {"log": [1]}


def fail(state):
    raise ValueError("of the node")


def follow(transformer, node=one):
    app = StateGraph(State).add_node("one", node).add_edge(START, "one").compile(transformers=[transformer])
    return app.stream_events({"log": []}, version="v3")


@pytest.mark.parametrize("maxlen", [0, -1, "5", 2.5])
def test_a_channel_keeps_a_number_of_things_above_none(maxlen):
    with pytest.raises(InvalidInput, match="The maxlen of a StreamChannel is .* Give a number above 0"):
        StreamChannel(maxlen=maxlen)


def test_a_channel_that_nobody_has_among_its_projections_cannot_be_read():
    with pytest.raises(StreamMisused, match="is not part of a run"):
        iter(StreamChannel("scores"))


@pytest.mark.parametrize("n", [0, -1, "2", None])
def test_readers_are_a_number_of_one_or_more(n):
    run = follow(Scores)
    for tee in (run.values.tee, run.values.atee):
        with pytest.raises(InvalidInput, match="give the number of readers, 1 or more"):
            tee(n)
    assert [*run.values] == [{"log": []}, {"log": [1]}]


def test_what_is_pushed_when_the_run_is_over_is_refused():
    class Late(Scores):
        def init(self):
            self.scores = StreamChannel()
            return {"scores": self.scores}

    transformers = []
    run = follow(lambda scope: transformers.append(Late(scope)) or transformers[-1])
    assert run.output == {"log": [1]}
    with pytest.raises(StreamMisused, match="The run is over, and 5 was pushed to a projection of it"):
        transformers[0].scores.push(5)


@pytest.mark.parametrize("projections", [None, [StreamChannel()], "scores"], ids=["nothing", "list", "text"])
def test_projections_have_names(projections):
    class Nameless(Scores):
        pass

    Nameless.projections = projections
    with pytest.raises(InvalidInput, match=r"Nameless.init\(\) returned .* Return a dict: projections by their names."):
        follow(Nameless)


@pytest.mark.parametrize("transformers", ["Scores", 5, Scores], ids=repr)
def test_transformers_are_a_list(transformers):
    graph = StateGraph(State).add_node("one", one).add_edge(START, "one")
    with pytest.raises(ValueError, match=r"transformers is .* Give a list of them"):
        graph.compile(transformers=transformers)


def test_what_is_scheduled_where_no_event_loop_runs_is_refused_and_closed():
    async def look_up():
        raise AssertionError("it is not begun")

    class Hasty(Scores):
        def process(self, event):
            self.schedule(look_up())

    with pytest.raises(NeedsAsync, match=r"Hasty.schedule\(\) needs an event loop"):
        _ = follow(Hasty).output


def test_a_transformer_that_fails_to_hear_of_a_failure_is_named_beside_it():
    class Deaf(Scores):
        def fail(self, err):
            raise RuntimeError("of the transformer")

    with pytest.raises(ValueError, match="of the node") as raised:
        _ = follow(Deaf, fail).output
    assert "Then Deaf failed to take it: RuntimeError('of the transformer')" in raised.value.__notes__


def test_a_nested_graph_is_not_stopped_alone_on_an_event_loop_either():
    nested = StateGraph(State).add_node("one", one).add_edge(START, "one").compile()
    app = StateGraph(State).add_node("inner", nested).add_edge(START, "inner").compile()

    async def stop():
        run = await app.astream_events({"log": []}, version="v3")
        async for inner in run.subgraphs:
            await inner.abort()

    with pytest.raises(StreamMisused, match="'inner' cannot be aborted alone"):
        asyncio.run(stop())
