"""A model that follows a script, for the examples with agents. Any LangChain chat model takes its place.

Which turn it is, it sees in the conversation, as a real model would: a process that goes on with a conversation of
another one goes on with the script.
"""

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class ScriptedModel(BaseChatModel):
    script: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *args, **options) -> ChatResult:
        turn = sum(message.type == "ai" for message in messages)
        said = self.script[min(turn, len(self.script) - 1)].model_copy()
        return ChatResult(generations=[ChatGeneration(message=said)])


def says(*turns: str | list[tuple[str, dict]]) -> ScriptedModel:
    """A model that says a text, or wants some calls of tools, in each turn."""
    return ScriptedModel(script=[_message(number, turn) for number, turn in enumerate(turns, 1)])


def _message(number: int, turn: str | list[tuple[str, dict]]) -> AIMessage:
    if isinstance(turn, str):
        return AIMessage(turn)
    calls = [{"name": name, "args": args, "id": f"call-{number}{'abcdef'[at]}"} for at, (name, args) in enumerate(turn)]
    return AIMessage("", tool_calls=calls)


def main() -> None:
    model = says([("look_up", {"name": "Ana"})], "She lives in Rome.")
    wanted = model.invoke("Where does Ana live?")
    print(f"it wants: {wanted.tool_calls[0]['name']}({wanted.tool_calls[0]['args']})")
    print(f"it says: {model.invoke([('user', 'Where does Ana live?'), wanted]).text}")


if __name__ == "__main__":
    main()
