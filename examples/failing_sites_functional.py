"""The same without a graph: one plain function, its tasks, and what it remembers.

`@entrypoint` makes a function a durable program, `@task` keeps the result of a call. A task gives a future, so
several run at once. The function fails, starts again from its first line, and takes what is known: the number is the
one from before, sites that answered are not asked again. `previous` is what the last run of the thread left behind;
`entrypoint.final` returns one value and leaves another.
"""

import random
from typing import Any

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.types import RetryPolicy

PAGES = {"a.example": "apples", "c.example": "cherries"}
SLOW = {"c.example"}
"""These refuse the first request."""


@task
def draw() -> int:
    print("  drawing a number")
    return random.randint(1, 1_000_000)


@task(retry_policy=RetryPolicy(max_attempts=2, initial_interval=0.01, jitter=False))
def request(url: str) -> str:
    print(f"  requesting {url}")
    if url in SLOW:
        SLOW.remove(url)
        raise ConnectionError(f"{url} is busy")
    if url not in PAGES:
        raise LookupError(f"{url} does not answer")
    return PAGES[url]


@entrypoint(checkpointer=InMemorySaver())
def collect(urls: list[str], *, previous: Any = None) -> entrypoint.final[dict, list[str]]:
    number = draw().result()
    waiting = [request(url) for url in urls]
    pages = [future.result() for future in waiting]
    known = [*(previous or []), *pages]
    return entrypoint.final(value={"number": number, "pages": pages, "known": known}, save=known)


def main() -> None:
    config = {"configurable": {"thread_id": "fruit"}}
    print("The first run asks three sites. One is busy and asked again; one is down:")
    try:
        collect.invoke(["a.example", "b.example", "c.example"], config)
    except LookupError as error:
        print(f"  raised: {error}")

    print("The site is up again, and the run goes on:")
    PAGES["b.example"] = "bananas"
    print(f"  {collect.invoke(None, config)['pages']}")

    print("The next run of the thread knows what the last one left:")
    print(f"  {collect.invoke(['a.example'], config)['known']}")


if __name__ == "__main__":
    main()
