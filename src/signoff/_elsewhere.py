"""Names that others have and signoff does not: whoever imports one is told what there is in its place."""

import sys
from collections.abc import Mapping
from opcode import opmap
from types import FrameType
from typing import Any, NoReturn

__all__ = ["OF_CONSTANTS", "OF_ERRORS", "OF_GRAPHS", "refuse_theirs", "tell_of_module", "tell_where"]

_IMPORT_FROM = opmap["IMPORT_FROM"]

OF_CONSTANTS = dict.fromkeys(("Send", "Interrupt"), "Import it from signoff.types")

OF_ERRORS = {
    "NodeInterrupt": "Call interrupt(...), from signoff.types, and go on with the answer that it returns",
    "EmptyChannelError": "A key that was never written is not in the state",
    "ErrorCode": "The message of an error says what to do",
    "UnknownInterruptError": "An answer to a question that is not open is InvalidAnswer",
}

OF_GRAPHS = {"MessageGraph": "Write StateGraph(MessagesState), and return {'messages': [...]} from its nodes"}

_MODULES = {
    "signoff.utils": "What LangGraph has in utils.config is in signoff.config; for RunnableCallable(f, af), of "
    "utils.runnable, write RunnableLambda(f, afunc=af), from langchain_core.runnables",
    "signoff.graph.ui": "It is for the front end of LangGraph's server, and there is none here. To send something to "
    "one of your own, call get_stream_writer(), from signoff.config",
    "signoff.pregel.debug": "Import what streams show from signoff.types",
    "signoff.pregel.protocol": "Any graph is a Pregel, from signoff.pregel; RunnableConfig is in signoff.config",
    "signoff.pregel.remote": "It is a client of LangGraph's server, and there is none here. A node may call whatever "
    "serves the other graph, as it calls any service",
    "signoff.pregel.types": "Import from signoff.types",
    "signoff.store.base.batch": "Derive a store of your own from BaseStore, in signoff.store.base, and say what batch "
    "and abatch do",
}


def tell_where(module: str, name: str, elsewhere: Mapping[str, str], page: str = "docs/langgraph.md") -> NoReturn:
    """The error for a name that a module does not have; called by the module's `__getattr__`.

    elsewhere: what there is instead, by name. It is told to whoever imports such a name; a program that only asks
    whether it is there, as with hasattr, gets its answer.
    """
    if name not in elsewhere:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    told = f"{module} has no {name}. {elsewhere[name]}. What else is different: {page}."
    raise ImportError(told, name=module) if _imports(sys._getframe(2)) else AttributeError(told)


def tell_of_module(module: str) -> NoReturn:
    """The error for a module that others have; all that such a module does is to call this."""
    told = f"There is no {module}. {_MODULES[module]}. What else is different: docs/langgraph.md."
    raise ModuleNotFoundError(told, name=module)


def refuse_theirs(thing: Any, teller: str, error: type[Exception]) -> None:
    """Refuse a Command or a Send of LangGraph: some import of a program that was moved here is still the old one."""
    name = type(thing).__name__
    if name in ("Command", "Send") and type(thing).__module__ == "langgraph.types":
        raise error(f"{teller} {thing!r}, a {name} of LangGraph. Import {name} from signoff.types.")


def _imports(frame: FrameType) -> bool:
    """Whether code is at a `from ... import ...`. Of an AttributeError, Python would not say there what it says."""
    return frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM
