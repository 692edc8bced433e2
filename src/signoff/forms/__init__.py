"""Forms: what an answer must look like, published as JSON Schema and checked before the answer is stored."""

from signoff.forms.asked import Form, filled_in, makes_values, published
from signoff.forms.classes import adapter_of, as_data, completed
from signoff.forms.schemas import misstated, part_at, refusal

__all__ = [
    "Form",
    "adapter_of",
    "as_data",
    "completed",
    "filled_in",
    "makes_values",
    "misstated",
    "part_at",
    "published",
    "refusal",
]
