"""What the figures were taken on, and with: no name of a host among it."""

import os
import platform
import sqlite3
from importlib.metadata import version
from pathlib import Path

from bench import postgres

LIBRARIES = (
    "signoff",
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "langchain-core",
    "aiosqlite",
    "psycopg",
)


def machine() -> dict[str, str]:
    """What the machine is like."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}, {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "SQLite": f"{sqlite3.sqlite_version}, write-ahead log, synchronous FULL or NORMAL as the row says",
        "Postgres": f"{postgres.setting('server_version')}, fsync {postgres.setting('fsync')}, "
        f"synchronous_commit {postgres.setting('synchronous_commit')}, over a local socket",
    }


def load() -> dict[str, str]:
    """How busy the machine is with other things, to be asked before a run."""
    return {"load when the run began": f"{os.getloadavg()[0]:.1f}"}


def versions() -> dict[str, str]:
    """The versions of the libraries."""
    return {name: version(name) for name in LIBRARIES}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
