"""An agent on a real client, langchain-openai: a local server answers like an OpenAI-compatible endpoint."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import BaseModel

from signoff.agents import create_agent, create_deep_agent
from signoff.agents.structured_output import ProviderStrategy
from signoff.checkpoint.memory import InMemorySaver
from signoff.prebuilt import create_react_agent
from signoff.types import Command

from .desk import USER, Desk, check_transcript, decide, edit, reject, results

CONFIG: Any = {"configurable": {"thread_id": "1"}}


def completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "local",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def wanting(*calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    wanted = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for id, name, args in calls
    ]
    return completion({"content": None, "tool_calls": wanted}, "tool_calls")


class Endpoint:
    """A server that refuses, as the real one does, a conversation in which a call has no tool message."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.wants = wanting(
            ("a", "pay", {"amount": 5, "to": "ana"}), ("b", "mail", {"to": "bo"}), ("c", "look", {"name": "x"})
        )

    def answer(self, asked: Any) -> tuple[int, Any]:
        self.requests.append(asked)
        messages = asked["messages"]
        wanted = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        if sorted(wanted) != sorted(answered):
            return 400, {"error": {"message": "a tool call has no tool message", "type": "invalid_request_error"}}
        return 200, completion({"content": "done"}, "stop") if answered else self.wants


@pytest.fixture
def endpoint() -> Iterator[Any]:
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, told = endpoint.answer(asked)
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"  # type: ignore[attr-defined]
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_next_call_of_the_model_is_never_refused_for_its_history(endpoint):
    from langchain_openai import ChatOpenAI

    desk = Desk()
    model = ChatOpenAI(model="local", base_url=endpoint.url, api_key="none", max_retries=0)
    watched: Any = {"pay": True, "mail": True}
    app = create_agent(model, desk.tools, interrupt_on=watched, checkpointer=InMemorySaver(), system_prompt="Be brief.")
    app.invoke(USER, CONFIG)
    result = app.invoke(Command(resume=decide(edit("pay", amount=4, to="ana"), reject("no"))), CONFIG)
    assert result["messages"][-1].content == "done"
    assert sorted(desk.ran) == ["look x", "pay 4 ana"]
    assert "no" in results(result)["b"]
    check_transcript(result["messages"])
    told = endpoint.requests[-1]["messages"]
    assert {message["role"] for message in told} == {"system", "user", "assistant", "tool"}
    # Records of decisions are for people; the provider gets only what it knows.
    assert all(set(message) <= {"role", "content", "tool_call_id"} for message in told if message["role"] == "tool")
    assert {tool["function"]["name"] for tool in endpoint.requests[0]["tools"]} == {"pay", "mail", "look", "close"}


def test_a_decision_that_was_discarded_leaves_a_history_that_is_taken(endpoint):
    from langchain_openai import ChatOpenAI

    desk = Desk()
    model = ChatOpenAI(model="local", base_url=endpoint.url, api_key="none", max_retries=0)
    app = create_agent(model, desk.tools, interrupt_on={"pay": True}, checkpointer=InMemorySaver())
    app.invoke(USER, CONFIG)
    result = app.invoke({"messages": [("user", "stop")]}, CONFIG, on_pending="discard")
    assert result["messages"][-1].content == "done"
    assert "pay 5 ana" not in desk.ran


class Answer(BaseModel):
    text: str


@pytest.mark.parametrize("has_tools", [False, True])
def test_a_strict_form_is_told_as_the_provider_wants_it_with_and_without_tools(endpoint, has_tools):
    from langchain_openai import ChatOpenAI

    endpoint.wants = completion({"content": '{"text": "yes"}'}, "stop")
    model = ChatOpenAI(model="local", base_url=endpoint.url, api_key="none", max_retries=0)
    tools = Desk().tools if has_tools else []
    result = create_agent(model, tools, response_format=ProviderStrategy(Answer, strict=True)).invoke(USER)
    assert result["structured_response"] == Answer(text="yes")
    (asked,) = endpoint.requests
    form = asked["response_format"]["json_schema"]
    assert (form["strict"], form["schema"]["additionalProperties"]) == (True, False)
    assert bool(asked.get("tools")) == ("tools" in asked) == has_tools, "an empty list of tools would be refused"


@pytest.mark.parametrize("make", [create_agent, create_deep_agent, create_react_agent])
def test_a_model_may_be_given_by_its_name(endpoint, monkeypatch, make):
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    endpoint.wants = completion({"content": "hello"}, "stop")
    assert make("openai:local", []).invoke(USER)["messages"][-1].content == "hello"
    assert endpoint.requests[0]["model"] == "local"
