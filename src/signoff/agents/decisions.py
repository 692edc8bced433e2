"""Decisions: what a person may answer about calls of tools, as a form that is checked before the answer is taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool

from signoff import forms
from signoff.agents.inlining import inlined
from signoff.agents.rules import as_moment
from signoff.errors import InvalidInput
from signoff.forms import Form
from signoff.prebuilt.argument_classes import Misfit, details_of, field_names, json_schema_of, made_of
from signoff.prebuilt.tool_errors import listed
from signoff.prebuilt.toolbox import call_schema, takes_others

KINDS = ("approve", "edit", "reject", "respond")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call that a person is asked about."""

    call: Mapping[str, Any]
    allowed: tuple[str, ...]
    description: str
    args_schema: dict[str, Any]
    digest: str
    """Stands for the call and the version of its tool."""
    preview: str | None = None

    @property
    def request(self) -> dict[str, Any]:
        """The call as the question shows it."""
        shown = {"name": self.call["name"], "args": self.call["args"], "description": self.description}
        return shown if self.preview is None else {**shown, "preview": self.preview}

    @property
    def review(self) -> dict[str, Any]:
        """What may be decided about it."""
        return {
            "action_name": self.call["name"],
            "allowed_decisions": list(self.allowed),
            "args_schema": self.args_schema,
        }


def form_for_all(proposals: Sequence[Proposal], tools: Mapping[str, BaseTool]) -> Form:
    """The form of an answer to one question about several calls: `{"decisions": [...]}`, in their order."""
    items = [_schema(proposal, tools) for proposal in proposals]
    decisions = {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def check(answer: Any) -> None:
        for decision in answer["decisions"]:
            _check(decision, tools)

    return Form(_object({"decisions": decisions}, ["decisions"]), check)


def form_for_one(proposal: Proposal, tools: Mapping[str, BaseTool]) -> Form:
    """The form of an answer about one call: a bare decision."""
    return Form(_schema(proposal, tools), lambda decision: _check(decision, tools))


# As JSON Schema


def _schema(proposal: Proposal, tools: Mapping[str, BaseTool]) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"enum": list(proposal.allowed)}}
    if "edit" in proposal.allowed:
        properties["edited_action"] = _action_schema(proposal, tools)
    if {"reject", "respond"} & set(proposal.allowed):
        properties["message"] = {"type": "string"}
    if "approve" in proposal.allowed:
        properties["from_here_on"] = _FROM_HERE_ON
    return {**_object(properties, ["type"]), "allOf": [_if_type(kind, _parts(kind)) for kind in proposal.allowed]}


def _parts(kind: str) -> dict[str, Any]:
    """What a kind of decision must have, and what it may not have: who approves something else has not approved."""
    names = ["type", "message", *_OWN.get(kind, ())]
    required = {"edit": ["edited_action"], "respond": ["message"]}.get(kind)
    return {"propertyNames": {"enum": names}, **({"required": required} if required else {})}


_OWN = {"approve": ["from_here_on"], "edit": ["edited_action"]}
"""What only one kind of decision has."""


def _if_type(kind: str, then: dict[str, Any]) -> dict[str, Any]:
    # Said only of a decision that has a type: what is wrong with one that has none is just that.
    return {"if": {"properties": {"type": {"const": kind}}, "required": ["type"]}, "then": then}


def _action_schema(proposal: Proposal, tools: Mapping[str, BaseTool]) -> dict[str, Any]:
    """Another action: the same tool with arguments that fit it, or another tool, which is asked about again."""
    own = proposal.call["name"]
    args = _closed(proposal.args_schema)
    properties = {"name": {"enum": sorted({own, *tools})}, "args": {"type": "object"}}
    is_meant = {"properties": {"name": {"const": own}}, "required": ["name"]}
    is_own = {"if": is_meant, "then": {"properties": {"args": args}}}
    # What a question shows of an action may come back as it was shown, with other arguments. It says nothing new.
    names = {"enum": [*properties, "description", "preview"]}
    return {**_object(properties, ["name", "args"]), "propertyNames": names, "allOf": [is_own]}


