"""A program that was moved from LangChain, of which some import is still the old one, is told which."""

from typing import Any, NotRequired

import pytest
from langchain.agents import AgentState as TheirState
from langchain.agents import middleware as theirs
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from pydantic import BaseModel

from signoff.agents import create_agent
from signoff.agents.middleware import AgentMiddleware, wrap_model_call
from signoff.errors import InvalidGraph, InvalidInput, InvalidUpdateError

from .desk import USER, scripted


class Named(TheirState[Any]):
    """A state of one's own, over LangChain's."""

    name: NotRequired[str]


class Naming(AgentMiddleware):
    state_schema = Named


class Answer(BaseModel):
    text: str


@pytest.mark.parametrize("parts", [{"state_schema": Named}, {"middleware": [Naming()]}])
def test_a_state_over_theirs(parts):
    with pytest.raises(InvalidGraph, match="The state 'Named' is derived .* Import AgentState from signoff.agents"):
        create_agent(scripted(), **parts)


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_a_strategy_of_theirs(strategy):
    told = f"a {strategy.__name__} of LangChain. Import {strategy.__name__} from signoff.agents.structured_output"
    with pytest.raises(InvalidInput, match=told):
        create_agent(scripted(), response_format=strategy(Answer))


@pytest.mark.parametrize("name", ["ModelResponse", "ExtendedModelResponse"])
def test_a_response_of_theirs(name):
    @wrap_model_call
    def around(request: Any, handler: Any) -> Any:
        said = theirs.ModelResponse(handler(request).result)
        return said if name == "ModelResponse" else theirs.ExtendedModelResponse(said)

    with pytest.raises(
        InvalidUpdateError, match=f"an? {name} of LangChain. Import {name} from signoff.agents.middleware"
    ):
        create_agent(scripted("hello"), middleware=[around]).invoke(USER)
