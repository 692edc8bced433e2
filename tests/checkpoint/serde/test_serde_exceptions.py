"""Exceptions: never refused, never more than they were."""

import pickle

import pytest

from signoff.checkpoint.serde import register
from signoff.checkpoint.serde.codec import dumps, loads
from signoff.checkpoint.serde.exceptions import StoredError
from signoff.errors import GraphInterrupt, InvalidUpdateError, NodeTimeoutError, SignoffError
from signoff.types import Interrupt


def undecodable_text() -> UnicodeDecodeError:
    try:
        b"\xff".decode()
    except UnicodeDecodeError as error:
        return error
    raise AssertionError


BUILT_IN = [
    ValueError("wrong", 5),
    KeyError("key"),
    Exception(),
    FileNotFoundError(2, "No such file", "x.txt"),
    ConnectionResetError("reset"),
    StopIteration(3),
    SystemExit(2),
    undecodable_text(),
    ExceptionGroup("several", [ValueError(1), TypeError((2, 3))]),
    AssertionError(),
    TimeoutError("late"),
]


@pytest.mark.parametrize("error", BUILT_IN, ids=lambda value: type(value).__name__)
def test_a_built_in_exception_comes_back_as_itself(error):
    loaded = loads(dumps(error))
    assert type(loaded) is type(error)
    assert repr(loaded) == repr(error)
    assert str(loaded) == str(error)


def test_the_attributes_that_a_built_in_exception_makes_of_its_arguments_are_there():
    loaded = loads(dumps({"error": FileNotFoundError(2, "No such file", "x.txt")}))["error"]
    assert (loaded.errno, loaded.filename) == (2, "x.txt")
    assert loads(dumps(StopIteration(3))).value == 3
    lost = loads(dumps(ImportError("gone", name="module", path="place")))
    assert (lost.name, lost.path, str(lost)) == ("module", "place", "gone")


def test_notes_come_back():
    error = ValueError("wrong")
    error.add_note("in line 5")
    assert loads(dumps(error)).__notes__ == ["in line 5"]


def test_errors_of_signoff_come_back_as_themselves():
    late = NodeTimeoutError("book", 2.5, kind="run", run_timeout=2)
    loaded = loads(dumps(late))
    assert type(loaded) is NodeTimeoutError
    assert (loaded.node, loaded.kind, str(loaded)) == ("book", "run", str(late))
    assert type(loads(dumps(InvalidUpdateError("no")))) is InvalidUpdateError
    asked = loads(dumps(GraphInterrupt([Interrupt("ok?", "id")])))
    assert asked.interrupts == (Interrupt("ok?", "id"),)


def test_an_error_that_says_more_than_its_message_can_be_pickled():
    late = NodeTimeoutError("book", 2.5, kind="idle", idle_timeout=2)
    loaded = pickle.loads(pickle.dumps(late))
    assert (type(loaded), vars(loaded), str(loaded)) == (NodeTimeoutError, vars(late), str(late))


class Unknown(RuntimeError):
    pass


@register
class PaymentFailed(Exception):
    def __init__(self, amount: int, *, reason: str) -> None:
        super().__init__(f"{amount}: {reason}")
        self.amount = amount
        self.reason = reason


def test_a_registered_exception_comes_back_whatever_its_constructor_takes():
    loaded = loads(dumps(PaymentFailed(5, reason="empty")))
    assert type(loaded) is PaymentFailed
    assert (str(loaded), loaded.amount, loaded.reason) == ("5: empty", 5, "empty")


def test_an_exception_that_nobody_registered_becomes_a_stand_in():
    loaded = loads(dumps(Unknown("lost", 7)))
    assert type(loaded) is StoredError
    assert isinstance(loaded, SignoffError)
    assert loaded.type_name == f"{__name__}:Unknown"
    assert repr(loaded) == "Unknown('lost', 7)"
    assert str(loaded) == "Unknown('lost', 7)"


def test_a_stand_in_stays_the_same_stand_in():
    once = loads(dumps(Unknown("lost")))
    twice = loads(dumps(once))
    assert (twice.type_name, twice.text) == (once.type_name, once.text)


def test_an_exception_with_arguments_that_cannot_travel_keeps_its_text():
    loaded = loads(dumps({"error": ValueError("bad", object)}))["error"]
    assert type(loaded) is StoredError
    assert loaded.type_name == "builtins:ValueError"
    assert loaded.text.startswith("ValueError('bad', <class")


class Silent(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_an_exception_without_a_repr_is_stored_all_the_same():
    assert "repr failed" in loads(dumps(Silent())).text


def test_causes_and_tracebacks_stay_behind():
    try:
        try:
            1 / 0  # noqa: B018
        except ZeroDivisionError as cause:
            raise ValueError("wrong") from cause
    except ValueError as error:
        loaded = loads(dumps(error))
    assert loaded.__cause__ is None
    assert loaded.__traceback__ is None


def test_arguments_that_need_care_come_back_too():
    for argument in (bytearray(b"x"), "\ud800", [bytearray(b"y"), ("\udfff",)]):
        loaded = loads(dumps(ValueError(argument)))
        assert type(loaded) is ValueError
        assert loaded.args == (argument,)
        assert type(loaded.args[0]) is type(argument)


def test_an_exception_that_does_not_fit_its_class_any_more_becomes_a_stand_in():
    def define(base: type[Exception]) -> type[Exception]:
        @register
        class Refused(base):
            pass

        return Refused

    error = define(ValueError)("no")
    error.amount = 5
    data = dumps(error)
    define(UnicodeDecodeError)  # made of five arguments
    assert (type(loads(data)), str(loads(data))) == (StoredError, "Refused('no')")
