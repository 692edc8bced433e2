"""What a person changes by hand: the state of a thread, and its history."""