def _closed(args_schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that takes no other arguments than it names, unless it says that it does."""
    if _SEVERAL.isdisjoint(args_schema):
        return {"additionalProperties": False, **args_schema}
    # Behind them: what they find wrong with an argument is a better thing to be told of than what follows from it.
    return {**args_schema, "unevaluatedProperties": args_schema.get("unevaluatedProperties", False)}


_SEVERAL = {"allOf", "anyOf", "oneOf", "if", "dependentSchemas"}
"""Where a schema has others that name arguments, too."""


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    # Not additionalProperties: a wrong value is a better thing to be told of than what follows from it. And a name that
    # is misspelt is told before the one that is missed then.
    names = {"enum": list(properties)}
    return {"type": "object", "properties": properties, "propertyNames": names, "required": required}


_FROM_HERE_ON = {
    "anyOf": [
        {"const": True},
        _object({"tool": {"type": "string"}, "args": {"type": "object"}, "until": {"type": "string"}}, []),
    ]
}


def args_schema_of(tool: BaseTool | None) -> dict[str, Any]:
    """What the arguments of a tool look like, without what is injected, and without references."""
    if tool is None:
        return {"type": "object", "additionalProperties": True}
    schema = call_schema(tool)
    plain = inlined(schema if isinstance(schema, dict) else json_schema_of(schema))
    return {"additionalProperties": True, **plain} if takes_others(tool) else plain


def check_schema(schema: Any, said: str) -> None:
    """Refuse a dict that is no JSON Schema: no arguments that a person gives could be checked by it."""
    flaw = forms.misstated(inlined(schema)) if isinstance(schema, dict) else None
    if flaw is not None:
        raise InvalidInput(f"{said} is not a JSON Schema: {flaw}. Give one that is, or a pydantic class.")


# What only the tool itself can say


def _check(decision: Mapping[str, Any], tools: Mapping[str, BaseTool]) -> None:
    wanted = decision.get("from_here_on")
    if isinstance(wanted, Mapping) and "until" in wanted:
        as_moment(wanted["until"])
    if decision.get("type") == "edit":
        action = decision["edited_action"]
        if (tool := tools.get(action["name"])) is not None:  # else only a wrapper knows it
            _check_args(tool, action["args"])


def _check_args(tool: BaseTool, args: Mapping[str, Any]) -> None:
    schema = call_schema(tool)
    wrong = _refusal(tool, schema, args) if isinstance(schema, dict) else misfit(tool, args)
    if wrong:
        raise ValueError(wrong)


def _refusal(tool: BaseTool, schema: dict[str, Any], args: Mapping[str, Any]) -> str | None:
    refused = forms.refusal(_closed(inlined(schema)), dict(args))
    return refused and f"the tool {tool.name!r} does not take these arguments: {refused.removeprefix('answer: ')}"


def misfit(tool: BaseTool | None, args: Mapping[str, Any]) -> str | None:
    """Why a tool would refuse arguments, or drop some: who approves a `dry_run` has not approved a run without it.

    What is injected into the tool is not there yet, and not missed. A tool with a JSON Schema looks at them itself.
    """
    seen: Any = None if tool is None else call_schema(tool)
    if tool is None or isinstance(seen, dict):
        return None
    if (unknown := sorted(set(args) - set(field_names(seen)))) and not takes_others(tool):
        return f"the tool {tool.name!r} has no argument {', '.join(map(repr, unknown))}"
    try:
        made_of(tool.args_schema or seen, args)
    except Misfit as error:
        wrong = [one for one in details_of(error) if not one["loc"] or one["loc"][0] in field_names(seen)]
        return f"the tool {tool.name!r} does not take these arguments: {listed(wrong)}" if wrong else None
    return None
