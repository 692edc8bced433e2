"""The programs that remember, with signoff storing in SQLite: a saver must not show."""

from dataclasses import replace

from . import (
    test_branches,
    test_breakpoints,
    test_commands,
    test_durability,
    test_edges,
    test_errors,
    test_functional,
    test_functional_pauses,
    test_history,
    test_interrupts,
    test_nested,
    test_nested_pauses,
    test_policies,
    test_schemas,
    test_sends,
    test_state,
    test_updates,
)
from .harness import as_one_test

_FILES = (
    test_branches,
    test_breakpoints,
    test_commands,
    test_durability,
    test_edges,
    test_errors,
    test_functional,
    test_functional_pauses,
    test_history,
    test_interrupts,
    test_nested,
    test_nested_pauses,
    test_policies,
    test_schemas,
    test_sends,
    test_state,
    test_updates,
)

_WITHOUT = {"p25_errors_of_the_saver_reach_the_caller"}
"""What brings its own saver."""


def _remembers(case):
    names = case.program.__code__.co_names
    return ("saved" in names or "saver" in names) and case.program.__name__ not in _WITHOUT


def _cases():
    """Of each file, every second program in sync runs, and the others in async ones."""
    for file in _FILES:
        names = dict.fromkeys(case.program.__name__ for case in file.program.cases if _remembers(case))
        for at, name in enumerate(names):
            ways = [case for case in file.program.cases if case.program.__name__ == name]
            yield next((case for case in ways if case.is_async == bool(at % 2)), ways[0])


test_same_in_sqlite = as_one_test(replace(case, storage="sqlite") for case in _cases())
