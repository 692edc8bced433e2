"""Saving beside the run, and who holds a thread."""
