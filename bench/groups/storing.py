"""Rows of what is stored: steps on every saver, a large value, calls of functions, and reading it again."""

from functools import partial

from bench.cases import Against, Case, Comparison, Figure
from bench.measuring import CPU, WALL
from bench.programs import bare, reads, saved, stores, tasks
from bench.storage import KINDS, MEMORY, POSTGRES, SQLITE_FULL, SQLITE_NORMAL, Kind

DURABILITIES = ("exit", "async", "sync")
IN_INSERTS = ((SQLITE_FULL, "sync"), (SQLITE_FULL, "async"), (SQLITE_NORMAL, "async"), (POSTGRES, "sync"))
"""What is also told in INSERTs by hand."""


def saver_rows() -> list[Case]:
    """Every saver, every durability, sync and async; by the wall where a step waits until it is stored."""
    cases: list[Case] = [
        _saved(kind, durability, is_async)
        for kind in KINDS
        for durability in DURABILITIES
        for is_async in (False, True)
    ]
    return [*cases, *(_in_bare_inserts(kind, durability) for kind, durability in IN_INSERTS)]


def _in_bare_inserts(kind: Kind, durability: str) -> Against:
    """What a step costs more than the least that can be done; by the wall where it waits for the disk."""
    is_waiting = durability == "sync"
    clock = WALL if is_waiting else CPU
    return Against(
        f"step, {kind.name}, {durability}, in bare INSERTs" + ", wall" * is_waiting,
        partial(saved.saved_step, kind=kind, durability=durability, clock=clock),
        partial(bare.bare_insert, kind=kind, clock=clock),
        must=1.5 if is_waiting and kind is SQLITE_FULL else None,
        stretch=1.2 if is_waiting and kind is SQLITE_FULL else None,
        rounds=25 if is_waiting else 9,
    )


def _saved(kind: Kind, durability: str, is_async: bool) -> Comparison:
    is_waiting = durability == "sync" and kind is not MEMORY
    must, stretch = _saver_budget(kind, durability)
    program = saved.async_saved_step if is_async else saved.saved_step
    return Comparison(
        f"step, {kind.name}, {durability}" + ", async nodes" * is_async + ", wall" * is_waiting,
        partial(program, kind=kind, durability=durability, clock=WALL if is_waiting else CPU),
        must=must,
        stretch=stretch,
        rounds=25 if is_waiting else None,
    )


def _saver_budget(kind: Kind, durability: str) -> tuple[float | None, float | None]:
    if kind is MEMORY:
        return 25, 60
    if durability == "async":
        return 25, 50
    return {(SQLITE_FULL, "sync"): (4, 5), (POSTGRES, "sync"): (4, 6)}.get((kind, durability), (None, None))


def value_rows() -> list[Case]:
    """Steps beside a large value that does not change."""
    return [
        Comparison("step beside 1 MB, memory", partial(saved.loaded_step, kind=MEMORY)),
        Comparison("step beside 1 MB, SQLite FULL", partial(saved.loaded_step, kind=SQLITE_FULL), rounds=5),
        Comparison("step beside 1 MB, Postgres", partial(saved.loaded_step, kind=POSTGRES), rounds=5),
        Comparison("run with 5,000 records, memory", partial(saved.given_list, kind=MEMORY), rounds=5),
        Comparison("run with 5,000 records, SQLite FULL", partial(saved.given_list, kind=SQLITE_FULL), rounds=5),
        Figure("bytes of a step beside 1 MB, SQLite", "bytes", saved.bytes_beside_a_load, must=50),
    ]


def task_rows() -> list[Case]:
    """Calls of @task functions."""
    return [
        Comparison("@task call, memory", tasks.task_call, must=60, stretch=150),
        Comparison("@task call of dicts, memory", tasks.task_call_of_dicts),
        Comparison("@task call, SQLite FULL", partial(tasks.task_call, kind=SQLITE_FULL)),
        Comparison("@task call, Postgres", partial(tasks.task_call, kind=POSTGRES)),
        Comparison("@task call, memory, async, in parallel", tasks.parallel_task_call),
        Comparison(
            "@task call, SQLite FULL, async, in parallel",
            partial(tasks.parallel_task_call, kind=SQLITE_FULL),
            must=12,
            stretch=25,
        ),
        Comparison(
            "@task call, SQLite NORMAL, async, in parallel", partial(tasks.parallel_task_call, kind=SQLITE_NORMAL)
        ),
    ]


def store_rows() -> list[Case]:
    """Stores, in memory and in a file."""
    return [
        Comparison(f"{what}, {name}", partial(program, module=module))
        for module, name in (("memory", "InMemoryStore"), ("sqlite", "SqliteStore"))
        for what, program in (
            ("put of an item", stores.put_item),
            ("get of an item", stores.get_item),
            ("search of 1,000 items with a filter", stores.found_items),
        )
    ]


def read_rows() -> list[Case]:
    """Reading a thread."""
    return [
        *(Comparison(f"get_state, {kind.name}", partial(reads.state_read, kind=kind)) for kind in KINDS),
        *(
            Comparison(
                f"get_state_history, a snapshot of 100, {kind.name}", partial(reads.history_read, kind=kind, steps=98)
            )
            for kind in KINDS
        ),
    ]
