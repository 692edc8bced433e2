"""Results kept for a while, so that a node or task with the same input need not run again."""
