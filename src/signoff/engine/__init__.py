"""The pure machine: what is due, what a step changes, what is stored and shown. No IO, clock, thread or luck."""
