"""What is due at a state, and what the writes of a step make of it; and what a changed program can still do."""
