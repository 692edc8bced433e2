"""An agent that asks before it books a hotel.

`add_human_in_the_loop` wraps a tool. The question shows the call and what may be answered: accept it, edit it, respond
in place of the tool, or ignore it. Whatever the person says, the call has its tool message afterwards, so that the
model accepts the conversation.
"""

from scripted_model import says
from signoff.checkpoint.memory import InMemorySaver
from signoff.prebuilt import add_human_in_the_loop, create_react_agent
from signoff.types import Command

DONE: list[str] = []

REQUEST = {"messages": [("user", "Book me a room at the Ritz.")]}
ACCEPT = [{"type": "accept"}]
EDIT = [{"type": "edit", "args": {"action": "book_hotel", "args": {"hotel": "Plaza", "nights": 2}}}]
RESPOND = [{"type": "response", "args": "The Ritz is too dear; ask her for another one."}]
IGNORE = [{"type": "ignore"}]


def book_hotel(hotel: str, nights: int = 1) -> str:
    """Book a hotel."""
    DONE.append(f"{hotel} for {nights}")
    return f"Booked the {hotel} for {nights}."


def build(saver):
    model = says([("book_hotel", {"hotel": "Ritz", "nights": 1})], "That is settled.")
    allowed = {"allow_accept": True, "allow_edit": True, "allow_respond": True, "allow_ignore": True}
    return create_react_agent(model, [add_human_in_the_loop(book_hotel, interrupt_config=allowed)], checkpointer=saver)


def main() -> None:
    app = build(InMemorySaver())
    for answer in (ACCEPT, EDIT, RESPOND, IGNORE):
        config = {"configurable": {"thread_id": answer[0]["type"]}}
        (question,) = app.invoke(REQUEST, config)["__interrupt__"]
        asked = question.value[0]["action_request"]
        print(f"PAUSED: {asked['action']}({asked['args']})  -> {answer[0]['type']}")
        for message in app.invoke(Command(resume=answer), config)["messages"][2:]:
            print(f"  {message.type}: {message.text}")
    print(f"Booked: {DONE}")


if __name__ == "__main__":
    main()
