"""A chat whose words arrive as the model speaks, and which stops to ask.

    chat ( speak -> confirm -> book )

`stream_mode=["messages", "updates"]` gives tokens and the updates of nodes in one stream; `subgraphs=True` shows what
happens inside of nested graphs, too, so that a question from any depth arrives. The loop ends with the question;
`Command(resume=...)` starts the next one. The model is scripted; any LangChain chat model takes its place.
"""

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, MessagesState, StateGraph
from signoff.types import Command, interrupt

MODEL = GenericFakeChatModel(
    messages=iter(
        [
            AIMessage("I found a room at the harbour for 120 euros a night."),
            AIMessage("It is booked. Have a good trip!"),
        ]
    )
)


def speak(state: MessagesState) -> dict:
    return {"messages": [MODEL.invoke(state["messages"])]}


def confirm(state: MessagesState) -> dict:
    return {"messages": [("human", interrupt("Shall I book it?"))]}


def book(state: MessagesState) -> dict:
    return {"messages": [MODEL.invoke(state["messages"])]}


def build() -> StateGraph:
    chat = StateGraph(MessagesState).add_sequence([speak, confirm, book]).add_edge(START, "speak").compile()
    return StateGraph(MessagesState).add_node("chat", chat).add_edge(START, "chat")


def listen(app, input, config) -> str | None:
    """Print what is said until the graph asks or ends; the question, if there is one."""
    for _, mode, chunk in app.stream(input, config, stream_mode=["messages", "updates"], subgraphs=True):
        if mode == "messages":
            token, metadata = chunk
            if metadata["langgraph_node"] in ("speak", "book"):
                print(token.content, end="", flush=True)
        elif "__interrupt__" in chunk:
            return chunk["__interrupt__"][0].value
    return None


def main() -> None:
    app = build().compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "trip"}}
    print("assistant: ", end="")
    question = listen(app, {"messages": [("human", "Find me a hotel in Lisbon.")]}, config)
    print(f"\nPAUSED: {question}\nyou: Yes, please.\nassistant: ", end="")
    listen(app, Command(resume="Yes, please."), config)
    print("\n\nThe conversation as it is saved:")
    for message in app.get_state(config).values["messages"]:
        print(f"  {message.type}: {message.content}")


if __name__ == "__main__":
    main()
