"""How users describe a workflow as a graph."""

from typing import NoReturn

from signoff._elsewhere import OF_GRAPHS, tell_where
from signoff.constants import END, START
from signoff.graph.message import MessagesState, add_messages
from signoff.graph.state import StateGraph

__all__ = ["END", "START", "MessagesState", "StateGraph", "add_messages"]


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_GRAPHS)
