"""Names that others have and signoff does not: whoever imports one is told what there is in its place."""

import sys
from collections.abc import Mapping
from opcode import opmap
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "OF_CONSTANTS",
    "OF_ERRORS",
    "OF_GRAPHS",
    "OF_POSTGRES",
    "OF_PREBUILT",
    "OF_PREGEL",
    "OF_SAVERS",
    "OF_TYPES",
    "OF_TYPING",
    "THEIR_TABLES",
    "refuse_their_channel",
    "refuse_theirs",
    "tell_of_module",
    "tell_of_tables",
    "tell_where",
    "told_of_langchains",
    "told_of_theirs",
]

_IMPORT_FROM = opmap["IMPORT_FROM"]

_OF_ENGINE = (
    "It is of LangGraph's own engine. A node is given the state and returns what changes; get_config(), get_store() "
    "and get_stream_writer(), from signoff.config, and get_runtime(), from signoff.runtime, have the rest"
)

OF_CONSTANTS = {
    **dict.fromkeys(("Send", "Interrupt"), "Import it from signoff.types"),
    **{f"CONFIG_KEY_{key.upper()}": f'Write "{key}"' for key in ("thread_id", "checkpoint_ns", "checkpoint_id")},
    **dict.fromkeys(
        (
            *("CONFIG_KEY_READ", "CONFIG_KEY_SEND", "CONFIG_KEY_CALL", "CONFIG_KEY_STREAM", "CONFIG_KEY_STREAM_WRITER"),
            *("CONFIG_KEY_STORE", "CONFIG_KEY_CACHE", "CONFIG_KEY_CHECKPOINTER", "CONFIG_KEY_CHECKPOINT_MAP"),
            *("CONFIG_KEY_RESUMING", "CONFIG_KEY_RESUME_MAP", "CONFIG_KEY_TASK_ID", "CONFIG_KEY_RUNTIME"),
            *("CONFIG_KEY_SCRATCHPAD", "CONFIG_KEY_PREVIOUS", "CONFIG_KEY_DURABILITY", "NULL_TASK_ID"),
        ),
        _OF_ENGINE,
    ),
}

OF_ERRORS = {
    "NodeInterrupt": "Call interrupt(...), from signoff.types, and go on with the answer that it returns",
    "EmptyChannelError": "A key that was never written is not in the state",
    "ErrorCode": "The message of an error says what to do",
    "UnknownInterruptError": "An answer to a question that is not open is InvalidAnswer",
    "is_invalid_resume": "An answer that does not fit its question is InvalidAnswer",
}

OF_GRAPHS = {
    "MessageGraph": "Write StateGraph(MessagesState), and return {'messages': [...]} from its nodes",
    "Graph": "Write StateGraph(...), with the type of what its nodes share",
}

OF_SAVERS = {"MemorySaver": "Import it from signoff.checkpoint.memory"}

OF_TYPES = {
    "CacheKey": "A cache is given pairs of a namespace and a key: FullKey, in signoff.cache.base",
    "PregelExecutableTask": "What streams and snapshots show of a task is a PregelTask",
}

OF_TYPING = dict.fromkeys(("NodeInputT", "NodeInputT_contra"), "A type variable of your own does the same")

OF_PREGEL = {"Pregel": "Import it from signoff.pregel"}

_TOOL_NODE = "Write ToolNode(tools), from signoff.prebuilt: it calls the tools that the last message asks for"

OF_PREBUILT = dict.fromkeys(("ToolExecutor", "ToolInvocation"), _TOOL_NODE)

_SHALLOW = (
    'Take {}, from signoff.checkpoint.postgres, and call the graph with durability="exit": it stores one checkpoint a '
    "run; keep_last(1) removes the older ones"
)

_OWN_SAVER = "Derive a saver of your own from BaseCheckpointSaver, in signoff.checkpoint.base"

