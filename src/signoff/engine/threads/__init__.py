"""Where a run begins in its thread, whether that is free, and how the run leaves it."""
