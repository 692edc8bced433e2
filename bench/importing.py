"""Importing: what `import signoff.graph` costs a fresh process."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median

from bench.library import OURS, THEIRS
from bench.measuring import Precision
from bench.rows import Row

_PROGRAM = """
import time
started = time.process_time()
import {root}.graph
spent = time.process_time() - started
import sys
modules = len(sys.modules)
import json
print(json.dumps([spent, modules]))
"""


def rows(precision: Precision) -> Iterator[Row]:
    """The CPU of the import, and the modules that are there after it."""
    with tempfile.TemporaryDirectory() as bytecode:
        for root in (OURS, THEIRS):
            _import(root, bytecode)  # which compiles it: from then on it is loaded as an installed library is
        rounds = [(_import(OURS, bytecode), _import(THEIRS, bytecode)) for _ in range(precision.rounds)]
    spent = [median(figures[side][0] for figures in rounds) for side in (0, 1)]
    yield Row("import graph, CPU", *spent, "s", at_least=8)
    yield Row("import graph, modules loaded", rounds[0][0][1], rounds[0][1][1], "modules", at_most=150)


def _import(root: str, bytecode: str) -> tuple[float, int]:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    program = [sys.executable, "-c", _PROGRAM.format(root=root)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    spent, modules = json.loads(done.stdout)
    return spent, modules
