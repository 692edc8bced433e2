"""What `compile()` returns."""

from collections import ChainMap
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from typing_extensions import is_typeddict

from signoff._words.choices import StreamMode
from signoff.checkpoint.serde import register_types, types_in
from signoff.checkpoint.serde.own import OwnTypes, own_types
from signoff.engine.program import UNNAMED, Program
from signoff.errors import InvalidGraph
from signoff.graph.compiling import program_of
from signoff.graph.description import Description
from signoff.graph.schema import ROOT
from signoff.pregel.describing import named_with, typed_model
from signoff.pregel.lowlevel import ContextT, InputT, OutputT, Pregel, StateT
from signoff.pregel.schemas import root_model_of
from signoff.pregel.showing import forms_of

if TYPE_CHECKING:
    from signoff.graph.drawing import Graph
    from signoff.graph.schema import Schema

__all__ = ["CompiledStateGraph", "compiled"]


class CompiledStateGraph(Pregel[StateT, ContextT, InputT, OutputT]):
    """A graph that was described with StateGraph."""

    default_stream_mode: ClassVar[StreamMode] = "updates"

    def __init__(self, builder: Description, program: Program, **settings: Any) -> None:
        self.builder = builder
        self.forms = forms_of(builder.types.output.maker(), builder.types.state.maker())
        self._set_up(program, context_schema=builder.types.context, **settings)

    def get_graph(self, config: Any = None, *, xray: int | bool = False) -> "Graph":
        """A picture of the graph: draw_mermaid(), draw_ascii(), draw_svg()."""
        from signoff.graph.picturing import picture_of

        nested = {name: node.graph for name, node in self.program.nodes.items()}
        stops = {name: self._stops_at(name) for name in self.builder.nodes}
        return picture_of(self.builder, nested, stops, xray)

    def _stops_at(self, name: str) -> str:
        """Whether a run stops before a node, after it, or both, as pictures say it."""
        sides = (("before", self.interrupt_before), ("after", self.interrupt_after))
        return ",".join(side for side, names in sides if name in names)

    async def aget_graph(self, config: Any = None, *, xray: int | bool = False) -> "Graph":
        """The same as get_graph."""
        return self.get_graph(config, xray=xray)

    def get_input_schema(self, config: Any = None) -> Any:
        """A pydantic model of the input."""
        return self._schema_model("Input", self.builder.types.input)

    def get_output_schema(self, config: Any = None) -> Any:
        """A pydantic model of the output."""
        return self._schema_model("Output", self.builder.types.output)

    def _schema_model(self, suffix: str, schema: "Schema") -> Any:
        name = named_with(self.name, suffix)
        if schema.is_root:
            return root_model_of(name, schema.channels[ROOT].typ, None)
        return typed_model(schema.type.__name__ if is_typeddict(schema.type) else name, schema.declared)


def _own_types(builder: Description, program: Program) -> OwnTypes:
    """The classes of a graph, registered, with those of the graphs in it that it has none of the same names for.

    What appears in the types of a graph may be saved, and comes back as what it was.
    """
    known = builder.types
    schemas = {id(one): one for one in (known.state, known.input, known.output, *known.others.values())}.values()
    types = types_in(*(hint for schema in schemas for hint in schema.hints))
    register_types(types)
    nested = [node.graph.program.types for node in program.nodes.values() if node.graph is not None]
    return {**ChainMap(*nested), **own_types(types, [schema.declared for schema in schemas])}


def compiled(
    builder: Description,
    checkpointer: Any,
    *,
    interrupt_before: Any,
    interrupt_after: Any,
    name: str | None,
    pause: Literal["step", "branch"],
    **settings: Any,
) -> CompiledStateGraph:
    """Make a description runnable that was found good."""
    if pause not in ("step", "branch"):
        raise InvalidGraph(f'compile(pause=...) must be "step" or "branch", not {pause!r}.')
    program = program_of(builder, name or UNNAMED, pauses_branch=pause == "branch")
    program.types = _own_types(builder, program)
    return CompiledStateGraph(
        builder,
        program,
        name=name,
        checkpointer=checkpointer,
        interrupt_before=interrupt_before or [],
        interrupt_after=interrupt_after or [],
        **settings,
    )
