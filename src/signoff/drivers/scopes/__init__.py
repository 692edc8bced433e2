"""The scope of a running task: what it can ask, call, know and show, and where in the user's code it does."""
