"""The same small programs on LangGraph and on signoff: what they return, stream and remember must be equal."""
