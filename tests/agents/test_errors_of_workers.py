"""Errors of runs in other processes: a pool hands them over as it does results, and hangs or breaks if it cannot."""

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import NoReturn

import pytest
from langchain_core.messages import AIMessage

from signoff.agents.middleware import PIIDetectionError
from signoff.agents.middleware.limits import LimitExceeded
from signoff.agents.middleware.tool_call_limit import ToolCallLimitExceededError
from signoff.agents.structured_output import MultipleStructuredOutputsError, StructuredOutputValidationError
from signoff.errors import GraphDrained, NodeCancelledError, NodeTimeoutError
from signoff.prebuilt.chat_history import IncompleteHistory, validate_chat_history
from signoff.prebuilt.tool_errors import ToolInvocationError

CALL = {"name": "pay", "args": {"euros": "many"}, "id": "c1", "type": "tool_call"}


def raised(work: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        work()
    return caught.value


ERRORS: dict[type[Exception], Callable[[], Exception]] = {
    GraphDrained: lambda: GraphDrained("deploy"),
    NodeCancelledError: lambda: NodeCancelledError("book"),
    NodeTimeoutError: lambda: NodeTimeoutError("book", 2.5, kind="run", run_timeout=2),
    MultipleStructuredOutputsError: lambda: MultipleStructuredOutputsError(["A", "B"], AIMessage("?", id="1")),
    StructuredOutputValidationError: lambda: StructuredOutputValidationError("A", ValueError("no"), AIMessage("?")),
    IncompleteHistory: lambda: raised(lambda: validate_chat_history([AIMessage("", tool_calls=[CALL])])),
    ToolInvocationError: lambda: ToolInvocationError("pay", ValueError("no"), {"euros": "many"}, []),
    PIIDetectionError: lambda: PIIDetectionError(
        "email", [{"type": "email", "value": "a@b", "start": 0, "end": 3}], "1"
    ),
    LimitExceeded: lambda: LimitExceeded("Too many.", thread_count=3, thread_limit=2),
    ToolCallLimitExceededError: lambda: ToolCallLimitExceededError("Too many.", tool_name="pay", run_count=3),
}


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_an_error_is_the_same_in_another_process(kind: type[Exception]):
    error = ERRORS[kind]()
    error.add_note("of the worker")
    there = pickle.loads(pickle.dumps(error))
    assert type(there) is kind
    assert str(there) == str(error)
    assert {name: repr(value) for name, value in vars(there).items()} == {
        name: repr(value) for name, value in vars(error).items()
    }


def fail(kind: type[Exception]) -> NoReturn:
    raise ERRORS[kind]()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_pool_goes_on_after_any_of_them():
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        for kind in ERRORS:
            with pytest.raises(kind):
                pool.submit(fail, kind).result()
        assert pool.submit(int, "1").result() == 1
