"""Every public name of LangGraph, and of LangChain's agents, is in the same place here, or is said not to be there."""

import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

GUIDES = Path(__file__).parents[2] / "docs"

MODULES = [
    *["graph", "graph.message", "graph.state", "types", "func", "errors", "config", "runtime", "constants", "typing"],
    *["channels", "managed", "callbacks", "pregel", "prebuilt", "stream"],
    *["checkpoint.base", "checkpoint.memory", "checkpoint.sqlite", "checkpoint.sqlite.aio"],
    *["checkpoint.postgres", "checkpoint.postgres.aio", "checkpoint.serde.jsonplus"],
    *["store.base", "store.base.embed", "store.memory", "store.sqlite", "store.postgres"],
    *["cache.base", "cache.memory", "cache.sqlite", "cache.redis"],
]
AGENTS = ["agents", "agents.middleware", "agents.middleware.types", "agents.structured_output"]


@pytest.mark.parity
@pytest.mark.parametrize(
    ("theirs", "ours", "guide"),
    [(f"langgraph.{tail}", f"signoff.{tail}", "langgraph.md") for tail in MODULES]
    + [(f"langchain.{tail}", f"signoff.{tail}", "agents.md") for tail in AGENTS],
)
def test_a_public_name_is_there_or_the_guide_says_that_it_is_not(theirs, ours, guide):
    public = getattr(import_module(theirs), "__all__", ())
    missing = [name for name in public if not hasattr(import_module(ours), name)]
    text = (GUIDES / guide).read_text(encoding="utf-8")
    assert [name for name in missing if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parity
@pytest.mark.parametrize("tail", ["agents.middleware", "agents.middleware.types"])
def test_whoever_imports_middleware_that_is_not_there_is_told_what_there_is_instead(tail):
    ours = import_module(f"signoff.{tail}")
    for name in import_module(f"langchain.{tail}").__all__:
        if not hasattr(ours, name):
            with pytest.raises(ImportError, match=rf"{tail} has no {name}. .*docs/agents.md"):
                exec(f"from signoff.{tail} import {name}")
    with pytest.raises(ImportError, match="cannot import name 'NothingAtAll'"):
        exec(f"from signoff.{tail} import NothingAtAll")


NOT_HERE = ["auto_mode", "file_search", "model_refusal", "model_router", "provider_tool_search", "shell_tool"]


@pytest.mark.parity
def test_middleware_can_be_imported_from_the_modules_that_langchain_has_it_in():
    theirs = import_module("langchain.agents.middleware")
    modules = [one.name for one in pkgutil.iter_modules(theirs.__path__) if not one.name.startswith("_")]
    for tail in sorted(set(modules) - set(NOT_HERE)):
        public = _public(import_module(f"langchain.agents.middleware.{tail}"))
        ours = import_module(f"signoff.agents.middleware.{tail}")
        assert [f"{tail}.{name}" for name in public if not hasattr(ours, name)] == []


def _public(module):
    if hasattr(module, "__all__"):
        return module.__all__
    made_here = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return [name for name in made_here if name.endswith(("Middleware", "Error"))]


@pytest.mark.parametrize("tail", NOT_HERE)
def test_whoever_imports_a_module_of_middleware_that_is_not_there_is_told_what_there_is_instead(tail):
    with pytest.raises(ModuleNotFoundError, match=rf"There is no .*{tail}. .*docs/agents.md"):
        import_module(f"signoff.agents.middleware.{tail}")


@pytest.mark.parity
@pytest.mark.parametrize("name", ["Command", "Interrupt", "PregelTask", "RetryPolicy", "StateSnapshot", "StateUpdate"])
def test_the_types_of_what_is_in_a_word_can_be_asked_for(name):
    ours, theirs = (getattr(import_module(f"{library}.types"), name) for library in ("signoff", "langgraph"))
    assert get_type_hints(ours).keys() >= get_type_hints(theirs).keys()


@pytest.mark.parity
@pytest.mark.parametrize(
    ("tail", "name"),
    [
        ("graph.message", "AnyMessage"),
        ("checkpoint.base", "SerializerProtocol"),
        ("checkpoint.base", "JsonPlusSerializer"),
        ("func", "Pregel"),
    ],
)
def test_a_name_that_programs_import_from_where_it_is_only_used_is_there_too(tail, name):
    ours, theirs = (getattr(import_module(f"{library}.{tail}"), name) for library in ("signoff", "langgraph"))
    assert getattr(ours, "__name__", ours) == getattr(theirs, "__name__", theirs)


ALIASES = [
    ("langgraph.types", "Checkpointer"),
    ("langgraph.channels", "LastValue"),
    ("langchain.agents.structured_output", "ResponseFormat"),
    ("langchain.agents.middleware.types", "ModelCallResult"),
]


@pytest.mark.parity
@pytest.mark.parametrize(("theirs", "name"), ALIASES)
def test_a_type_can_be_written_in_annotations_as_there(theirs, name):
    ours = f"signoff.{theirs.partition('.')[2]}"
    for module in (theirs, ours):
        alias = getattr(import_module(module), name)
        written = alias[int] if getattr(alias, "__parameters__", ()) or name == "LastValue" else alias
        assert type(None) in get_args(written | None)


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_class_can_be_written_with_the_types_that_it_is_generic_over_there():
    missing = {}
    for theirs, ours in _modules():
        for name in _classes(theirs):
            generic, own = getattr(theirs, name), getattr(ours, name, None)
            if own is not None and (lacking := _counts(generic) - _counts(own)):
                missing[f"{ours.__name__}.{name}"] = lacking
    assert missing == {}


def _modules():
    """Every public module that both have, theirs and ours."""
    for root, own in (("langgraph", "signoff"), ("langchain.agents", "signoff.agents")):
        for found in pkgutil.walk_packages(import_module(root).__path__, f"{root}.", onerror=lambda name: None):
            if "._" not in found.name:
                try:
                    yield import_module(found.name), import_module(own + found.name.removeprefix(root))
                except ImportError:
                    continue  # it is not there, or needs something that is not installed


def _classes(module):
    found = (name for name, value in vars(module).items() if isinstance(value, type) and not name.startswith("_"))
    return [name for name in found if vars(module)[name].__module__.startswith(("langgraph.", "langchain.agents."))]


def _counts(generic):
    """How many types a class can be written with."""
    return {count for count in range(1, 6) if _can_be_written(generic, (int,) * count)}


def _can_be_written(generic, types):
    try:
        generic[types if len(types) > 1 else types[0]]
    except TypeError:
        return False
    return True


@pytest.mark.parity
def test_what_a_saver_of_ones_own_takes_from_a_config_is_the_same():
    config = {
        "configurable": {"thread_id": "1", "checkpoint_ns": "", "customer": "Ana", "deep": {}, "__private": 1},
        "metadata": {"tier": 2, "nobody": None, "langgraph_node": "a"},
    }
    metadata = {"source": "loop", "step": 1, "parents": {}, "writes": {"a": "anything"}}
    theirs, ours = import_module("langgraph.checkpoint.base"), import_module("signoff.checkpoint.base")
    for name in ("get_checkpoint_metadata", "get_serializable_checkpoint_metadata"):
        assert getattr(ours, name)(config, metadata) == getattr(theirs, name)(config, metadata)
