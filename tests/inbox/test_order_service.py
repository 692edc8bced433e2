"""The order service of examples/, over real HTTP: request by request, delivered twice, out of order, and under load."""

import asyncio
import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import httpx
import pytest

from strict import STRICT_PYTHON

EXAMPLES = Path(__file__).parents[2] / "examples"


class Service:
    """A process that serves."""

    def __init__(self, database: Path) -> None:
        command = [*STRICT_PYTHON, "-m", "uvicorn", "order_service:service", "--port", "0"]
        # Else, on a busy machine, it may close a connection just as a client sends the next request on it.
        command += ["--timeout-keep-alive", "600"]
        environment = {**os.environ, "ORDERS_DB": str(database)}
        self.process = subprocess.Popen(
            command, cwd=EXAMPLES, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        lines = (line for line in self.process.stderr if "running on " in line)
        self.address = next(lines).split("running on ")[1].split()[0]

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.communicate()

    def say(self, session, message, key=None, **body):
        return httpx.post(f"{self.address}/orders/{session}", json={"message": message, **body}, headers=headers(key))

    def get(self, what):
        return httpx.get(f"{self.address}/{what}").json()


def headers(key: str | None) -> dict[str, str]:
    return {"Idempotency-Key": key} if key else {}


@pytest.fixture
def start(tmp_path):
    started: list[Service] = []

    def start() -> Service:
        started.append(Service(tmp_path / "orders.db"))
        return started[-1]

    yield start
    for service in started:
        if service.process.returncode is None:
            service.end()


@pytest.fixture
def service(start) -> Service:
    return start()


def test_one_address_takes_orders_and_answers(service):
    asked = service.say("ana", "2 lamps").json()
    assert asked["status"] == "paused"
    assert asked["order"] == {"request": "2 lamps", "amount": 40, "status": "awaiting payment"}
    assert asked["questions"][0]["asked"]["question"] == "Confirm payment of 40 euros?"
    assert [one["session"] for one in service.get("inbox")] == ["ana"]
    assert service.say("ana", "yes").json()["order"]["status"] == "paid"
    assert service.get("inbox") == []
    assert service.get("payments") == [["2 lamps", 40]]


def test_a_wrong_answer_is_refused_and_the_question_stays_open(service):
    service.say("ana", "2 lamps")
    refused = service.say("ana", "maybe")
    assert refused.status_code == 422
    assert "maybe" in refused.json()["error"]
    assert service.say("ana", "no").json()["order"]["status"] == "cancelled"


def test_a_late_answer_is_told_so(service):
    question = service.say("ana", "2 lamps").json()["questions"][0]["id"]
    service.say("ana", "yes")
    assert service.say("ana", "no", question_id=question).status_code == 409
    assert service.get("payments") == [["2 lamps", 40]]


def test_a_request_that_is_delivered_again_is_taken_once(service):
    for _ in range(3):
        assert service.say("ana", "2 lamps", "1").json()["status"] == "paused"
    for _ in range(3):
        assert service.say("ana", "yes", "2").json()["order"]["status"] == "paid"
    assert service.say("ana", "2 lamps", "1").json() == {
        "status": "finished",
        "order": {"request": "2 lamps", "amount": 40, "status": "paid"},
        "repeated": True,
    }
    assert service.get("payments") == [["2 lamps", 40]]


def test_another_process_goes_on_after_the_first_was_killed(start):
    first = start()
    first.say("ana", "2 lamps", "1")
    first.end(signal.SIGKILL)
    second = start()
    assert second.say("ana", "2 lamps", "1").json()["order"]["status"] == "awaiting payment"
    assert second.say("ana", "yes", "2").json()["order"]["status"] == "paid"


CLIENTS = 50


def test_under_load_nothing_is_lost_doubled_or_crossed(service):
    replies = asyncio.run(all_clients(service.address))
    for number, (asked, paid) in enumerate(replies, start=1):
        amounts = {reply["order"]["amount"] for reply in [*asked, *paid]}
        assert amounts == {20 * number}, "a reply to somebody else"
        assert {reply["order"]["status"] for reply in asked} <= {"awaiting payment", "paid"}
        assert {reply["order"]["status"] for reply in paid} == {"paid"}
        assert sum(not reply["repeated"] for reply in asked) == 1
        assert sum(not reply["repeated"] for reply in paid) == 1
    payments = Counter(tuple(payment) for payment in service.get("payments"))
    assert payments == {(f"{number} lamps", 20 * number): 1 for number in range(1, CLIENTS + 1)}
    assert service.get("inbox") == []


async def all_clients(address: str):
    luck = random.Random(28)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=httpx.Limits(max_connections=100)) as http:
        return await asyncio.gather(*(client(http, number, luck) for number in range(1, CLIENTS + 1)))


async def client(http: httpx.AsyncClient, number: int, luck: random.Random):
    """Orders, twice at the same time; confirms, three times, among them the order again as a late retry."""

    async def say(message: str, key: str):
        reply = await http.post(f"/orders/s{number}", json={"message": message}, headers=headers(f"{number}-{key}"))
        assert reply.status_code == 200, reply.text
        return reply.json()

    order, yes = (f"{number} lamps", "order"), ("yes", "yes")
    asked = list(await asyncio.gather(say(*order), say(*order)))
    sent = [yes, yes, yes, order, order]
    luck.shuffle(sent)
    replies = await asyncio.gather(*(say(*one) for one in sent))
    late = await say(*order)
    asked += [reply for one, reply in zip(sent, replies, strict=True) if one == order]
    return [*asked, late], [reply for one, reply in zip(sent, replies, strict=True) if one == yes]
