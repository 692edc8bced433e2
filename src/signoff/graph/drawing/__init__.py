"""Pictures of graphs: as mermaid text, in letters, and as SVG."""

from signoff.graph.drawing.mermaid import CurveStyle, NodeStyles
from signoff.graph.drawing.parts import Edge, Node
from signoff.graph.drawing.picture import Graph, NeedsNetwork

__all__ = ["CurveStyle", "Edge", "Graph", "NeedsNetwork", "Node", "NodeStyles"]
