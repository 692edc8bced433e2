"""Tools that note when their bodies run, and short ways to say what a person decides."""

from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, field_validator

from prebuilt.models import call, calls, scripted
from signoff.agents.middleware import AgentMiddleware
from signoff.prebuilt import validate_chat_history

USER: Any = {"messages": [("user", "hi")]}
APPROVE: Any = {"type": "approve"}


def edit(name: str, /, **args: Any) -> Any:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


def reject(message: str | None = None) -> Any:
    return {"type": "reject"} if message is None else {"type": "reject", "message": message}


def respond(message: str) -> Any:
    return {"type": "respond", "message": message}


def decide(*decisions: Any) -> Any:
    return {"decisions": list(decisions)}


class Account(BaseModel):
    """An account number with a check of its own."""

    number: str

    @field_validator("number")
    @classmethod
    def known(cls, value: str) -> str:
        if not value.startswith("A"):
            raise ValueError("accounts begin with A")
        return value


class Desk:
    """Tools, and what they did."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    @cached_property
    def tools(self) -> list[Any]:
        @tool
        def pay(amount: int, to: str) -> str:
            """Pay somebody."""
            self.ran.append(f"pay {amount} {to}")
            return f"paid {amount} to {to}"

        @tool
        def mail(to: str) -> str:
            """Write to somebody."""
            self.ran.append(f"mail {to}")
            return f"wrote to {to}"

        @tool
        def look(name: str) -> str:
            """Look somebody up."""
            self.ran.append(f"look {name}")
            return f"found {name}"

        @tool(args_schema=Account)
        def close(number: str) -> str:
            """Close an account."""
            self.ran.append(f"close {number}")
            return f"closed {number}"

        return [pay, mail, look, close]


class Repeating(AgentMiddleware):
    """Makes every call twice."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        handler(request)
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        await handler(request)
        return await handler(request)


PAY = call("pay", "c1", amount=5, to="ana")
LOOK = call("look", "c2", name="ana")
MAIL = call("mail", "c3", to="bo")
THREE = calls(PAY, LOOK, MAIL, id="ai-1")
WATCHED: Any = {"pay": True, "mail": {"allowed_decisions": ["approve", "reject"], "description": "Write?"}}


def results(result: Any) -> dict[str, str]:
    """The text of each tool message, by its call."""
    return {message.tool_call_id: message.content for message in tool_messages(result)}


def tool_messages(result: Any) -> list[ToolMessage]:
    return [message for message in result["messages"] if isinstance(message, ToolMessage)]


def records(result: Any) -> dict[str, Any]:
    """What the transcript says of the decision on each call."""
    return {
        message.tool_call_id: message.additional_kwargs["decision"]
        for message in tool_messages(result)
        if "decision" in message.additional_kwargs
    }


def check_transcript(messages: Any) -> None:
    """Every call has exactly one tool message, behind it and before anything else is said."""
    validate_chat_history(messages)
    due: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert message.tool_call_id in due, f"{message.tool_call_id} has a second tool message, or no call"
            due.remove(message.tool_call_id)
        else:
            assert due == [], f"{message.type} speaks while {due} are open"
            due = [str(one["id"]) for one in message.tool_calls] if isinstance(message, AIMessage) else []
    assert due == []


__all__ = [
    "APPROVE",
    "LOOK",
    "MAIL",
    "PAY",
    "THREE",
    "USER",
    "WATCHED",
    "Desk",
    "Repeating",
    "call",
    "calls",
    "check_transcript",
    "decide",
    "edit",
    "records",
    "reject",
    "respond",
    "results",
    "scripted",
    "tool_messages",
]
