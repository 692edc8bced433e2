"""How users describe a workflow as a graph."""

from signoff.constants import END, START
from signoff.graph.message import MessagesState, add_messages
from signoff.graph.state import StateGraph

__all__ = ["END", "START", "MessagesState", "StateGraph", "add_messages"]
