"""The version, where LangGraph has its own."""

import signoff

__all__ = ["__version__"]

__version__ = signoff.__version__
