"""The pure machine: what is due, what a step changes, what is stored and shown. No IO, clock, thread or luck.

Its words are the files here: a program, a run of it, its state between two steps, a task, what is known of tasks
(`pending`), answers, and the effects that a driver performs. On them stand the rooms, each on those before it:

planning   what is due at a state, and what a step makes of it; what a changed program can still do
storing    what has to be stored, and when
attempts   one task, from its input to its writes
showing    what streams and snapshots show
calls      the `@task` functions and graphs that a task calls, known again when it starts over
stepping   step after step
threads    where a run begins, whether the thread is free, and how the run leaves it
updates    what a person changes by hand
"""
