"""ValidationNode, where it is more than LangGraph's (tests/parity/test_prebuilt_tools.py has what is the same)."""

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from pydantic import BaseModel
from pydantic import v1 as old

from signoff.errors import InvalidInput
from signoff.prebuilt import ValidationNode
from signoff.prebuilt.tool_validator import UnknownSchema

from .models import call, calls


class Person(BaseModel):
    name: str
    age: int


class OldPerson(old.BaseModel):
    name: str
    age: int


def greet(name: str, times: int) -> str:
    """Greet."""
    raise AssertionError("calls are checked, and not made")


def test_the_model_is_told_which_arguments_do_not_fit():
    wanted = calls(call("Person", "c1", name="ana"), call("greet", "c2", name="ana", times="2"))
    wrong, right = ValidationNode([Person, greet]).invoke([wanted])
    assert wrong.status == "error"
    assert wrong.content.startswith("The arguments of Person do not fit:")
    assert "age" in wrong.content
    assert wrong.content.endswith("Correct them and call it again.")
    assert right.content == '{"name":"ana","times":2}'


@pytest.mark.parametrize("is_tool", [False, True])
def test_classes_of_pydantic_v1_are_schemas_too(is_tool):
    tool = StructuredTool.from_function(greet, name="OldPerson", args_schema=OldPerson)
    wanted = calls(call("OldPerson", "c1", name="ana", age="old"), call("OldPerson", "c2", name="ana", age="5"))
    wrong, right = ValidationNode([tool if is_tool else OldPerson]).invoke([wanted])
    assert (wrong.status, "age" in wrong.content) == ("error", True)
    assert right.content == '{"name": "ana", "age": 5}'


def test_what_is_no_schema_is_refused_when_it_is_built():
    with pytest.raises(InvalidInput, match="'Person' is no schema. Give the node tools, pydantic models or functions"):
        ValidationNode(["Person"])


def test_a_tool_without_a_class_of_arguments_is_refused_when_it_is_built():
    tool = StructuredTool(name="greet", description="Greet.", args_schema={"type": "object"}, func=greet)
    with pytest.raises(InvalidInput, match="The tool 'greet' has no pydantic schema to check against"):
        ValidationNode([tool])


@pytest.mark.parametrize("messages", [[], [HumanMessage("hi")]], ids=["nothing", "of a person"])
def test_what_is_checked_is_the_last_message_of_the_model(messages):
    for input in (messages, {"messages": messages}):
        with pytest.raises(InvalidInput, match="The last message is not of the model"):
            ValidationNode([Person]).invoke(input)


def test_a_call_of_what_nobody_knows_is_refused_with_what_there_is():
    with pytest.raises(UnknownSchema, match="The model calls 'sing', and the node 'validation' knows only: 'Person'"):
        ValidationNode([Person]).invoke([calls(call("sing", "c1"))])


def test_an_async_function_that_words_errors_is_refused_since_nobody_would_await_it():
    async def worded(error, call, schema):
        return "no"

    with pytest.raises(InvalidInput, match="format_error is async"):
        ValidationNode([Person], format_error=worded)
