"""One task, from its input to its writes."""
