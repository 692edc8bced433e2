"""Values that the engine computes for a node."""

from signoff.managed.is_last_step import IsLastStep, RemainingSteps

__all__ = ["IsLastStep", "RemainingSteps"]
