"""A Python of its own for which a warning is an error, as for the tests themselves."""

import sys

KNOWN = [
    "'asyncio.iscoroutinefunction' is deprecated",  # langsmith, which langchain-core loads, on Python 3.14
    "This process",  # ... is multi-threaded: what comes of a fork then is what is looked at
]
"""Warnings that tell us nothing new, by how they begin."""

STRICT_PYTHON = [sys.executable, "-W", "error"]
for _text in KNOWN:
    STRICT_PYTHON += ["-W", f"ignore:{_text}:DeprecationWarning"]
