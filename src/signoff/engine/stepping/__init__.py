"""Step after step, until nothing is due, or something stops the run."""
