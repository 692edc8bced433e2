"""How many steps a run has left."""

from typing import Annotated

from signoff.managed.base import ManagedValue

__all__ = ["IsLastStep", "IsLastStepManager", "RemainingSteps", "RemainingStepsManager"]


class IsLastStepManager(ManagedValue):
    """True in the last step that the recursion limit allows."""

    @staticmethod
    def get(step: int, stop: int) -> bool:
        return step == stop - 1


class RemainingStepsManager(ManagedValue):
    """How many steps the recursion limit still allows, this one included."""

    @staticmethod
    def get(step: int, stop: int) -> int:
        return stop - step


IsLastStep = Annotated[bool, IsLastStepManager]
RemainingSteps = Annotated[int, RemainingStepsManager]
