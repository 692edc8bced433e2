"""Drivers perform the engine's effects: `sync.py` by calling and with threads, `aio.py` on an event loop.

Both work for a host (what a run was given), hand chunks to a sink, and stand on these rooms:

calls    futures of the calls that a task makes
scopes   what a running task can ask, call, know and show
saving   saving beside the run, and who holds a thread
tasks    one task, in a thread or on an event loop
ending   how a run ends that is called off, or whose reader has left
"""
