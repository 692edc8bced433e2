"""Long-term memory: named values that outlive a thread and are shared between threads."""
