"""A conversation with a tool call that has no result, from a crash long ago or an edit.

A model's provider would refuse it with an error that says little. The agent refuses it before, and names the calls;
`repair_tool_calls` puts a tool message behind each of them, and the conversation goes on.
"""

from langchain_core.messages import AIMessage

from scripted_model import says
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput
from signoff.prebuilt import create_react_agent, repair_tool_calls
from signoff.types import Overwrite

WANTED = [{"name": "pay", "args": {"amount": 5}, "id": "call-1a"}, {"name": "mail", "args": {}, "id": "call-1b"}]
BROKEN = {
    "messages": [
        ("user", "Pay Ana and write to her."),
        AIMessage("", tool_calls=WANTED),
        {"role": "tool", "content": "Wrote to Ana.", "tool_call_id": "call-1b"},
        ("user", "Are you there?"),
    ]
}


def pay(amount: int) -> str:
    """Pay Ana."""
    raise AssertionError("nobody wants this any more")


def mail() -> str:
    """Write to Ana."""
    raise AssertionError("this was done before the crash")


def build(saver):
    return create_react_agent(says("-", "Yes. The payment was cut off; shall I?"), [pay, mail], checkpointer=saver)


def mended(state) -> dict:
    """What to write to a thread, so that its conversation is complete."""
    messages = repair_tool_calls(state.values["messages"], lambda call: f"{call['name']} was cut off: find out first.")
    return {"messages": Overwrite(messages)}


def main() -> None:
    app = build(InMemorySaver())
    config = {"configurable": {"thread_id": "ana"}}
    try:
        app.invoke(BROKEN, config)
    except InvalidInput as error:
        print(f"refused: {error}")
    app.update_state(config, mended(app.get_state(config)))
    for message in app.invoke(None, config)["messages"]:
        print(f"  {message.type}: {message.text}")


if __name__ == "__main__":
    main()
