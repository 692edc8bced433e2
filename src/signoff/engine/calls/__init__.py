"""What a task calls: `@task` functions and graphs, each known again when the task starts over."""
