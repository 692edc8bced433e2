"""Scenario 13: the same without a graph: an entrypoint, its tasks, and what it remembers."""

import asyncio
from collections import Counter

import pytest

from signoff.func import entrypoint, task
from signoff.types import Command, RetryPolicy, interrupt

TWICE = RetryPolicy(max_attempts=2, initial_interval=0.001, jitter=False)


@pytest.fixture
def asked():
    """How often each site was asked."""
    return Counter()


@pytest.fixture
def up():
    return {"a", "c"}


@pytest.fixture
def collect(open_app, asked, up):
    @task
    def draw():
        asked["draw"] += 1
        return asked["draw"]

    @task(retry_policy=TWICE)
    def request(url):
        asked[url] += 1
        if url.startswith("busy") and asked[url] == 1:
            raise ConnectionError(url)
        if url not in up and not url.startswith("busy"):
            raise LookupError(f"no answer from {url}")
        return f"page {url}"

    def collect(urls, *, previous=None):
        number = draw().result()
        waiting = [request(url) for url in urls]
        pages = [future.result() for future in waiting]
        return entrypoint.final(value=(number, pages), save=(previous or 0) + len(pages))

    return open_app(lambda saver: entrypoint(checkpointer=saver)(collect))


def test_finished_tasks_are_not_run_again(collect, asked, up):
    with pytest.raises(LookupError, match="no answer from b"):
        collect.invoke(["a", "b", "c"])
    up.add("b")
    assert collect.invoke(None) == (1, ["page a", "page b", "page c"])
    assert asked == {"draw": 1, "a": 1, "b": 2, "c": 1}


def test_a_busy_site_is_tried_again(collect, asked):
    assert collect.invoke(["busy", "a"]) == (1, ["page busy", "page a"])
    assert asked["busy"] == 2


def test_previous_is_what_was_saved_and_not_what_was_returned(open_app):
    seen = []

    def count(step, *, previous=None):
        seen.append(previous)
        return entrypoint.final(value="returned", save=(previous or 0) + step)

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(count))
    assert [app.invoke(step) for step in (1, 2, 3)] == ["returned"] * 3
    assert seen == [None, 1, 3]


def test_a_person_may_change_what_the_next_run_finds(open_app):
    def count(step, *, previous=None):
        return (previous or 0) + step

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(count))
    assert app.invoke(1) == 1
    app.update_state(100)
    assert app.invoke(1) == 101


def test_an_answer_goes_on_with_what_the_tasks_returned(open_app, asked):
    @task
    def look_up(url):
        asked[url] += 1
        return f"page {url}"

    def advise(urls):
        pages = [future.result() for future in [look_up(url) for url in urls]]
        return f"{interrupt(pages)}: {pages}"

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(advise))
    app.invoke(["a", "b"])
    assert app.questions() == [["page a", "page b"]]
    assert app.invoke(Command(resume="buy")) == "buy: ['page a', 'page b']"
    assert asked == {"a": 1, "b": 1}


def test_an_async_function_awaits_its_tasks(open_async_app, asked):
    @task
    async def request(url):
        asked[url] += 1
        if url == "b" and asked[url] == 1:
            raise LookupError(url)
        return f"page {url}"

    async def collect(urls):
        first = await request(urls[0])
        return [first, *await asyncio.gather(*map(request, urls[1:]))]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(collect))
    with pytest.raises(LookupError):
        app.invoke(["a", "b"])
    assert app.invoke(None) == ["page a", "page b"]
    assert asked == {"a": 1, "b": 2}
