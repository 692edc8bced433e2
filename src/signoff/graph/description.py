"""The description of a graph: what StateGraph gathers, and compiling, checking and drawing read."""

from dataclasses import dataclass, field
from typing import Any

from signoff.graph.nodes import Defaults, NodeSpec
from signoff.graph.routing import BranchSpec
from signoff.graph.schema import Schema

__all__ = ["Description", "Schemas"]


@dataclass(slots=True)
class Schemas:
    """The types of a graph: of its state, input, output and context, and of its nodes' inputs."""

    state: Schema
    input: Schema
    output: Schema
    context: Any = None
    others: dict[Any, Schema] = field(default_factory=dict)

    def of(self, type_: Any) -> Schema | None:
        """The schema of the graph that a type is: most nodes read the whole state."""
        return next((one for one in (self.state, self.input, self.output) if one.type is type_), None)


class Description:
    """The nodes of a graph, the ways between them, and the types of what they share."""

    def __init__(self, types: Schemas) -> None:
        self.types = types
        self.nodes: dict[str, NodeSpec] = {}
        self.edges: set[tuple[str, str]] = set()
        self.waiting_edges: set[tuple[tuple[str, ...], str]] = set()
        self.branches: dict[str, dict[str, BranchSpec]] = {}
        self.defaults = Defaults()

    @property
    def state_schema(self) -> Any:
        """The type of the state."""
        return self.types.state.type

    @property
    def input_schema(self) -> Any:
        """The type of the input."""
        return self.types.input.type

    @property
    def output_schema(self) -> Any:
        """The type of the output."""
        return self.types.output.type

    @property
    def context_schema(self) -> Any:
        """The type of the context, if there is one."""
        return self.types.context

    @property
    def schemas(self) -> dict[Any, dict[str, Any]]:
        """The rules of the keys, by the type that they are declared in: `schemas[State]["log"]`."""
        types = (self.types.state, self.types.input, self.types.output)
        return {schema.type: {**schema.channels, **schema.managed} for schema in types}

    @property
    def channels(self) -> dict[str, Any]:
        """The rules of the keys, out of all schemas."""
        schemas = (self.types.output, self.types.input, self.types.state)
        return {key: channel for schema in schemas for key, channel in schema.channels.items()}

    @property
    def managed(self) -> dict[str, Any]:
        """The values that every step computes anew, out of all schemas: `is_last_step: IsLastStep`."""
        schemas = (self.types.output, self.types.input, self.types.state)
        return {key: value for schema in schemas for key, value in schema.managed.items()}
