"""Fields of a pydantic state that are called otherwise outside: the input may say either, nodes are given objects."""

import operator
from typing import Annotated

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput
from signoff.graph import START, StateGraph

CONFIG = {"configurable": {"thread_id": "1"}}


class Address(BaseModel):
    zip_code: str = Field(alias="zipCode")


class Named(BaseModel):
    user_name: str = Field(alias="userName")
    address: Address | None = None
    log: Annotated[list, operator.add] = []


class Generated(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    user_name: str
    address: Address | None = None
    log: Annotated[list, operator.add] = []


class Chosen(BaseModel):
    user_name: str = Field(validation_alias=AliasChoices("userName", "user"))
    address: Address | None = None
    log: Annotated[list, operator.add] = []


def app_of(schema, saver=None):
    graph = StateGraph(schema).add_node("greet", lambda state: {"log": [f"Hello, {state.user_name}"]})
    graph.add_node("again", lambda state: {"log": [state.user_name]})
    return graph.add_edge(START, "greet").add_edge("greet", "again").compile(saver)


@pytest.mark.parametrize("schema", [Named, Generated, Chosen])
def test_the_input_may_have_the_names_of_the_fields_or_be_an_object(schema):
    app = app_of(schema)
    for input in ({"user_name": "Ana"}, schema.model_validate({"userName": "Ana"})):
        result = app.invoke(input)
        assert result["user_name"] == "Ana"
        assert result["log"] == ["Hello, Ana", "Ana"]


@pytest.mark.parametrize("schema", [Named, Generated])
def test_the_input_may_have_the_aliases_as_its_json_schema_says(schema):
    app = app_of(schema, InMemorySaver())
    assert "userName" in app.get_input_jsonschema()["properties"]
    app.invoke({"userName": "Ana", "address": {"zipCode": "1010"}}, CONFIG)
    assert app.get_state(CONFIG).values["user_name"] == "Ana"
    assert app.invoke({"userName": "Ben"}, CONFIG)["log"] == ["Hello, Ana", "Ana", "Hello, Ben", "Ben"]


@pytest.mark.parametrize("key", ["userName", "user_name"])
def test_a_value_that_does_not_fit_is_refused_under_either_name(key):
    app = app_of(Named, InMemorySaver())
    with pytest.raises(ValidationError, match=key):
        app.invoke({key: 5}, CONFIG)
    assert app.get_state(CONFIG).values == {}


def test_a_key_that_is_neither_is_refused():
    with pytest.raises(InvalidInput, match="'user_name'"):
        app_of(Named).invoke({"username": "Ana"})
