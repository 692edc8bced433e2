"""Every public name of LangGraph, and of LangChain's agents, is in the same place here, or is said not to be there."""

import re
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

GUIDES = Path(__file__).parents[2] / "docs"

MODULES = [
    *["graph", "graph.message", "graph.state", "types", "func", "errors", "config", "runtime", "constants", "typing"],
    *["channels", "managed", "callbacks", "pregel", "prebuilt", "stream"],
    *["checkpoint.base", "checkpoint.memory", "checkpoint.sqlite", "checkpoint.sqlite.aio"],
    *["checkpoint.postgres", "checkpoint.postgres.aio", "checkpoint.serde.jsonplus"],
    *["store.base", "store.memory", "store.sqlite", "store.postgres", "cache.base", "cache.memory", "cache.sqlite"],
    "cache.redis",
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
