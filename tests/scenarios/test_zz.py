from .test_streaming_chat import *
from .test_streaming_chat import app, depth  # noqa


def test_a_reader_may_leave_at_the_question(app, depth):
    chunks = app.stream(HELLO, until=lambda chunk: questions([chunk]), **BOTH)
    assert questions(chunks) == [(depth, "Shall I book it?")]
    chunks = app.stream(Command(resume="Yes."), **BOTH)
    assert "".join(tokens(chunks, "book")) == "It is booked."
