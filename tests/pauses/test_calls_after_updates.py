"""A call waits in a graph, and a person changes the state around it: made again with the same, it goes on there."""

from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.func import task
from signoff.types import Command

from .programs import Works, line
from .test_random_retention import keep_one, prune
from .ways import CONFIG

TIDY = {"as it is": lambda saver: None, "pruned": prune, "the newest kept": keep_one}


@pytest.fixture(params=["memory", "sqlite"])
def saver(request, tmp_path):
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            yield saver


def orders(works: Works, words: list[str], remembers: Any) -> Any:
    """A node that makes a call for each word, which pays in a graph and then asks there."""
    graphs = {word: works.asking(f"{word}, sure?") for word in words}
    pay = {word: works.node(f"pay {word}") for word in words}
    graph = line(
        pay=lambda state: pay[state["log"][-1]](state), ask=lambda state: graphs[state["log"][-1].split()[-1]](state)
    ).compile(checkpointer=remembers)
    order = task(lambda word: graph.invoke({"log": [word]})["log"][-1], name="order")

    def node(state: Any) -> Any:
        return {"log": [call.result() for call in [order(word) for word in words]]}

    return line(plan=lambda state: None, orders=node)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("tidy", TIDY)
@pytest.mark.parametrize("words", [["rent"], ["rent", "tax", "power"]], ids=len)
@pytest.mark.parametrize("remembers", [None, True], ids=["forgets", "remembers"])
def test_what_a_call_has_done_before_it_waits_is_not_done_again(saver, remembers, words, tidy, times):
    works = Works()
    app = orders(works, words, remembers).compile(checkpointer=saver)
    app.invoke({"log": []}, CONFIG)
    for _ in range(times):
        app.update_state(CONFIG, {"log": ["told"]}, as_node="plan")
    TIDY[tidy](saver)
    app.invoke(None, CONFIG)
    while questions := app.get_state(CONFIG).interrupts:
        app.invoke(Command(resume={questions[-1].id: f"yes to {questions[-1].value}"}), CONFIG)
        TIDY[tidy](saver)
    answered = [f"{word}, sure?: yes to {word}, sure?" for word in words]
    assert app.get_state(CONFIG).values["log"] == [*["told"] * times, *answered]
    assert [works.done[f"pay {word}"] for word in words] == [1] * len(words)
