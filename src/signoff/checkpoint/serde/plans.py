"""Plans: how the instances of a class are taken apart and made again, by the kind of the class."""

from signoff.checkpoint.serde import models, structs
from signoff.checkpoint.serde.kinds import Kind, Plan

__all__ = ["plan_for"]


def plan_for(cls: type, kind: Kind) -> Plan:
    """The plan for a class of this kind. An exception has none: it is stored in a way of its own."""
    match kind:
        case "Enum":
            return structs.enum_plan(cls)
        case "NamedTuple":
            return structs.named_tuple_plan(cls)
        case "pydantic model":
            return models.model_plan(cls)
        case _:
            return structs.attribute_plan(cls)
