"""Benchmarks: the same small programs on signoff and on LangGraph, in one run, as ratios.

    python -m bench                 everything, in under three minutes
    python -m bench --quick         the same rows, less precise
    python -m bench --only send     one group

Absolute times say more about the machine than about the library, so a budget is always a ratio, a growth or a count.
"""
