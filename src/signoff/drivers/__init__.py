"""Drivers perform the engine's effects: `sync.py` by calling and with threads, `aio.py` on an event loop."""
