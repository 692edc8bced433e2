"""What the programs about agents share: the names of both libraries, and what people see."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from prebuilt.models import call, calls, scripted

from .library import App, Library
from .prebuilt import USER, quietly, said

_ROOTS = {"langgraph": "langchain.agents", "signoff": "signoff.agents"}


def name(lib: Library, names: str) -> Any:
    """A name of the agents' modules: `create_agent`, or `middleware.before_model`."""
    module, _, attribute = names.rpartition(".")
    with quietly():
        return getattr(import_module(f"{_ROOTS[lib.root]}{'.' + module if module else ''}"), attribute)


def agent(lib: Library, *args: Any, **options: Any) -> App:
    """An agent to watch."""
    return lib.watch(name(lib, "create_agent")(*args, **options))


def saved_agent(lib: Library, *args: Any, **options: Any) -> App:
    """An agent with a saver."""
    return agent(lib, *args, checkpointer=lib.saver(), **options)


def hook(lib: Library, kind: str, function: Any, **options: Any) -> Any:
    """Middleware of one function."""
    return name(lib, f"middleware.{kind}")(function, **options)


def watch(lib: Library, on: Any, **options: Any) -> Any:
    """Middleware that asks a person."""
    return name(lib, "middleware.HumanInTheLoopMiddleware")(on, **options)


def by_call(result: Any, *, hides: Sequence[str] = ()) -> dict[str, Any]:
    """The results of the calls. The words around an edit and a rejection are each library's own."""
    messages = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    assert len({message.tool_call_id for message in messages}) == len(messages)
    return {
        message.tool_call_id: (
            message.name,
            message.status,
            "<own words>" if message.tool_call_id in hides else message.content,
        )
        for message in sorted(messages, key=lambda message: message.tool_call_id)
    }


def asked(result: Any) -> list[Any]:
    """The questions, without what signoff adds to them."""
    shown = [_plain(question.value) for question in result.get("__interrupt__", ())]
    return sorted(shown, key=repr)


def _plain(value: Any) -> Any:
    if "action_requests" not in value:
        return {key: one for key, one in value.items() if key != "review_config"}
    reviews = [{key: one for key, one in review.items() if key != "args_schema"} for review in value["review_configs"]]
    return {"action_requests": value["action_requests"], "review_configs": reviews}


@tool
def pay(amount: int, to: str) -> str:
    """Pay somebody."""
    return f"paid {amount} to {to}"


@tool
def mail(to: str) -> str:
    """Write to somebody."""
    return f"wrote to {to}"


@tool
def look(name: str) -> str:
    """Look somebody up."""
    return f"found {name}"


TOOLS = [pay, mail, look]
PAY = call("pay", "c1", amount=5, to="ana")
MAIL = call("mail", "c2", to="bo")
LOOK = call("look", "c3", name="eva")

__all__ = [
    "LOOK",
    "MAIL",
    "PAY",
    "TOOLS",
    "USER",
    "agent",
    "asked",
    "by_call",
    "call",
    "calls",
    "hook",
    "look",
    "mail",
    "name",
    "pay",
    "said",
    "saved_agent",
    "scripted",
    "watch",
]
