"""A call waits in a graph, and a person changes the state around it: made again with the same, it goes on there."""

import asyncio
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.func import task
from signoff.types import Command, interrupt

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


@pytest.mark.parametrize("remembers", [None, True], ids=["forgets", "remembers"])
def test_graphs_that_coroutines_of_a_call_have_begun_are_not_mixed_up(saver, remembers):
    works = Works()
    graph = line(pay=works.node("pay"), ask=lambda state: {"log": [interrupt(f"{state['log'][0]}, sure?")]})
    inner, slow = graph.compile(checkpointer=remembers), ["tax"]

    async def order(word: str) -> Any:
        for _ in range(9 if word in slow else 0):
            await asyncio.sleep(0)
        return (await inner.ainvoke({"log": [word]}))["log"][-1]

    @task
    async def orders() -> Any:
        return await asyncio.gather(order("rent"), order("tax"))

    async def node(state: Any) -> Any:
        return {"log": await orders()}

    app = line(plan=lambda state: None, node=node).compile(checkpointer=saver)
    asyncio.run(app.ainvoke({"log": []}, CONFIG))
    slow[:] = ["rent"]
    app.update_state(CONFIG, {"log": ["told"]}, as_node="plan")
    asyncio.run(app.ainvoke(None, CONFIG))
    while questions := app.get_state(CONFIG).interrupts:
        answer = Command(resume={questions[0].id: f"yes to {questions[0].value}"})
        asyncio.run(app.ainvoke(answer, CONFIG))
    assert app.get_state(CONFIG).values["log"] == ["told", "yes to rent, sure?", "yes to tax, sure?"]
    assert works.done["pay"] == 2
