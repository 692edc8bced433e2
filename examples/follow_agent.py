"""An agent that is followed while it works, and answered when it asks.

    desk ( look_up, refund -> a person )

`stream_events(version="v3")` gives a run with a projection for everything: what the model says, which tools are called,
what the agent asks in the end. Several are read in the order in which things happen. The model is scripted; with a real
one, `message.text` gives its words as they come.
"""

from scripted_model import says
from signoff.agents import create_agent
from signoff.checkpoint.memory import InMemorySaver
from signoff.prebuilt import ToolRuntime
from signoff.types import Command


def look_up(order: str, runtime: ToolRuntime) -> str:
    """Look up an order."""
    for place in ("the shop", "the archive"):
        runtime.emit_output_delta(f"looking into {place}")
    return f"Order {order}: a kettle for 40 euros."


def refund(order: str, euros: int) -> str:
    """Give money back."""
    return f"{euros} euros are on their way."


def build():
    wanted = {"order": "17", "euros": 40}
    script = says([("look_up", {"order": "17"})], [("refund", wanted)], "Your money is on its way.")
    return create_agent(script, [look_up, refund], interrupt_on={"refund": True}, checkpointer=InMemorySaver())


def follow(agent, input, config):
    """Show what happens, as it happens; the questions in the end."""
    run = agent.stream_events(input, config, version="v3")
    for name, item in run.interleave("messages", "tool_calls"):
        if name == "messages":
            wanted = [call["name"] for call in item.output.tool_calls]
            print(f"model: {item.output.text or f'wants {wanted}'}")
            continue
        for delta in item:
            print(f"  {item.tool_name} is {delta}")
        print(f"  {item.tool_name}: {item.output}")
    return run.interrupts


def main() -> None:
    agent = build()
    config = {"configurable": {"thread_id": "order-17"}}
    (question,) = follow(agent, {"messages": [("user", "My kettle is broken. Order 17.")]}, config)
    for action in question.value["action_requests"]:
        print(f"PAUSED: {action['name']}({action['args']})\na person: approve")
    follow(agent, Command(resume={"decisions": [{"type": "approve"}]}, by="eva"), config)


if __name__ == "__main__":
    main()
