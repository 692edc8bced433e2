"""A Python of its own for which a warning is an error, as for the tests themselves."""

import sys

OF_OTHERS = [
    "'asyncio.iscoroutinefunction' is deprecated",  # langsmith, which langchain-core loads, on Python 3.14
]
"""Warnings that are not ours to mend, by how they begin."""

STRICT_PYTHON = [sys.executable, "-W", "error"]
for _text in OF_OTHERS:
    STRICT_PYTHON += ["-W", f"ignore:{_text}:DeprecationWarning"]
