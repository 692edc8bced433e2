"""`signoff --help` starts with little more than Python itself: counted in modules, not in time."""

import subprocess
import sys

MOST_MODULES = 230
"""In sys.modules, those that Python itself starts with included."""

HEAVY = {
    *("asyncio", "aiosqlite", "sqlite3", "psycopg", "redis", "pydantic", "jsonschema", "langchain_core", "msgpack"),
    *("prompt_toolkit", "rich", "pygments", "signoff.graph", "signoff.pregel", "signoff.engine", "signoff.drivers"),
}


def loaded_by(*arguments: str) -> set[str]:
    program = (
        "import atexit, sys; sys.argv = ['signoff', *sys.argv[1:]]\n"
        "atexit.register(lambda: print('\\n', *sys.modules, file=sys.stderr))\n"
        "from signoff.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_the_help_loads_no_database_no_graph_and_no_screen():
    assert loaded_by("--help") & HEAVY == set()


def test_the_help_loads_few_modules():
    assert len(loaded_by("--help")) <= MOST_MODULES


def test_the_help_of_a_command_loads_as_little():
    own = {"pydantic"}  # typer looks at the types of arguments with it
    assert loaded_by("run", "--help") & HEAVY - own == set()
