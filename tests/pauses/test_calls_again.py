"""Promises 4 and 7: a task that starts over finds each call that it made before, whatever order it makes them in."""

import asyncio
import textwrap
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from itertools import count

import pytest

from signoff.errors import ReplayMismatch
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, Log, asking, beside


class Shop:
    """Calls that are counted."""

    def __init__(self):
        self.done = Counter()
        self.is_paid = None

        @task
        def pay(amount, *, at=None):
            self.done[amount] += 1
            return f"paid {amount}"

        @task
        async def rate(amount):
            if amount == 5:  # the other one is paid before this one is known
                await self.is_paid.wait()
            return amount

        @task
        async def send(amount):
            self.done[amount] += 1
            self.is_paid.set()
            return f"sent {amount}"

        @task
        async def look_up(name):
            raise LookupError(name)

        self.pay, self.rate, self.send, self.look_up = pay, rate, send, look_up


def test_calls_of_coroutines_side_by_side_are_found_again_in_another_order(open_async_app):
    shop = Shop()

    async def send(amount):
        return await shop.send(await shop.rate(amount))

    async def work(_):
        shop.is_paid = asyncio.Event()
        return [*await asyncio.gather(send(5), send(900)), interrupt("done?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert list(shop.done) == [900, 5]
    assert app.invoke(Command(resume="yes")) == ["sent 5", "sent 900", "yes"]
    assert shop.done == {5: 1, 900: 1}


def test_a_call_that_had_not_finished_does_not_get_what_another_in_its_place_returned(open_async_app):
    shop = Shop()
    is_down = True

    @task
    async def send(amount):
        if amount == 5 and is_down:
            raise ConnectionError
        return amount

    async def branch(amount):
        if amount == 5:
            await shop.is_paid.wait()
        rate = await send(amount)
        shop.done[rate] += 1
        shop.is_paid.set()
        return rate

    async def work(_):
        shop.is_paid = asyncio.Event()
        if not is_down:
            shop.is_paid.set()
        return await asyncio.gather(branch(5), branch(900))

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    with pytest.raises(ConnectionError):
        app.invoke(0)
    is_down = False
    assert app.invoke(None) == [5, 900]


def test_arguments_may_vary_from_run_to_run(open_app):
    shop, now = Shop(), count()

    def work(state):
        paid = shop.pay(5, at=next(now)).result()
        return {"log": [paid, interrupt("sure?"), shop.pay(6, at=next(now)).result()]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes"))["log"] == ["paid 5", "yes", "paid 6"]
    assert shop.done == {5: 1, 6: 1}


def test_arguments_of_calls_under_way_at_once_may_vary(open_app):
    shop, now = Shop(), count()

    def work(state):
        first, *others = [shop.pay(amount, at=next(now)) for amount in (5, 6, 7)]
        paid = [first.result(), shop.pay(8, at=next(now)).result(), *(other.result() for other in others)]
        return {"log": [*paid, interrupt("sure?")]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes"))["log"] == ["paid 5", "paid 8", "paid 6", "paid 7", "yes"]
    assert shop.done == {5: 1, 6: 1, 7: 1, 8: 1}


def test_arguments_of_calls_that_are_gathered_may_vary(open_async_app):
    shop, now = Shop(), count()

    async def send(amount):
        return await shop.send(await shop.rate(amount))

    async def work(_):
        shop.is_paid = asyncio.Event()
        first = shop.pay(1, at=next(now))
        sent = await asyncio.gather(send(5), send(900))
        paid = await asyncio.gather(first, *(shop.pay(amount, at=next(now)) for amount in (2, 3)))
        return [*sent, *paid, interrupt("done?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == ["sent 5", "sent 900", "paid 1", "paid 2", "paid 3", "yes"]
    assert shop.done == {1: 1, 2: 1, 3: 1, 5: 1, 900: 1}


def test_arguments_of_calls_in_coroutines_may_vary(open_async_app):
    shop, now = Shop(), count()

    async def pay(amount):
        paid = await shop.pay(await shop.rate(amount), at=next(now))
        shop.is_paid.set()
        return paid

    async def work(_):
        shop.is_paid = asyncio.Event()
        return [*await asyncio.gather(pay(5), pay(900)), interrupt("done?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert list(shop.done) == [900, 5]
    assert app.invoke(Command(resume="yes")) == ["paid 5", "paid 900", "yes"]
    assert shop.done == {5: 1, 900: 1}


def test_arguments_of_calls_in_threads_may_vary(open_app):
    shop, now = Shop(), count()

    def pay(amount):
        return shop.pay(amount, at=next(now)).result()

    def work(state):
        with ThreadPoolExecutor(2) as threads:
            paid = [threads.submit(copy_context().run, pay, amount) for amount in (5, 6)]
        return {"log": [*(one.result() for one in paid), interrupt("sure?")]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes"))["log"] == ["paid 5", "paid 6", "yes"]
    assert shop.done == {5: 1, 6: 1}


def test_arguments_may_vary_from_attempt_to_attempt(open_app):
    shop, now = Shop(), count()

    def work(state):
        paid = shop.pay(5, at=next(now)).result()
        if next(now) < 3:
            raise ConnectionError
        return {"log": [paid]}

    graph = beside(other=lambda state: None)
    graph.add_node("work", work, retry_policy=RetryPolicy(initial_interval=0, jitter=False)).add_edge("other", "work")
    assert open_app(graph).invoke(NEW)["log"] == ["paid 5"]
    assert shop.done == {5: 1}


def test_a_loop_over_what_has_changed_pays_what_is_new_and_nothing_twice(open_app):
    shop, orders = Shop(), [1, 2]

    def work(state):
        return {"log": [*[shop.pay(order).result() for order in orders], interrupt("sure?")]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    orders[:] = [2, 3]
    assert app.invoke(Command(resume="yes"))["log"] == ["paid 2", "paid 3", "yes"]
    assert shop.done == {1: 1, 2: 1, 3: 1}


def test_calls_with_equal_arguments_are_as_many_as_they_are(open_app):
    shop = Shop()

    def work(state):
        return {"log": [*[shop.pay(1).result() for _ in range(3)], interrupt("sure?"), shop.pay(1).result()]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    assert shop.done == {1: 3}
    app.invoke(Command(resume="yes"))
    assert shop.done == {1: 4}


def test_arguments_that_cannot_be_stored_are_no_hindrance(open_app):
    done = Counter()

    @task
    def call(function, word):
        done[word] += 1
        return function(word)

    def work(state):
        said = [call(lambda word: word.upper(), word).result() for word in ("a", "b")]
        return {"log": [*said, interrupt("sure?")]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes"))["log"] == ["A", "B", "yes"]
    assert done == {"a": 1, "b": 1}


# Changed programs

BEFORE = """
    def work(state):
        return {"log": [pay(1).result(), interrupt("sure?")]}
"""
SAME = {
    "a line more": """
        def work(state):
            greeting = "hello"
            return {"log": [pay(1).result(), interrupt("sure?")]}
    """,
    "a call behind it": """
        def work(state):
            paid = pay(1).result()
            note("paid").result()
            return {"log": [paid, interrupt("sure?")]}
    """,
}
CHANGED = {
    "another amount": ("'pay' in its place with other arguments", """
        def work(state):
            return {"log": [pay(2).result(), interrupt("sure?")]}
    """),
    "a call before it": ("calls 'note' where it called 'pay'", """
        def work(state):
            note("begun").result()
            return {"log": [pay(1).result(), interrupt("sure?")]}
    """),
    "the same call before it": ("with other arguments", """
        def work(state):
            return {"log": [pay(0).result() + pay(1).result(), interrupt("sure?")]}
    """),
    "another function": ("calls 'refund' where it called 'pay'", """
        def work(state):
            return {"log": [refund(1).result(), interrupt("sure?")]}
    """),
}  # fmt: skip


class Deploys:
    """Versions of a program that pays, then asks."""

    def __init__(self):
        self.done = Counter()
        self.calls = {name: task(name=name)(self._counting(name)) for name in ("pay", "refund", "note")}

    def _counting(self, name):
        def call(value):
            self.done[name, value] += 1
            return f"{name} {value}."

        return call

    def graph(self, source):
        module = {"__name__": "shop", "interrupt": interrupt, **self.calls}
        exec(textwrap.dedent(source), module)
        return beside(work=module["work"])


@pytest.mark.parametrize("case", SAME)
def test_a_deploy_that_leaves_a_finished_call_in_its_place_finds_it(open_app, case):
    deploys = Deploys()
    open_app(deploys.graph(BEFORE)).invoke(NEW)
    assert open_app(deploys.graph(SAME[case])).invoke(Command(resume="yes"))["log"] == ["pay 1.", "yes"]
    assert deploys.done["pay", 1] == 1


@pytest.mark.parametrize("case", CHANGED)
def test_a_deploy_that_makes_another_call_in_its_place_is_noticed_before_it_is_made(open_app, case):
    deploys = Deploys()
    open_app(deploys.graph(BEFORE)).invoke(NEW)
    told, source = CHANGED[case]
    app = open_app(deploys.graph(source))
    with pytest.raises(ReplayMismatch, match=told):
        app.invoke(Command(resume="yes"))
    assert deploys.done == {("pay", 1): 1}
    assert list(app.ids()) == ["sure?"]
    assert open_app(deploys.graph(BEFORE)).invoke(Command(resume="yes"))["log"] == ["pay 1.", "yes"]


def test_so_is_one_in_a_branch_that_has_waited_while_others_went_on(open_app):
    deploys = Deploys()

    def shop(source):
        graph = deploys.graph(source).add_node("other", asking("other?")).add_edge(START, "other")
        return open_app(graph, pause="branch")

    first = shop(BEFORE)
    first.invoke(NEW)
    first.invoke(Command(resume={first.ids()["other?"]: "yes"}))
    told, source = CHANGED["another amount"]
    with pytest.raises(ReplayMismatch, match=told):
        shop(source).invoke(Command(resume="yes"))
    assert deploys.done == {("pay", 1): 1}
    assert first.invoke(Command(resume="yes"))["log"] == ["yes", "pay 1.", "yes"]


@pytest.mark.parametrize(
    ("case", "done"),
    [
        ("another amount", {("pay", 1): 1}),
        ("a call before it", {("note", "begun"): 1, ("pay", 1): 1}),
        ("another function", {("pay", 1): 1, ("refund", 1): 1}),
    ],
)
def test_a_changed_call_may_be_accepted(open_app, case, done):
    deploys = Deploys()
    open_app(deploys.graph(BEFORE)).invoke(NEW)
    open_app(deploys.graph(CHANGED[case][1])).invoke(Command(resume="yes"), on_changed="accept")
    assert deploys.done == done


def test_a_changed_call_is_noticed_although_the_program_catches_errors(open_app):
    deploys = Deploys()
    open_app(deploys.graph(BEFORE)).invoke(NEW)
    careful = """
        def work(state):
            try:
                paid = refund(1).result()
            except Exception:
                paid = "never mind"
            return {"log": [paid, interrupt("sure?")]}
    """
    with pytest.raises(ReplayMismatch):
        open_app(deploys.graph(careful)).invoke(Command(resume="yes"))
    assert deploys.done == {("pay", 1): 1}


# Behind a failure that the program has caught, Python may have come back to a coroutine in either of two ways


async def checked_and_paid(shop):
    with suppress(LookupError):
        await shop.look_up("voucher")
    return [await shop.send(5), interrupt("sure?"), await shop.send(6), interrupt("really?")]


class Doing:
    """Something that is done when it is entered, or when the first item is asked for."""

    def __init__(self, work):
        self.work, self.is_done = work, False

    async def __aenter__(self):
        return await self.work

    async def __aexit__(self, *_):
        pass

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.is_done:
            raise StopAsyncIteration
        self.is_done = True
        return await self.work


async def awaited(work):
    return await work


async def entered(work):
    async with Doing(work) as done:
        return done


async def iterated(work):
    return [done async for done in Doing(work)][0]


async def generated(work):
    items = _each(work)
    async for done in items:
        await items.aclose()
        return done
    raise AssertionError("there is one")


async def _each(work):
    yield await work


async def generated_twice(work):
    return [done async for done in _each_again(work)][0]


async def _each_again(work):
    async for done in _each(work):
        yield done


async def gathered(work):
    return (await asyncio.gather(generated(work)))[0]


WAYS = [awaited, entered, iterated, generated, generated_twice, gathered]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_what_follows_a_failure_that_was_caught_is_found_again(open_async_app, way):
    shop = Shop()
    shop.is_paid = asyncio.Event()

    async def work(_):
        return await way(checked_and_paid(shop))

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    assert app.ask(0) == ["sure?"]
    assert app.ask(Command(resume="yes")) == ["really?"]
    assert app.invoke(Command(resume="really")) == ["sent 5", "yes", "sent 6", "really"]
    assert shop.done == {5: 1, 6: 1}


@pytest.mark.parametrize("is_beside", [False, True], ids=["in the task", "beside it"])
def test_what_follows_a_failure_that_a_generator_has_caught_is_found_again(open_async_app, is_beside):
    shop = Shop()
    shop.is_paid = asyncio.Event()

    async def each(amount):
        with suppress(LookupError):
            await shop.look_up("voucher")
        for done in [await shop.send(amount), interrupt("sure?"), await shop.send(amount + 1), interrupt("really?")]:
            yield done

    async def all_of(amount):
        return [done async for done in each(amount)]

    async def work(_):
        return (await asyncio.gather(all_of(5)))[0] if is_beside else await all_of(5)

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    assert app.ask(0) == ["sure?"]
    assert app.ask(Command(resume="yes")) == ["really?"]
    assert app.invoke(Command(resume="really")) == ["sent 5", "yes", "sent 6", "really"]
    assert shop.done == {5: 1, 6: 1}


# Questions beside a task


def about_amounts(ask):
    """A program whose coroutines ask about 5 and about 900; the latter first, unless both know what to ask at once."""

    def made(saver):
        is_asked = asyncio.Event()

        @task
        async def rate(amount):
            if amount == 5:
                await is_asked.wait()
            return amount

        async def approved(amount):
            known = await rate(amount)
            is_asked.set()
            return known, ask(known)

        @entrypoint(checkpointer=saver)
        async def work(_):
            return await asyncio.gather(approved(5), approved(900))

        return work

    return made


@pytest.mark.parametrize("first", ["pay 900?", "pay 5?"])
def test_an_answer_reaches_its_question_though_coroutines_ask_in_another_order(open_async_app, first):
    app = open_async_app(about_amounts(lambda amount: interrupt(f"pay {amount}?")))
    answers = {"pay 5?": "yes", "pay 900?": "no"}
    assert app.ask(0) == ["pay 900?", "pay 5?"]
    (second,) = app.ask(Command(resume={app.ids()[first]: answers.pop(first)}))
    assert app.invoke(Command(resume=answers[second])) == [(5, "yes"), (900, "no")]


def test_what_coroutines_ask_may_vary_if_it_has_a_key(open_async_app):
    now = count()
    app = open_async_app(about_amounts(lambda amount: interrupt(f"{next(now)}: pay {amount}?", key=f"pay {amount}")))
    assert [said.partition(": ")[2] for said in app.ask(0)] == ["pay 900?", "pay 5?"]
    assert [said.partition(": ")[2] for said in app.ask(Command(resume={"pay 900": "no"}))] == ["pay 5?"]
    assert app.invoke(Command(resume="yes")) == [(5, "yes"), (900, "no")]


def test_coroutines_may_ask_in_the_same_words(open_async_app):
    app = open_async_app(about_amounts(lambda amount: interrupt("pay?")))
    asked = app.invoke(0)["__interrupt__"]
    assert [question.value for question in asked] == ["pay?", "pay?"]
    answers = {question.id: answer for question, answer in zip(asked, ("one", "two"), strict=True)}
    assert sorted(answer for _, answer in app.invoke(Command(resume=answers))) == ["one", "two"]


def test_what_coroutines_ask_at_once_is_asked_together_and_answered_one_by_one(open_async_app):
    async def ask(name):
        return interrupt(f"{name}?")

    async def work(_):
        return await asyncio.gather(*map(ask, ("hotel", "flight", "car")))

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    assert app.ask(0) == ["hotel?", "flight?", "car?"]
    assert [question.value for question in app.filed()] == ["hotel?", "flight?", "car?"]
    assert app.ask(Command(resume={app.ids()["flight?"]: "no"})) == ["hotel?", "car?"]
    assert app.ask(Command(resume={app.ids()["car?"]: "yes"})) == ["hotel?"]
    assert app.invoke(Command(resume="yes")) == ["yes", "no", "yes"]


def test_what_threads_ask_at_once_is_asked_together(open_app):
    def work(state):
        with ThreadPoolExecutor(2) as threads:
            asked = [threads.submit(copy_context().run, interrupt, name) for name in ("hotel?", "flight?")]
        return {"log": [one.result() for one in asked]}

    app = open_app(beside(work=work))
    assert sorted(app.ask(NEW)) == ["flight?", "hotel?"]
    asked = app.ids()
    assert app.invoke(Command(resume={asked["hotel?"]: 1, asked["flight?"]: 2}))["log"] == [1, 2]


def test_an_answer_reaches_its_question_in_a_thread_of_the_program(open_app):
    def work(state):
        with ThreadPoolExecutor(1) as threads:
            context = copy_context()
            first = threads.submit(context.run, interrupt, "pay 5?").result()
            return {"log": [first, threads.submit(context.run, interrupt, "pay 900?").result()]}

    app = open_app(beside(work=work))
    assert app.ask(NEW) == ["pay 5?"]
    assert app.ask(Command(resume="yes")) == ["pay 900?"]
    assert app.invoke(Command(resume="no"))["log"] == ["yes", "no"]


def test_an_update_keeps_what_coroutines_ask(open_async_app):
    async def ask(what):
        return interrupt(what)

    async def work(state):
        return {"log": await asyncio.gather(ask("pay?"), ask("ship?"))}

    app = open_async_app(beside(work=work))
    app.ask(NEW)
    before = app.ids()
    app.update_state({"log": ["told"]})
    assert app.ids() == before
    assert app.ask(Command(resume={before["ship?"]: "no"}, update={"log": ["more"]})) == ["pay?"]
    assert app.ids() == {"pay?": before["pay?"]}
    assert app.invoke(Command(resume="yes"))["log"] == ["told", "more", "yes", "no"]


def test_a_call_that_was_tried_again_until_it_succeeded_is_not_made_again(open_app):
    tries = []

    @task
    def pay(amount):
        tries.append(amount)
        if len(tries) < 3:
            raise OSError("no connection")
        return f"paid {amount} at try {len(tries)}"

    def build(saver):
        @entrypoint(checkpointer=saver)
        def program(amount):
            while True:
                try:
                    paid = pay(amount).result()
                    return [paid, interrupt("ship it?"), pay(amount).result()]
                except OSError:
                    continue

        return program

    app = open_app(build)
    app.invoke(5)
    assert app.invoke(Command(resume="yes")) == ["paid 5 at try 3", "yes", "paid 5 at try 4"]
    assert tries == [5, 5, 5, 5]


@pytest.mark.parametrize("times", [1, 2])
def test_nor_is_it_if_the_run_has_failed_behind_it_so_that_nobody_knows_of_the_tries(open_app, times):
    tries, clock, packed, failures = [], count(), [], [LookupError("no room in the van")]

    @task
    def pay(amount):
        tries.append(amount)
        if len(tries) < 3:
            raise OSError("no connection")
        return f"paid at try {len(tries)}"

    @task
    def pack(at):  # it is known by its place
        packed.append(at)

    def paid(amount):
        while True:
            try:
                return pay(amount).result()
            except OSError:
                continue

    def build(saver):
        @entrypoint(checkpointer=saver)
        def program(amount):
            done = [paid(amount) for _ in range(times)]
            pack(next(clock)).result()
            if failures:
                raise failures.pop()
            return [*done, paid(amount)]

        return program

    app = open_app(build)
    with pytest.raises(LookupError):
        app.invoke(5)
    assert app.invoke(None) == [f"paid at try {nth}" for nth in range(3, 4 + times)]
    assert packed == [0]


def test_what_follows_a_call_that_was_tried_again_is_found_again(open_app):
    """It is known by its place, since its arguments vary; and those that failed have had places, too."""
    shop, clock, tries = Shop(), count(), Counter()

    @task
    def reserve(item):
        tries[item] += 1
        if tries[item] < 3:
            raise OSError("no connection")
        return item

    @task
    def note(text):
        shop.done[text] += 1

    def reserved(item):
        while True:
            try:
                return reserve(item).result()
            except OSError:
                note(f"{item} failed").result()

    def build(saver):
        @entrypoint(checkpointer=saver)
        def program(_):
            reserved("lamp")
            first = shop.pay(5, at=next(clock)).result()
            reserved("desk")
            return [first, shop.pay(900, at=next(clock)).result(), interrupt("ship it?")]

        return program

    app = open_app(build)
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == ["paid 5", "paid 900", "yes"]
    assert tries == {"lamp": 3, "desk": 3}
    assert shop.done == {"lamp failed": 2, "desk failed": 2, 5: 1, 900: 1}


def test_calls_with_the_same_side_by_side_are_not_taken_for_one_that_was_tried_again(open_async_app):
    """The first of them fails. Each has its own, also inside; and what is behind them is found by its place."""
    clock, bids, done = count(), Counter(), Counter()

    @task
    async def note(what, at=None):
        done[what] += 1

    @task
    async def bid(item):
        is_first = not bids
        bids[item] += 1
        await note(item)
        if is_first:
            raise OSError("no connection")
        return item

    async def program(_):
        offers = await asyncio.gather(*[bid(item) for item in ("lamp", "lamp", "desk")])
        return [offers, await note("ship", next(clock)), interrupt("sure?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(program))
    with pytest.raises(OSError, match="no connection"):
        app.invoke(0)
    assert app.ask(None) == ["sure?"]
    assert app.invoke(Command(resume="yes"))[0] == ["lamp", "lamp", "desk"]
    assert bids == {"lamp": 3, "desk": 1}
    assert done == {"lamp": 2, "desk": 1, "ship": 1}


def test_so_it_is_if_the_first_has_failed_by_the_time_that_the_next_is_made(open_app):
    clock, bids, sent = count(), Counter(), []

    @task
    def bid(item):
        bids[item] += 1
        if bids == {"lamp": 1}:
            raise OSError("no connection")
        return item

    @task
    def send(at):
        sent.append(at)

    def program(_):
        first = bid("lamp")
        first.exception()
        offers = [first, *[bid(item) for item in ("lamp", "desk")]]
        return [[offer.result() for offer in offers], send(next(clock)).result(), interrupt("sure?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(program))
    with pytest.raises(OSError, match="no connection"):
        app.invoke(0)
    assert app.ask(None) == ["sure?"]
    assert app.invoke(Command(resume="yes"))[0] == ["lamp", "lamp", "desk"]
    assert bids == {"lamp": 3, "desk": 1}
    assert len(sent) == 1


def test_coroutines_that_try_the_same_call_again_find_their_own(open_async_app):
    """Each has its own results behind it, which are known by their places."""
    shop, clock, tries = Shop(), count(), count()

    @task
    async def connect():
        if next(tries) % 2 == 0:
            raise OSError("no connection")

    @task
    async def send(amount, at):
        shop.done[amount] += 1
        return f"sent {amount}"

    async def sent(amount):
        while True:
            try:
                await connect()
                return await send(amount, next(clock))
            except OSError:
                await asyncio.sleep(0)

    async def work(_):
        return [*await asyncio.gather(sent(5), sent(900), sent(7)), interrupt("done?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == ["sent 5", "sent 900", "sent 7", "yes"]
    assert shop.done == {5: 1, 900: 1, 7: 1}


@task
def listed():
    return ["as it was"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_call_returned_is_found_again_as_it_was_though_the_node_has_changed_it(open_app, durability):
    def work(_):
        found = listed().result()
        found.append("changed")
        return [*found, interrupt("ok?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0, durability=durability)
    assert app.invoke(Command(resume="yes"), durability=durability) == ["as it was", "changed", "yes"]


@pytest.mark.parametrize("is_answered", [False, True], ids=["at once", "after an answer"])
def test_each_attempt_of_a_node_finds_what_a_call_returned_as_it_was(open_app, is_answered):
    tries = count(1)

    def work(_):
        found = listed().result()
        if is_answered:
            interrupt("ok?")
        found.append("changed")
        if next(tries) < 3:
            raise ConnectionError
        return found

    policy = RetryPolicy(initial_interval=0, jitter=False)
    app = open_app(lambda saver: entrypoint(checkpointer=saver, retry_policy=policy)(work))
    result = app.invoke(0)
    assert (app.invoke(Command(resume="yes")) if is_answered else result) == ["as it was", "changed"]


def test_what_a_call_returned_is_found_again_as_it_was_though_others_have_gone_on(open_app):
    def wait(state):
        found = listed().result()
        found.append("changed")
        return {"log": [*found, interrupt("ok?")]}

    graph = StateGraph(Log).add_node(wait).add_node("work", lambda state: None).add_node("more", lambda state: None)
    app = open_app(graph.add_edge(START, "wait").add_edge(START, "work").add_edge("work", "more"), pause="branch")
    app.invoke({"log": []})
    assert app.invoke(Command(resume="yes"))["log"] == ["as it was", "changed", "yes"]


class Courier:
    """A coroutine that only its object tells from others: it asks, ships, and asks once more."""

    def __init__(self, name, ship):
        self.name, self.ship = name, ship

    async def work(self):
        interrupt(f"ship {self.name}?")
        shipped = await self.ship(self.name)
        return shipped, interrupt(f"{self.name} done?")


def _gathered_methods(ship):
    return lambda: asyncio.gather(*(Courier(name, ship).work() for name in "ab"))


def _gathered_closures(ship):
    def courier(name):
        async def work():
            interrupt(f"ship {name}?")
            shipped = await ship(name)
            return shipped, interrupt(f"{name} done?")

        return work()

    return lambda: asyncio.gather(*map(courier, "ab"))


def _gathered_workers(ship):
    """Workers that nothing tells from each other: each takes what is next."""

    async def work(names):
        name = names.get_nowait()
        interrupt(f"ship {name}?")
        shipped = await ship(name)
        return shipped, interrupt(f"{name} done?")

    def begin():
        names = asyncio.Queue()
        for name in "ab":
            names.put_nowait(name)
        return asyncio.gather(work(names), work(names))

    return begin


@pytest.mark.parametrize("made", [_gathered_methods, _gathered_closures, _gathered_workers])
def test_coroutines_that_look_alike_make_their_own_calls(open_async_app, made):
    shipped = Counter()

    @task
    async def ship(name):
        shipped[name] += 1
        return f"shipped {name}"

    begin = made(ship)

    async def work(_):
        return await begin()

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    app.invoke(Command(resume={app.ids()["ship b?"]: "yes"}))
    app.invoke(Command(resume={app.ids()["ship a?"]: "yes"}))
    assert shipped == {"a": 1, "b": 1}
    answers = {app.ids()[f"{name} done?"]: f"{name} it is" for name in "ab"}
    assert app.invoke(Command(resume=answers)) == [("shipped a", "a it is"), ("shipped b", "b it is")]
    assert shipped == {"a": 1, "b": 1}


class Till:
    """Counts what it begins, here and in those that call it, as long as the process lives."""

    def __init__(self, pay):
        self.begun, self.task, self.times = 0, pay, count()

    async def by_method(self, amount):
        self.begun += 1
        return await self.task(amount, at=next(self.times))

    @property
    def by_closure(self):
        begun, till = self.begun, self

        async def pay(amount):
            nonlocal begun
            till.begun = begun = begun + 1
            return await till.task(amount, at=next(till.times))

        return pay


@pytest.mark.parametrize("way", ["by_method", "by_closure"])
def test_what_coroutines_count_does_not_make_them_others(open_async_app, way):
    shop = Shop()
    till = Till(shop.pay)

    async def work(_):
        pay = getattr(till, way)
        return [*await asyncio.gather(pay(5), pay(900)), interrupt("done?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == ["paid 5", "paid 900", "yes"]
    assert shop.done == {5: 1, 900: 1}


class Desk:
    """Its methods are tasks; nothing of it can be stored."""

    done: list = []  # noqa: RUF012 - of all of them

    def __init__(self, fee):
        self.fee = fee
        self.drawer = object()

    @task
    def take(self, amount, tip=0):
        self.done.append(amount)
        return amount + tip + self.fee

    @task
    def whole(amount):  # noqa: N805 - a function that only stands here
        return round(amount)


def test_a_method_that_is_a_task_is_called_as_any_method():
    class Order:
        @task
        def paid(self, amount):
            return amount

        @task
        def is_like(self, other):
            return other is self

    @entrypoint()
    def flow(amount):
        order = Order()
        calls = [order.paid(amount=amount), Order.paid(order, amount), order.paid(order, amount=amount)]
        return [call.result() for call in (*calls, order.is_like(order))]

    assert flow.invoke(5) == [5, 5, 5, True]


def test_a_method_that_is_a_task_is_called_with_its_object_and_found_again_by_another_one(open_app):
    def build(saver):
        desk = Desk(1)

        @entrypoint(checkpointer=saver)
        def work(amount):
            taken = [desk.take(amount), desk.take(desk, amount + 1), desk.take(amount + 2, tip=5), desk.whole(7.1)]
            return [*(one.result() for one in taken), interrupt("done?")]

        return work

    app = open_app(build)
    Desk.done.clear()
    app.invoke(1)
    assert app.invoke(Command(resume="yes")) == [2, 3, 9, 7, "yes"]
    assert sorted(Desk.done) == [1, 2, 3]


def test_a_task_is_asked_of_its_class_and_of_its_object_for_the_same():
    assert Desk.take.name == Desk(1).take.name == "take"