_OWN_STORE = "Derive a store of your own from BaseStore, in signoff.store.base, and say what batch and abatch do"

OF_POSTGRES = {
    "ShallowPostgresSaver": _SHALLOW.format("PostgresSaver"),
    "AsyncShallowPostgresSaver": _SHALLOW.format("AsyncPostgresSaver"),
    "BasePostgresSaver": _OWN_SAVER,
}

_CALLABLE = (
    "For RunnableCallable(f, af), write RunnableLambda(f, afunc=af), from langchain_core.runnables; where f had a "
    "store or a runtime as a parameter, get_store() and get_runtime(), from signoff.config and signoff.runtime, give "
    "it inside"
)

_LOW_LEVEL = "Write NodeBuilder().subscribe_only(...).do(...).write_to(...), from signoff.pregel"

_OF_OTHERS = "It is a package of its own, which is taken as it is: import from {}, as before"

_MODULES = {
    "signoff._internal": "What is private to LangGraph is not here. get_config is in signoff.config; import "
    f"ensure_config, patch_config and merge_configs from langchain_core.runnables.config. {_CALLABLE}",
    "signoff.checkpoint.base.id": "A saver is given ids; for one of your own, call uuid6(), from "
    "signoff.checkpoint.ids, which returns its text",
    "signoff.checkpoint.conformance": "What a saver promises is in signoff.testing.conformance.savers, as functions",
    "signoff.checkpoint.duckdb": _OF_OTHERS.format("langgraph.checkpoint.duckdb"),
    "signoff.checkpoint.mongodb": _OF_OTHERS.format("langgraph.checkpoint.mongodb"),
    "signoff.checkpoint.mysql": _OF_OTHERS.format("langgraph.checkpoint.mysql"),
    "signoff.store.mongodb": _OF_OTHERS.format("langgraph.store.mongodb"),
    "signoff.checkpoint.serde.event_hooks": "There is nothing to listen to: what has no registered type is refused, "
    "with its path, before it is stored, and what is read is of registered types. See docs/types.md",
    "signoff.pregel.read": _LOW_LEVEL,
    "signoff.pregel.write": _LOW_LEVEL,
    "signoff.checkpoint.postgres.base": _OWN_SAVER,
    "signoff.checkpoint.postgres.shallow": _SHALLOW.format("PostgresSaver"),
    "signoff.checkpoint.aiosqlite": "Import AsyncSqliteSaver from signoff.checkpoint.sqlite.aio",
    "signoff.graph.graph": "A graph that was compiled is a CompiledStateGraph, from signoff.graph.state; START and END "
    "are in signoff.graph",
    "signoff.prebuilt.tool_executor": _TOOL_NODE,
    "signoff.utils": "get_config and get_store are in signoff.config; import ensure_config from "
    f"langchain_core.runnables.config. {_CALLABLE}",
    "signoff.graph.ui": "It is for the front end of LangGraph's server, and there is none here. To send something to "
    "one of your own, call get_stream_writer(), from signoff.config",
    "signoff.pregel.debug": "Import what streams show from signoff.types",
    "signoff.pregel.protocol": "Any graph is a Pregel, from signoff.pregel; RunnableConfig is in signoff.config",
    "signoff.pregel.remote": "It is a client of LangGraph's server, and there is none here. A node may call whatever "
    "serves the other graph, as it calls any service",
    "signoff.pregel.types": "Import from signoff.types",
    "signoff.store.base.batch": _OWN_STORE,
    "signoff.store.postgres.base": f"PostgresStore is in signoff.store.postgres. {_OWN_STORE}",
    "signoff.store.sqlite.base": f"SqliteStore is in signoff.store.sqlite. {_OWN_STORE}",
    "signoff.warnings": "Nothing here is deprecated, and nothing warns of that: leave out what would keep it silent",
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


def tell_of_module(module: str, instead: str | None = None, page: str = "docs/langgraph.md") -> NoReturn:
    """The error for a module that others have; all that such a module does is to call this.

    instead: what there is in its place, if it is not said here.
    """
    told = f"There is no {module}. {instead or _MODULES[module]}. What else is different: {page}."
    raise ModuleNotFoundError(told, name=module)


def refuse_theirs(thing: Any, teller: str, error: type[Exception]) -> None:
    """Refuse a Command, say, of LangGraph: some import of a program that was moved here is still the old one."""
    name = type(thing).__name__
    if name in _TYPES and type(thing).__module__ == "langgraph.types":
        raise error(f"{teller} {thing!r}, {_a(name)} of LangGraph. Import {name} from signoff.types.")


_TYPES = ("Command", "Send", "Overwrite", "RetryPolicy", "CachePolicy", "TimeoutPolicy", "TracePolicy", "StateUpdate")


def told_of_langchains(thing: Any, ours: str) -> str | None:
    """What to say of an object that is of LangChain's agents, and has a class of the same name in a module of ours."""
    if not type(thing).__module__.startswith("langchain.agents."):
        return None
    name = type(thing).__name__
    return f"{_a(name)} of LangChain. Import {name} from {ours}."


def refuse_their_channel(key: str, channel: Any, error: type[Exception]) -> None:
    """Refuse a channel of LangGraph, or one that is derived from it."""
    kind = channel if isinstance(channel, type) else type(channel)
    if any(base.__module__.startswith("langgraph.channels.") for base in kind.__mro__):
        raise error(
            f"Key {key!r} has a channel of LangGraph, {kind.__name__}. Import it from signoff.channels; one of your "
            "own is derived from BaseChannel there."
        )


def _a(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


THEIR_TABLES = {"saver": ("checkpoints", "checkpoint_ns"), "store": ("store", "prefix")}
"""What LangGraph's savers and stores keep their things in: a table, and a column that tells it from other ones."""


def tell_of_tables(owner: str) -> None:
    """Tell, in the log, that a database has things in it which LangGraph has stored."""
    import logging

    logging.getLogger("signoff").warning(
        "The database has the table %r of LangGraph. signoff keeps what it stores in tables of its own, beside it, and "
        "does not read it: what LangGraph has stored is not there for this %s. How to move threads: "
        "docs/langgraph.md.",
        THEIR_TABLES[owner][0],
        owner,
    )


def told_of_theirs(teller: str, error: Exception) -> str | None:
    """What to say of an error that comes of something of LangGraph's: it finds no run of its own here."""
    if "langgraph" not in sys.modules:
        return None
    if type(error).__module__ == "langgraph.errors" and type(error).__name__ == "NodeInterrupt":
        return f"{teller} raised a NodeInterrupt of LangGraph. {OF_ERRORS['NodeInterrupt']}."
    module, function = _call_that_failed(error)
    if module not in _LOOK_FOR_RUN:
        return None
    name, shown = ("task", "a @task") if module == "langgraph.func" else (function, f"{function}()")
    ours = module.replace("langgraph", "signoff", 1)
    return f"{teller} called {shown} of LangGraph, which finds no run of its own here. Import {name} from {ours}."


_LOOK_FOR_RUN = tuple(f"langgraph.{name}" for name in ("types", "config", "runtime", "func", "graph.message"))


def _call_that_failed(error: Exception) -> tuple[str, str]:
    """The function of LangGraph's that an error comes from, as it was called: its module, and its name."""
    called, at, is_theirs = ("", ""), error.__traceback__, False
    while at is not None:
        module = str(at.tb_frame.f_globals.get("__name__"))
        is_theirs = module.startswith("langgraph.")
        if is_theirs and not called[0]:
            called = module, at.tb_frame.f_code.co_name
        at = at.tb_next
    return called if is_theirs else ("", "")


def _imports(frame: FrameType) -> bool:
    """Whether code is at a `from ... import ...`. Of an AttributeError, Python would not say there what it says."""
    return frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM
