"""Versions of tools: an approval is for what a tool does, and a deploy may change that."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool

from signoff._annotations import code_of
from signoff.drivers.scopes.callsite import code_digest
from signoff.drivers.scopes.digests import stored_digest
from signoff.prebuilt.injection import functions_of
from signoff.prebuilt.tool_calls import digest_of
from signoff.prebuilt.toolbox import argument_defaults

__all__ = ["version_of"]


def version_of(tool: BaseTool) -> str:
    """Stands for what a tool does: its code, the defaults of its arguments, and the `version` in its metadata."""
    said = (tool.metadata or {}).get("version")
    codes = [_looks_of(one) for function in functions_of(tool) for one in _layers_of(function)]
    defaults = {name: stored_digest(value) for name, value in argument_defaults(tool).items()}
    return digest_of([tool.name, said, codes, defaults])


def _layers_of(function: Any) -> Iterator[Any]:
    """A function, and those that decorators stand around."""
    while function is not None:
        function = getattr(function, "__func__", function)
        yield function
        function = function.func if isinstance(function, partial) else getattr(function, "__wrapped__", None)


def _looks_of(function: Any) -> Any:
    """What a function does, with the defaults of its parameters; None if that is not written in Python."""
    code = code_of(function)
    if code is None:
        return None
    return code_digest(code), _digests(function.__defaults__ or ()), _digests((function.__kwdefaults__ or {}).values())


def _digests(values: Iterable[Any]) -> list[str]:
    return [stored_digest(value) for value in values]
