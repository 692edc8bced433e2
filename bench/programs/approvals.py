"""Agents whose tool a person approves. What LangChain's model and tool take themselves is in the account of both."""

from importlib import import_module
from typing import Any

from langchain_core.messages import HumanMessage

from bench.library import OURS, Library
from bench.measuring import Work
from bench.scripted import Account, Look, Scripted
from bench.storage import Kind, Storage


def approved_call(lib: Library, kind: Kind) -> Work:
    """An agent that wants to call its tool, the approval, and the rest of its turn."""
    storage = Storage(lib, kind)
    agent, Command = _agent(lib, storage), lib.Command

    def ask_and_approve() -> None:
        config = storage.new_thread()
        agent.invoke({"messages": [HumanMessage("hello")]}, config)
        done = agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
        assert done["messages"][-2].content == "found ana", "the tool was called"

    return Work(ask_and_approve, tidy=storage.forget, meter=storage.meter)


def new_agent(lib: Library) -> Work:
    """To make such an agent, as services do that make one for each request."""
    storage = Storage(lib)
    return Work(lambda: _agent(lib, storage))


def _agent(lib: Library, storage: Storage) -> Any:
    root = "signoff.agents" if lib.root == OURS else "langchain.agents"
    watch = import_module(f"{root}.middleware").HumanInTheLoopMiddleware(interrupt_on={"look": True})
    model, look = Scripted(account=Account()), Look(account=Account())
    return import_module(root).create_agent(model, [look], middleware=[watch], checkpointer=storage.saver)
