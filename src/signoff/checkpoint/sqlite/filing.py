"""The index of open questions in the file: written with the commits that it follows from."""

from typing import Any

from signoff._sqlite.effects import Execute, ExecuteMany, Row, in_transaction
from signoff.checkpoint.encoding import decoded
from signoff.checkpoint.places import checked_limit
from signoff.checkpoint.questions import Filing, Question, Wanted, as_text
from signoff.errors import Undecodable
from signoff.steps import Steps
from signoff.types import Interrupt

__all__ = ["filed", "find"]

_CLOSE_ALL = "DELETE FROM signoff_questions WHERE thread_id = ?"

_CLOSE = "DELETE FROM signoff_questions WHERE thread_id = ? AND id = ?"

_FILE = """
    INSERT INTO signoff_questions (thread_id, id, graph, path, node, asked_at, text, type, value)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""

_CONDITIONS = (
    ("id", "id = ?"),
    ("thread_id", "thread_id = ?"),
    ("graph", "graph = ?"),
    ("node", "node = ?"),
    ("asked_after", "asked_at > ?"),
    ("asked_before", "asked_at < ?"),
)


def filed(serde: Any, thread_id: str, filing: Filing) -> list[Execute | ExecuteMany]:
    """The statements of a filing, with the questions encoded."""
    statements: list[Execute | ExecuteMany] = []
    if filing.closed is None:
        statements.append(Execute(_CLOSE_ALL, (thread_id,)))
    elif filing.closed:
        statements.append(ExecuteMany(_CLOSE, [(thread_id, id) for id in filing.closed]))
    if filing.asked:
        statements.append(ExecuteMany(_FILE, [_row(serde, question) for question in filing.asked]))
    return statements


def find(serde: Any, wanted: Wanted) -> Steps[list[Question]]:
    """The open questions that are wanted, oldest first."""
    conditions = [(sql, getattr(wanted, name)) for name, sql in _CONDITIONS if getattr(wanted, name) is not None]
    if wanted.text is not None:
        conditions.append(("instr(text, ?) > 0", wanted.text.casefold()))
    where = [sql for sql, _ in conditions]
    params = [value for _, value in conditions]
    if wanted.after is not None:
        where.append("(asked_at, id) > (?, ?)")
        params += wanted.after
    limit = checked_limit(wanted.limit)
    sql = f"""
        SELECT id, thread_id, graph, path, asked_at, type, value FROM signoff_questions
        {f"WHERE {' AND '.join(where)}" if where else ""} ORDER BY asked_at, id LIMIT {-1 if limit is None else limit}
    """
    rows = yield from in_transaction("read", _execute(Execute(sql, params)))
    return [_question(serde, row) for row in rows]


def _execute(effect: Execute) -> Steps[list[Row]]:
    rows: list[Row] = yield effect
    return rows


def _row(serde: Any, question: Question) -> tuple[Any, ...]:
    place = (question.thread_id, question.id, question.graph, question.path, question.node, question.asked_at)
    return (*place, as_text(question.value), *serde.dumps_typed(question.interrupt))


def _question(serde: Any, row: Row) -> Question:
    id, thread_id, graph, path, asked_at, tag, data = row
    interrupt = decoded(serde, (tag, data))
    if not isinstance(interrupt, Interrupt):
        raise Undecodable(f"Question {id!r} of thread {thread_id!r} is broken or was changed.")
    return Question(id, thread_id, graph, path, asked_at, interrupt)
