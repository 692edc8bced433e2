"""The graph command: a graph as a picture."""

from pathlib import Path

from signoff.checkpoint.memory import InMemorySaver
from signoff.cli.apps import find
from signoff.cli.output import show
from signoff.errors import InvalidInput


def draw(app: str, format: str, xray: bool, output: Path | None, json: bool) -> None:
    # Nothing is run, so nothing is stored.
    picture = find(app, InMemorySaver()).get_graph(xray=xray)
    draws = {"mermaid": picture.draw_mermaid, "svg": picture.draw_svg, "ascii": picture.draw_ascii}
    if format not in draws:
        raise InvalidInput(f"--format {format!r} is not known. Use mermaid, svg or ascii.")
    text = draws[format]()
    if output is not None:
        _write(output, text)
    edges = [{"source": edge.source, "target": edge.target, "conditional": edge.conditional} for edge in picture.edges]
    data = {"nodes": list(picture.nodes), "edges": edges, format: text}
    show(data, json, lambda out: print(f"Written to {output}." if output else text.rstrip("\n")))


def _write(output: Path, text: str) -> None:
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--output {str(output)!r} cannot be written: {error.strerror}.") from error
