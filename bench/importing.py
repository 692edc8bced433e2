"""Importing: what `import signoff.graph` costs a fresh process."""

import json
import os
import subprocess
import sys
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
    for root in (OURS, THEIRS):
        _import(root)  # which compiles it: from then on it is loaded as an installed library is
    rounds = [(_import(OURS), _import(THEIRS)) for _ in range(precision.rounds)]
    (_, our_modules), (_, their_modules) = rounds[0]
    ours, theirs = (median(spent) for spent in zip(*((mine[0], other[0]) for mine, other in rounds), strict=True))
    yield Row("import graph, CPU", ours, theirs, "s", at_least=8)
    yield Row("import graph, modules loaded", our_modules, their_modules, "modules", at_most=150)


def _import(root: str) -> tuple[float, int]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    program = [sys.executable, "-c", _PROGRAM.format(root=root)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    spent, modules = json.loads(done.stdout)
    return spent, modules
