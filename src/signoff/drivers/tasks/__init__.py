"""One task of a run: in the thread that it is started in, or on an event loop."""
