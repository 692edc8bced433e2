"""What a graph says about itself: its parts and its schemas."""

from typing import TYPE_CHECKING, Any

from signoff.channels import BaseChannel
from signoff.pregel.base import Base
from signoff.pregel.schemas import fields_of, model_of, root_model_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from signoff._words.choices import All
    from signoff.pregel.nodes import LoneNode


class Describing(Base):
    """The part of a compiled graph that describes what it takes and gives."""

    @property
    def nodes(self) -> "dict[str, LoneNode]":
        """The nodes by their names, the virtual one at the start included; each can be called alone."""
        from signoff.pregel.nodes import LoneNode

        return {name: LoneNode(node) for name, node in self.program.nodes.items()}

    @property
    def channels(self) -> dict[str, BaseChannel]:
        """The rules of the channels by their names: of the state's keys, and of what makes nodes due."""
        return self.program.channels

    @property
    def input_channels(self) -> str | list[str]:
        """The channels that the input is written to: one, or several."""
        return _listed(self.program.input_keys)

    @property
    def output_channels(self) -> str | list[str]:
        """The keys of the output; of a graph that returns one value, the channel that has it."""
        return _listed(self.program.output_keys)

    @property
    def stream_channels(self) -> str | list[str]:
        """The keys that streams of values show; of a graph that returns one value, the channel that has it."""
        return _listed(self.program.stream_keys)

    @property
    def stream_channels_asis(self) -> str | list[str]:
        """The same."""
        return self.stream_channels

    @property
    def stream_channels_list(self) -> list[str]:
        """The same, always as a list."""
        shown = self.stream_channels
        return [shown] if isinstance(shown, str) else shown

    @property
    def trigger_to_nodes(self) -> dict[str, list[str]]:
        """The nodes that a write to a channel makes due, by the channels."""
        return {channel: list(nodes) for channel, nodes in self.program.listeners.items()}

    @property
    def interrupt_before_nodes(self) -> "All | Sequence[str]":
        """The nodes that every run stops in front of."""
        return self.interrupt_before

    @interrupt_before_nodes.setter
    def interrupt_before_nodes(self, nodes: "All | Sequence[str]") -> None:
        self.interrupt_before = nodes

    @property
    def interrupt_after_nodes(self) -> "All | Sequence[str]":
        """The nodes that every run stops behind."""
        return self.interrupt_after

    @interrupt_after_nodes.setter
    def interrupt_after_nodes(self, nodes: "All | Sequence[str]") -> None:
        self.interrupt_after = nodes

    @property
    def input_schema(self) -> Any:
        """A pydantic model of the input."""
        return self.get_input_schema()

    @property
    def output_schema(self) -> Any:
        """A pydantic model of the output."""
        return self.get_output_schema()

    def get_input_schema(self, config: Any = None) -> Any:
        """A pydantic model of the input."""
        return self._model("Input", self.program.input_keys)

    def get_output_schema(self, config: Any = None) -> Any:
        """A pydantic model of the output."""
        return self._model("Output", self.program.output_keys)

    def get_input_jsonschema(self, config: Any = None) -> dict[str, Any]:
        """The JSON Schema of the input."""
        schema: dict[str, Any] = self.get_input_schema().model_json_schema()
        return schema

    def get_output_jsonschema(self, config: Any = None) -> dict[str, Any]:
        """The JSON Schema of the output."""
        schema: dict[str, Any] = self.get_output_schema().model_json_schema()
        return schema

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """The JSON Schema of the context; None if the graph declares none."""
        if self.context_schema is None:
            return None
        schema: dict[str, Any] = typed_model(self.context_schema.__name__, self.context_schema).model_json_schema()
        return schema

    def _model(self, suffix: str, keys: str | tuple[str, ...]) -> Any:
        channels, name = self.program.channels, named_with(self.name, suffix)
        if isinstance(keys, str):
            return root_model_of(name, channels[keys].typ)
        return model_of(name, {key: (channels[key].typ, None) for key in keys})


def named_with(name: str, suffix: str) -> str:
    """What LangChain calls a part of something: `AgentInput`, or `agent_input`, as its name begins."""
    return f"{name}{suffix.title()}" if name[:1].isupper() else f"{name}_{suffix.lower()}"


def typed_model(name: str, type_: Any) -> Any:
    """A pydantic model of a TypedDict, a dataclass, or a model itself."""
    from signoff.pregel.typing import class_of, field_hints, is_pydantic

    if is_pydantic(type_):
        return type_
    return model_of(name, fields_of(class_of(type_), field_hints(type_)))


def _listed(keys: str | tuple[str, ...]) -> str | list[str]:
    return keys if isinstance(keys, str) else list(keys)
