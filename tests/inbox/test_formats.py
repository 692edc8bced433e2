"""A day, a time, an id: what JSON has no type for is a text of a format, and checked before an answer is stored."""

from datetime import date, datetime, time, timedelta
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, TypeAdapter

from signoff import forms
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import interrupt


class Leave(BaseModel):
    first: date
    last: date | None = None


KINDS = [
    pytest.param(date, ["2026-11-19"], ["soon", "2026-02-30", "19.11.2026"], id="date"),
    pytest.param(datetime, ["2026-11-19T08:00:00Z", "2026-11-19 08:00", "2026-11-19"], ["now"], id="datetime"),
    pytest.param(time, ["08:00", "08:00:01.5"], ["25:00"], id="time"),
    pytest.param(timedelta, ["P1DT2H", "02:00:00"], ["a while"], id="timedelta"),
    pytest.param(UUID, ["12345678-1234-5678-1234-567812345678", "12345678123456781234567812345678"], ["7"], id="UUID"),
    pytest.param(IPv4Address, ["10.0.0.1"], ["10.0.0.256"], id="IPv4Address"),
    pytest.param(IPv6Address, ["::1"], ["10.0.0.1"], id="IPv6Address"),
    pytest.param(list[date], [["2026-11-19"], []], [["2026-11-19", "soon"]], id="several"),
    pytest.param(date | None, [None, "2026-11-19"], ["soon"], id="optional"),
    pytest.param(Leave, [{"first": "2026-11-19"}], [{"first": "2026-11-19", "last": "soon"}], id="model"),
    pytest.param({"type": "string", "format": "date"}, ["2026-11-19"], ["soon"], id="JSON Schema"),
    pytest.param({"format": "date"}, [7, "2026-11-19"], ["soon"], id="of texts only"),
    pytest.param({"format": "postcode"}, ["whatever"], [], id="unknown format"),
]


@pytest.mark.parametrize(("form", "right", "wrong"), KINDS)
def test_an_answer_is_checked_for_the_format_that_its_form_has(form: Any, right: list[Any], wrong: list[Any]) -> None:
    schema = forms.published(form)
    assert [forms.refusal(schema, answer) for answer in right] == [None] * len(right)
    assert all(forms.refusal(schema, answer) for answer in wrong)


@pytest.mark.parametrize("form", [date, datetime, time, timedelta, UUID, IPv4Address, IPv6Address])
@pytest.mark.parametrize("answer", ["2026-11-19", "1700000000", "08:00", "P1D", "::1", "10.0.0.1", "0" * 32, "soon"])
def test_a_text_is_refused_if_and_only_if_the_type_refuses_it(form: Any, answer: str) -> None:
    try:
        TypeAdapter(form).validate_python(answer)
    except ValueError:
        assert forms.refusal(forms.published(form), answer)
    else:
        assert forms.refusal(forms.published(form), answer) is None


def test_a_person_hears_at_once_that_it_is_no_day() -> None:
    saver = InMemorySaver()
    graph = StateGraph(dict).add_node("ask", lambda state: {"day": interrupt("When?", response_schema=date)})
    app = graph.add_edge(START, "ask").compile(checkpointer=saver)
    app.invoke({}, {"configurable": {"thread_id": "1"}})
    inbox = Inbox(saver)
    question = inbox.open()[0]
    with pytest.raises(InvalidAnswer, match="'soon' is not a 'date'"):
        inbox.answer(question.id, "soon")
    inbox.answer(question.id, "2026-11-19")
    assert app.resume_answered() == {"1": {"day": date(2026, 11, 19)}}


@pytest.mark.parametrize("answer", [float("inf"), 10**400])
def test_a_number_that_no_sum_can_be_made_of_is_refused(answer: Any) -> None:
    assert forms.refusal({"type": "number", "multipleOf": 0.1}, answer)
