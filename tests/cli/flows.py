"""Graphs for the commands."""

from decimal import Decimal
from typing import Any, Literal, TypedDict

from signoff.graph import START, StateGraph
from signoff.types import interrupt


class State(TypedDict, total=False):
    amount: int
    said: Any


def prepare(state: State) -> State:
    return {"amount": state["amount"] + 1}


def review(state: State) -> State:
    return {"said": interrupt({"question": "Transfer it?", "amount": state["amount"]})}


def pay(state: State) -> State:
    if state["said"] == "fail":
        raise ConnectionError("the bank does not answer")
    return {"amount": 0 if state["said"] else state["amount"]}


transfers = StateGraph(State)
transfers.add_node(prepare).add_node(review).add_node(pay)
transfers.add_edge(START, "prepare").add_edge("prepare", "review").add_edge("review", "pay")
app = transfers.compile(name="transfers")


def asking(value: Any, **asked: Any) -> Any:
    def ask(state: State) -> State:
        return {"said": interrupt(value, **asked)}

    return StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile(name="asking")


BEFORE = "def area(r):\n    return 3 * r * r\n"
AFTER = "import math\n\ndef area(r):\n    return math.pi * r * r\n"

edit_file = asking(
    {
        "action_requests": [
            {
                "name": "edit_file",
                "args": {"file_path": "shapes.py", "old_string": BEFORE, "new_string": AFTER},
                "description": "Edit file: shapes.py",
            }
        ],
        "review_configs": [{"action_name": "edit_file", "allowed_decisions": ["approve", "edit", "reject", "respond"]}],
    }
)

HOTEL = {"hotel": "Astoria", "nights": 2, "guest": {"name": "Ana", "loyalty": ["gold", "early bird"]}}

book_hotel = asking(
    [
        {
            "action_request": {"action": "book_hotel", "args": HOTEL},
            "config": {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True},
            "description": "Shall I book this hotel?",
        }
    ]
)

search = asking(
    {
        "action_requests": [{"name": "search", "args": {"query": "5", "page": 2}}],
        "review_configs": [
            {
                "action_name": "search",
                "allowed_decisions": ["approve", "edit"],
                "args_schema": {"type": "object", "properties": {"query": {"type": ["string", "integer"]}}},
            }
        ],
    }
)

two_actions = asking(
    {
        "action_requests": [
            {"name": "send_email", "args": {"to": "bob@example.org"}, "description": "Send an e-mail"},
            {"name": "delete_file", "args": {"path": "old.txt"}, "description": "Delete file: old.txt"},
        ],
        "review_configs": [
            {"action_name": "send_email", "allowed_decisions": ["approve", "reject"]},
            {"action_name": "delete_file", "allowed_decisions": ["approve", "reject"]},
        ],
    }
)

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "title": "Name"},
        "age": {"type": "integer", "minimum": 18},
        "plan": {"enum": ["free", "paid"]},
        "note": {"type": "string"},
    },
    "required": ["name", "age", "plan"],
}

sign_up = asking("Who are you?", response_schema=FORM)


def both() -> StateGraph:
    graph = StateGraph(State)
    for name in ("left", "right"):
        graph.add_node(name, lambda state, name=name: interrupt(f"Go {name}?") and None)
        graph.add_edge(START, name)
    return graph


async def ask_later(state: State) -> State:
    return {"said": interrupt("Later?")}


later = StateGraph(State).add_node(ask_later).add_edge(START, "ask_later").compile(name="later")

FROM_HERE_ON = {
    "type": "object",
    "properties": {
        "decisions": {
            "type": "array",
            "prefixItems": [{"type": "object", "properties": {"type": {"enum": ["approve"]}, "from_here_on": {}}}],
        }
    },
}

odd = asking({"type": "tool_approval", "tool": "pay", "review_config": "strict"})

shell = asking(
    {
        "action_requests": [{"name": "shell", "args": {"command": "ls"}, "description": "Run command: ls"}],
        "review_configs": [{"action_name": "shell", "allowed_decisions": ["approve"]}],
    },
    response_schema=FROM_HERE_ON,
)

not_a_graph = 7

EMPTY = {
    "type": "object",
    "properties": {
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["age"],
}

sure = asking("Pay 5000?", response_schema=Literal["confirmed"])

TERMS = {
    "type": "object",
    "properties": {"agree": {"const": "yes"}, "since": {"const": 2020}},
    "required": ["agree"],
}

code = asking("Which code?", response_schema=str)

amount = asking("How much?", response_schema=Decimal)

agreed = asking("Agreed?", response_schema=bool | str)

terms = asking("Do you agree to the terms?", response_schema=TERMS)

nobody = asking("Who are you?", response_schema=EMPTY)

HIDDEN = "ls \x1b[8m; rm -rf ~\x1b[28m \x9b8m \u202e#txt"
"""A command that a terminal would show as `ls`."""

hiding = asking(
    {
        "action_requests": [{"name": "shell", "args": {"command": HIDDEN}, "description": f"Run command: {HIDDEN}"}],
        "review_configs": [{"action_name": "shell", "allowed_decisions": ["approve", "reject"]}],
    }
)

hiding_edited = asking(
    {
        "action_requests": [{"name": "shell", "args": {"command": HIDDEN}, "description": "Run a command"}],
        "review_configs": [{"action_name": "shell", "allowed_decisions": ["approve", "edit"]}],
    }
)

odd_names = asking(
    [
        {
            "action_request": {"action": "pay", "args": {"amount: 5\n  to": "Bob", "\u202eot": "Ann"}},
            "config": {"allow_edit": True},
        }
    ]
)

rooms = asking("Which room?", response_schema={"enum": [f"room {number}" for number in range(60)]})

transfer_to = asking(
    {
        "question": "Whom?",
        "options": [
            f"{'From the account of the house, at the end of the month, ' * 2}to {name}" for name in ("Ann", "Bob")
        ],
    }
)


forged = asking({"question": "Whom?", "options": [f"Ann{' ' * 72}  2  Bob", "Cid\n  3  Bob"]})

LONG = 10**5000
"""Python does not write it out."""


def keep_long(state: State) -> State:
    return {"amount": LONG, "said": {LONG: [LONG]}}


def ask_long(state: State) -> State:
    if interrupt({"question": "Transfer it?", "amount": LONG}) == "fail":
        raise ConnectionError(LONG)
    return {"said": "done"}


long = StateGraph(State).add_node(keep_long).add_node(ask_long)
long = long.add_edge(START, "keep_long").add_edge("keep_long", "ask_long").compile(name="long")
