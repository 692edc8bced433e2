"""Reading a thread: its state, and its history."""

from bench.library import Library
from bench.measuring import Work
from bench.programs.words import chain
from bench.storage import Kind, Storage


def state_read(lib: Library, kind: Kind) -> Work:
    """The state of a thread of ten steps."""
    storage = Storage(lib, kind)
    app = chain(lib, 10).compile(checkpointer=storage.saver)
    config = storage.new_thread()
    app.invoke({"x": 0}, config)
    return Work(lambda: app.get_state(config), meter=storage.meter)


def history_read(lib: Library, kind: Kind, steps: int) -> Work:
    """One of the snapshots of a thread, all of them read."""
    storage = Storage(lib, kind)
    app = chain(lib, steps).compile(checkpointer=storage.saver)
    config = storage.new_thread()
    app.invoke({"x": 0}, config)
    snapshots = len(list(app.get_state_history(config)))
    return Work(lambda: list(app.get_state_history(config)), snapshots, meter=storage.meter)
