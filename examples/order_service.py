"""An order service, request by request.

    POST /orders/{session}   {"message": "2 lamps"}     -> {"status": "paused", "questions": [...], "order": {...}}
    POST /orders/{session}   {"message": "yes"}         -> {"status": "finished", "order": {...}}

Each request is independent and carries a session id. The service does not know whether a message starts an order or
answers "Confirm payment?": `aconverse` decides from the thread itself. A request that is delivered twice, with the
same Idempotency-Key, is taken once.

    python order_service.py                             plays a customer against a service of its own
    uvicorn order_service:service                       serves, with the orders in orders.db
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal, TypedDict

from fastapi import FastAPI, Header, Request
from fastapi.responses import JSONResponse

from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.errors import AlreadyAnswered, InvalidAnswer, SignoffError, ThreadBusy
from signoff.graph import END, START, StateGraph
from signoff.inbox import Failed, Finished, Inbox, Outcome, Paused, aconverse
from signoff.types import Command, interrupt

# The order flow


class Order(TypedDict, total=False):
    request: str
    amount: int
    status: str


payments: list[tuple[str, int]] = []
"""What the bank was told: (what for, how much)."""


def price(order: Order) -> Order:
    count, _, _ = order["request"].partition(" ")
    return {"amount": 20 * int(count), "status": "priced"}


def confirm(order: Order) -> Command[Literal["pay", "cancel"]]:
    question = {"question": f"Confirm payment of {order['amount']} euros?", "for": order["request"]}
    # While it waits, the state says so: it is saved with the pause.
    said = interrupt(question, response_schema={"enum": ["yes", "no"]}, update={"status": "awaiting payment"})
    return Command(goto="pay" if said == "yes" else "cancel")


def pay(order: Order) -> Order:
    payments.append((order["request"], order["amount"]))
    return {"status": "paid"}


def cancel(order: Order) -> Order:
    return {"status": "cancelled"}


def build() -> StateGraph:
    graph = StateGraph(Order)
    graph.add_node(price).add_node(confirm).add_node(pay).add_node(cancel)
    graph.add_edge(START, "price").add_edge("price", "confirm")
    graph.add_edge("pay", END).add_edge("cancel", END)
    return graph


# The service


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with AsyncSqliteSaver.from_conn_string(os.environ.get("ORDERS_DB", "orders.db")) as saver:
        app.state.inbox = Inbox(saver)
        app.state.graph = build().compile(checkpointer=saver, name="orders")
        # What was answered before the last process ended goes on.
        await app.state.graph.aresume_answered()
        yield


service = FastAPI(title="Orders", lifespan=lifespan)


@service.post("/orders/{session}")
async def say(
    request: Request, session: str, body: dict[str, Any], idempotency_key: str | None = Header(None)
) -> dict[str, Any]:
    outcome = await aconverse(
        request.app.state.graph,
        body["message"],
        thread_id=session,
        question_id=body.get("question_id"),
        request_id=idempotency_key,
        as_input=lambda message: {"request": message},
    )
    return shown(outcome)


@service.get("/inbox")
async def waiting(request: Request) -> list[dict[str, Any]]:
    page = await request.app.state.inbox.aopen(graph="orders")
    return [{"id": one.id, "session": one.thread_id, "asked_at": one.asked_at, "asked": one.value} for one in page]


@service.get("/payments")
async def told_to_the_bank() -> list[tuple[str, int]]:
    return payments


def shown(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Paused(questions, order, is_repeat):
            asked = [{"id": one.id, "asked": one.value, "accepts": one.response_schema} for one in questions]
            return {"status": "paused", "questions": asked, "order": order, "repeated": is_repeat}
        case Finished(order, is_repeat):
            return {"status": "finished", "order": order, "repeated": is_repeat}
        case Failed(error, is_repeat):
            return {"status": "failed", "error": str(error), "repeated": is_repeat}


_STATUS = ((AlreadyAnswered, 409), (InvalidAnswer, 422), (ThreadBusy, 503), (SignoffError, 400))


@service.exception_handler(SignoffError)
async def refused(request: Request, error: SignoffError) -> JSONResponse:
    code = next(code for kind, code in _STATUS if isinstance(error, kind))
    return JSONResponse({"status": "refused", "error": str(error)}, code)


# A customer


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, _served(os.path.join(folder, "orders.db")) as address:
        for key, message in [("1", "2 lamps"), ("1", "2 lamps"), ("2", "maybe"), ("3", "yes"), ("3", "yes")]:
            print(f"customer ({key}): {message}")
            print(f"  service: {_told(_post(f'{address}/orders/ana', message, key))}")


def _told(reply: dict[str, Any]) -> str:
    again = " (delivered before)" if reply.get("repeated") else ""
    match reply["status"]:
        case "paused":
            return f"{reply['questions'][0]['asked']['question']} [{reply['order']['status']}]{again}"
        case "finished":
            return f"the order is {reply['order']['status']}{again}"
        case _:
            return f"{reply['status']}: {reply['error'].partition('. ')[0]}"


def _post(url: str, message: str, key: str) -> dict[str, Any]:
    body = json.dumps({"message": message}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return json.load(error)


@contextmanager
def _served(database: str) -> Iterator[str]:
    """The address of the service, in a process of its own, at a free port."""
    command = [sys.executable, "-m", "uvicorn", "order_service:service", "--port", "0"]
    folder, environment = os.path.dirname(os.path.abspath(__file__)), {**os.environ, "ORDERS_DB": database}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield next(line.split("running on ")[1].split()[0] for line in process.stderr if "running on " in line)
    finally:
        process.terminate()
        process.communicate()


if __name__ == "__main__":
    main()
