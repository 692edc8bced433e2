"""Importing: what `import signoff.graph` costs a fresh process, and what it costs until a first graph has run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from bench.library import OURS, THEIRS
from bench.measuring import Precision
from bench.rows import Row

GROUP = "import"

_PROGRAM = """
import time

started = time.process_time()
import {root}.graph
imported = time.process_time()
import sys
modules = len(sys.modules)

resumed = time.process_time()
graph = {root}.graph.StateGraph(dict)
graph.add_node("only", lambda state: {{"done": True}})
graph.add_edge({root}.graph.START, "only")
graph.compile().invoke({{}})
ran = time.process_time()

import json
print(json.dumps([imported - started, modules, imported - started + ran - resumed]))
"""


class Seen(NamedTuple):
    """What a fresh process saw."""

    import_s: float
    modules: int
    first_run_s: float
    """The import included: what is loaded only when a graph is compiled or run counts here."""


def rows(precision: Precision) -> Iterator[Row]:
    """The CPU of the import, the modules that are there after it, and the CPU until a first graph has run."""
    for root in (OURS, THEIRS):
        seen_with(root)  # which compiles it: from then on it is loaded as an installed library is
    rounds = [(seen_with(OURS), seen_with(THEIRS)) for _ in range(precision.rounds)]
    ours, theirs = (_median(seen) for seen in zip(*rounds, strict=True))
    yield Row(GROUP, "import graph", ours.import_s, theirs.import_s, "s", 8, 20)
    yield Row(GROUP, "import graph, modules", ours.modules, theirs.modules, "modules")
    yield Row(GROUP, "import, compile and run one node", ours.first_run_s, theirs.first_run_s, "s")


def seen_with(root: str) -> Seen:
    """What a fresh process sees when it imports the graph of a library and runs a first one."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    program = [sys.executable, "-c", _PROGRAM.format(root=root)]
    done = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Seen(*json.loads(done.stdout))


def _median(seen: tuple[Seen, ...]) -> Seen:
    return Seen(*(median(figures) for figures in zip(*seen, strict=True)))
