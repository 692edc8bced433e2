"""A run that fails in the middle, is repaired, and goes on.

    main: draw a number, then run the graph `sites`:   fetch (several requests at once)

Drawing a number and requesting a site are `@task`s: what they returned is saved, and a run that goes on does not do
them again. One site has moved, so the run raises. `get_state(config, subgraphs=True)` shows the graph that failed,
`update_state` mends its state, `invoke(None, config)` goes on: with the number from before. A changed state is a new
step, and its requests are new; those that were answered come from the cache.
"""

import random
from typing import TypedDict

from signoff.cache.memory import InMemoryCache
from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import CachePolicy

PAGES = {"a.example": "apples", "b.example": "bananas", "c.example": "cherries"}


class Sites(TypedDict):
    urls: list[str]
    pages: list[str]


class State(TypedDict):
    urls: list[str]
    number: int
    pages: list[str]


@task
def draw() -> int:
    print("  drawing a number")
    return random.randint(1, 1_000_000)


@task(cache_policy=CachePolicy())
def request(url: str) -> str:
    print(f"  requesting {url}")
    if url not in PAGES:
        raise LookupError(f"{url} has moved")
    return PAGES[url]


def fetch(state: Sites) -> dict:
    waiting = [request(url) for url in state["urls"]]
    return {"pages": [future.result() for future in waiting]}


sites = StateGraph(Sites).add_node(fetch).add_edge(START, "fetch").compile()


def main(state: State) -> dict:
    number = draw().result()
    print(f"  the number is {number}")
    return {"number": number, "pages": sites.invoke({"urls": state["urls"]})["pages"]}


def build() -> StateGraph:
    return StateGraph(State).add_node(main).add_edge(START, "main")


def play() -> None:
    app = build().compile(checkpointer=InMemorySaver(), cache=InMemoryCache())
    config = {"configurable": {"thread_id": "fruit"}}

    print("The run fails:")
    try:
        app.invoke({"urls": ["a.example", "old-b.example", "c.example"]}, config)
    except LookupError as error:
        print(f"  raised: {error}")

    failed = app.get_state(config, subgraphs=True).tasks[0].state
    print(f"Inside of {app.get_state(config).next[0]!r}:")
    print(f"  next is {failed.next[0]!r}, with {failed.values['urls']}")
    print(f"  it failed with {failed.tasks[0].error}")

    print("Repaired, it goes on:")
    app.update_state(failed.config, {"urls": ["a.example", "b.example", "c.example"]})
    print(f"  pages: {app.invoke(None, config)['pages']}")


if __name__ == "__main__":
    play()
