"""What should not be passed on (names, numbers, addresses) is taken out of messages."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from signoff._veils import veiled
from signoff._words.commands import Command
from signoff.agents.middleware.base import (
    AgentMiddleware,
    AsyncModelHandler,
    AsyncToolHandler,
    ModelHandler,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    ToolHandler,
)
from signoff.agents.middleware.redaction import Detector, PIIDetectionError, PIIMatch, Strategy, detector_of, replacing
from signoff.agents.middleware.state import AgentState, ResponseT
from signoff.prebuilt.tool_results import messages_told, with_messages
from signoff.typing import ContextT

__all__ = [
    "PIIDetectionError",
    "PIIMatch",
    "PIIMiddleware",
    "detect_credit_card",
    "detect_email",
    "detect_ip",
    "detect_mac_address",
    "detect_url",
]

# For detectors of your own that want what these find, and more.
detect_credit_card = detector_of("credit_card", None)
detect_email = detector_of("email", None)
detect_ip = detector_of("ip", None)
detect_mac_address = detector_of("mac_address", None)
detect_url = detector_of("url", None)


class PIIMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Takes one kind of personal data out of messages: before the model sees them, or before anybody else does.

    pii_type: "email", "credit_card", "ip", "mac_address", "url", or a name of your own together with a detector.
    strategy: "redact", "mask" or "hash" put something in its place, "block" raises PIIDetectionError.
    detector: a pattern, or a function from a text to what it found in it.
    apply_to_input, apply_to_output, apply_to_tool_results: which messages: those of people, of the model, of tools.

    The thread keeps messages of people as they came in the checkpoint before. Those of the model and of tools are
    looked through before they get into the state, and so into any stream, which shows them when they are whole. As
    they came, they are kept out of sight, for a turn that has to start over; and traces have them. The arguments of
    calls stay as they are: the tools need them.
    """

    calls_unknown_tools = False

    def __init__(
        self,
        pii_type: str,
        *,
        strategy: Strategy = "redact",
        detector: Detector | str | None = None,
        apply_to_input: bool = True,
        apply_to_output: bool = False,
        apply_to_tool_results: bool = False,
    ) -> None:
        self.pii_type = pii_type
        self.strategy = strategy
        self.detector = detector_of(pii_type, detector)
        self.replaced = replacing(pii_type, strategy, self.detector)
        inward = {HumanMessage: apply_to_input, ToolMessage: apply_to_tool_results}
        self.inward = tuple(kind for kind, applies in inward.items() if applies)
        self.hides_tokens = self.apply_to_output = apply_to_output
        self.apply_to_input, self.apply_to_tool_results = apply_to_input, apply_to_tool_results

    @property
    def name(self) -> str:
        """The name, with that of the kind: an agent may have one for each of several."""
        return f"{type(self).__name__}[{self.pii_type}]"

    def _uses(self, method: str) -> bool:
        if getattr(type(self), method) is not getattr(PIIMiddleware, method):
            return True
        if method.endswith("wrap_tool_call"):
            return self.apply_to_tool_results
        return self.apply_to_output if method.endswith("wrap_model_call") else bool(self.inward)

    def before_model(self, state: Any, runtime: Any) -> Any:
        messages = [message for message in state["messages"] if isinstance(message, self.inward)]
        changed = [new for message in messages if (new := self._passed_in(message)) is not message]
        return {"messages": changed} if changed else None

    def _passed_in(self, message: AnyMessage) -> AnyMessage:
        """A message of the thread as the model may see it. One that is blocked stays there until it is taken out."""
        try:
            return _changed(message, self.replaced)
        except PIIDetectionError as error:
            raise PIIDetectionError(error.pii_type, error.matches, message.id) from error

    def wrap_model_call(self, request: ModelRequest[Any], handler: ModelHandler) -> Any:
        return self._passed_on(handler(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: AsyncModelHandler) -> Any:
        return self._passed_on(await handler(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> Any:
        with veiled(self._shown):
            result = handler(request)
        return _changed_result(result, self.replaced)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncToolHandler) -> Any:
        with veiled(self._shown):
            result = await handler(request)
        return _changed_result(result, self.replaced)

    def _shown(self, said: Any) -> Any:
        """What the stream of tools shows of a result; of one that is blocked, nothing."""
        try:
            return _changed_result(said, self.replaced)
        except PIIDetectionError:
            return None

    def _passed_on(self, response: ModelResponse[Any]) -> ModelResponse[Any]:
        """What the model said, as others may see it."""
        said: Any = [_changed(one, self.replaced) if isinstance(one, AIMessage) else one for one in response.result]
        return replace(response, result=said)


def _changed(message: AnyMessage, replaced: Callable[[str], str]) -> AnyMessage:
    """A message with its texts replaced; itself, if none of them changes."""
    content = message.content
    new = replaced(content) if isinstance(content, str) else [_changed_block(block, replaced) for block in content]
    return message if new == content else message.model_copy(update={"content": new})


def _changed_result(result: Any, replaced: Callable[[str], str]) -> Any:
    """What a tool came to, with its texts replaced: a message, a Command with messages, a text, or a list of these."""
    match result:
        case ToolMessage():
            return _changed(result, replaced)
        case Command() if messages := messages_told(result):
            return with_messages(result, _changed_result(messages, replaced))
        case str():
            return replaced(result)
        case list():
            return [_changed_result(one, replaced) for one in result]
    return result


def _changed_block(block: str | dict[str, Any], replaced: Callable[[str], str]) -> Any:
    if isinstance(block, str):
        return replaced(block)
    text = block.get("text")
    return {**block, "text": replaced(text)} if isinstance(text, str) else block
