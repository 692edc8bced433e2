"""The calls that a task makes of `@task` functions and graphs: their futures, and when they begin."""
