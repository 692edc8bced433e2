"""Benchmarks: the same small programs on signoff and on LangGraph, in one run, as ratios.

    python -m bench                 everything, in some ten minutes
    python -m bench --quick         most rows that have a budget, less precise, in a minute
    python -m bench --only send     one group
    python -m bench.gate            the counts that must not grow, in seconds
    python -m bench.parts           the calls of some pieces of work, by the rooms that make them
    python -m bench.instructions    the instructions that these take of a processor; needs valgrind, and ten minutes

Absolute times say more about the machine than about the library, so a budget is a ratio, a growth or a count.

Rooms: `programs` are what is run, `groups` says which of them make rows and what those must reach, `cases` what a row
compares, `measuring` and `counting` how, `storage` and `meters` where it is stored and how much, `table`, `report`,
`page`, `chart` and `notes` how it is told, `gate` what `make check` holds, `parts` in which rooms the calls are made,
`instructions` what a processor has to do for it.
"""
