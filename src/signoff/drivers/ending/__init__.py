"""How a run ends that is called off, or whose reader has left."""
