"""Filling in and editing field by field: what the keys that are pressed make of what is there."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal
from uuid import UUID

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pydantic import BaseModel

from cli.terminal import CTRL_C, DOWN, ENTER, UP
from signoff.cli.prompt.editing import edit
from signoff.cli.prompt.fields import fill_in
from signoff.forms import filled_in, published


@pytest.fixture
def press(monkeypatch):
    """Keys that are pressed one after the other, as they are asked for."""
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield lambda *pressed: keys.send_text("".join(pressed))


class Price(BaseModel):
    amount: Decimal
    rate: float = 1.0


class Address(BaseModel):
    street: str = "?"
    city: str | None = None


class Payment(BaseModel):
    amount: int
    priority: Literal["express"] | None = None
    overdraft: bool | None = None
    fast: bool = False
    mode: Literal["dry", "wet"] = "dry"
    note: str = "none"
    limit: int | None = 10
    to: Address | None = None
    tags: list[str] = []


PAYMENT = published(Payment)

FULL = {
    "amount": 5,
    "priority": "express",
    "overdraft": False,
    "fast": True,
    "mode": "wet",
    "note": "a\nb\t",
    "limit": 7,
    "to": {"street": "Main", "city": "Bonn"},
    "tags": ["a"],
}
EMPTY = {"amount": 5, "priority": None, "overdraft": None, "note": "", "limit": None, "to": None, "tags": []}


@pytest.mark.parametrize(
    "now",
    [
        {"amount": 5},
        FULL,
        EMPTY,
        {"amount": 5, "to": {}},
        {"amount": 5, "to": {"city": None}},
        {"amount": 5, "more": 1},
    ],
)
def test_enter_everywhere_gives_back_what_was_there(press, now):
    press(ENTER * 20)
    assert edit(now, PAYMENT) == now


@pytest.mark.parametrize("now", [FULL, EMPTY, {"a": "5", "b": 5, "c": "", "d": 1.5, "e": {"f": [None]}}])
def test_enter_everywhere_gives_back_arguments_that_came_without_a_schema(press, now):
    press(ENTER * 20)
    assert edit(now, None) == now


ARGS = {"amount": Decimal("1.10"), "day": date(2026, 1, 2), "id": UUID(int=5), "path": Path("/a"), "in": [Decimal(2)]}


def test_arguments_of_kinds_that_json_has_not_are_edited_too(press):
    press(ENTER, "0", ENTER * 20)
    assert edit(ARGS, None) == {**ARGS, "day": "2026-01-020"}


def test_arguments_of_kinds_that_json_has_not_come_to_the_editor_as_a_person_writes_them(press, monkeypatch):
    monkeypatch.setenv("EDITOR", "true")
    told = {"amount": "1.10", "day": "2026-01-02", "id": str(ARGS["id"]), "path": "/a", "in": ["2"]}
    assert edit(ARGS, None) == told


def test_what_was_left_out_can_be_filled_in_and_what_was_there_left_out(press):
    fields = {
        "amount": {"type": "integer"},
        "priority": {"const": "express"},
        "to": {"type": "object", "properties": {"street": {"type": "string"}}},
        "from": {"type": "object", "properties": {"street": {"type": "string"}}},
    }
    schema = {"type": "object", "properties": fields, "required": ["amount"]}
    press(ENTER, UP, ENTER, DOWN, ENTER, UP, ENTER, "Main", ENTER)
    edited = edit({"amount": 5, "to": {"street": "Side"}}, schema)
    assert edited == {"amount": 5, "priority": "express", "from": {"street": "Main"}}


def test_a_new_form_begins_with_its_defaults_and_with_nothing_where_those_are_nothing(press):
    press("5", ENTER * 20)
    filled = {"amount": 5, "fast": False, "mode": "dry", "note": "none", "limit": 10, "tags": []}
    assert fill_in(PAYMENT) == filled


class Step(BaseModel):
    name: str
    then: "Step | None" = None


def test_a_form_that_has_itself_in_it_is_as_deep_as_a_person_wants(press):
    press("wash", ENTER, UP, ENTER, "dry", ENTER, ENTER)
    assert fill_in(published(Step)) == {"name": "wash", "then": {"name": "dry"}}


@pytest.mark.parametrize(
    "definition", ["#/$defs/a~1b~0c%25", "#/properties/list/items", "#/properties/pair/prefixItems/1"]
)
def test_a_part_is_found_wherever_the_schema_has_it(press, definition):
    counted = {"type": "integer", "minimum": 1}
    fields = {
        "list": {"type": "array", "items": counted},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, counted]},
        "count": {"$ref": definition},
    }
    press("[1]", ENTER, '["a", 1]', ENTER, "0", ENTER, "\x7f", "5", ENTER)
    filled = fill_in({"type": "object", "properties": fields, "$defs": {"a/b~c%": counted}, "required": [*fields]})
    assert filled == {"list": [1], "pair": ["a", 1], "count": 5}


def test_a_schema_that_is_a_part_of_itself_is_as_deep_as_a_person_wants(press):
    press("wash", ENTER, UP, ENTER, "dry", ENTER, ENTER)
    fields = {"name": {"type": "string"}, "then": {"$ref": "#"}}
    assert fill_in({"type": "object", "properties": fields, "required": ["name"]}) == {
        "name": "wash",
        "then": {"name": "dry"},
    }


def test_a_part_that_may_be_anything_is_typed(press):
    press("[1]", ENTER, '"a"', ENTER)
    assert fill_in({"type": "object", "properties": {"all": True, "some": {"anyOf": [True]}}}) == {
        "all": [1],
        "some": "a",
    }


def test_what_may_be_nothing_may_be_so_behind_a_reference(press):
    maybe = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"sure": {"$ref": "#/$defs/maybe"}}, "$defs": {"maybe": maybe}}
    press(ENTER)
    assert edit({"sure": None}, schema) == {"sure": None}


@pytest.mark.parametrize("reference", ["#/nowhere", "#anchor", "#/$defs/loop"])
def test_a_reference_to_nothing_is_told_and_the_form_can_be_left(press, capsys, reference):
    schema = {"type": "object", "properties": {"a": {"$ref": reference}}, "$defs": {"loop": {"$ref": reference}}}
    press("1", ENTER, CTRL_C)
    with pytest.raises(KeyboardInterrupt):
        fill_in(schema)
    assert "refers to" in capsys.readouterr().out


class Move(BaseModel):
    here: Address | None = None
    there: Address | None = None


def test_parts_of_the_same_kind_are_told_apart_by_their_names(press, capsys):
    press(ENTER * 2)
    assert fill_in(published(Move)) == {}
    assert "  here: (leave out)\n" in capsys.readouterr().out


def test_what_is_there_and_does_not_fit_is_asked_anew(press):
    schema = {"type": "object", "properties": {"amount": {"type": "integer"}, "note": {"type": "string"}}}
    press("\x7f" * 3, "7", ENTER, ENTER)
    assert edit({"amount": "all", "note": None}, schema) == {"amount": 7}


@pytest.mark.parametrize("typed", ["1.123456789012345678", "12345678901234567890.10", "12.5", "5", "1e400"])
def test_an_amount_keeps_all_digits_that_were_typed(press, typed):
    press(typed, ENTER, "23456789012345678901", ENTER)  # behind the 1.0 that is there
    answer = fill_in(published(Price))
    assert filled_in(Price, answer, None) == Price(amount=Decimal(typed), rate=1.02345678901234567)
