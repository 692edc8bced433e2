"""Rows of questions: one, many, in many threads, and finding them."""

from functools import partial

from bench.cases import Against, Case, Comparison, Figure, Limit
from bench.measuring import WALL
from bench.programs import approvals, bare, by_hand, inboxes, questions
from bench.storage import KINDS, MEMORY, POSTGRES, SQLITE_FULL, Kind


def question_rows() -> list[Case]:
    """Questions, asked and answered."""
    budgets: dict[Kind, tuple[float, float]] = {MEMORY: (30, 70), SQLITE_FULL: (8, 12), POSTGRES: (4, 5)}
    cpu = [
        Comparison(
            f"question and answer, {kind.name}",
            partial(questions.question, kind=kind),
            must=budgets.get(kind, (None, None))[0],
            stretch=budgets.get(kind, (None, None))[1],
        )
        for kind in KINDS
    ]
    wall = [
        Comparison(f"question and answer, {kind.name}, wall", partial(questions.question, kind=kind, clock=WALL))
        for kind in (SQLITE_FULL, POSTGRES)
    ]
    aio = [
        Comparison(f"question and answer, {kind.name}, async", partial(questions.async_question, kind=kind))
        for kind in KINDS
    ]
    return [
        *cpu,
        Against(
            "question and answer, memory, in a program by hand",
            partial(questions.question, kind=MEMORY),
            by_hand.question,
            is_counted=False,
        ),
        Comparison("question and answer of dicts, memory", questions.question_of_dicts),
        *wall,
        *aio,
        *_many_questions(),
    ]


def _many_questions() -> list[Case]:
    return [
        Comparison(
            "100 parallel questions, one by one",
            partial(questions.parallel_questions, questions=100),
            must=100,
            stretch=250,
            rounds=2,
            is_counted=False,
        ),
        Comparison(
            "100 parallel questions of tasks that are given dicts",
            partial(questions.parallel_questions, questions=100, given=lambda item: {"item": item}),
            rounds=2,
            is_counted=False,
        ),
        Comparison(
            "100 questions of one node, one by one",
            partial(questions.serial_questions, questions=100),
            rounds=5,
            is_counted=False,
        ),
        Limit(
            "bytes of one of the last answers of 100, against the first", "x", questions.growth_of_an_answer, must=1.2
        ),
    ]


def approval_rows() -> list[Case]:
    """Tools that a person approves; beside LangChain's agents."""
    return [
        Comparison("tool call that is approved, memory", partial(approvals.approved_call, kind=MEMORY)),
        Comparison("tool call that is approved, SQLite FULL", partial(approvals.approved_call, kind=SQLITE_FULL)),
        Comparison("agent that is made", approvals.new_agent),
    ]


def waiting_rows() -> list[Case]:
    """A thread of many that wait; each costs milliseconds, so they are run once."""
    run = questions.waiting_threads
    return [
        Comparison(
            "thread of 1,000 waiting, SQLite FULL, wall",
            partial(run, threads=1000, kind=SQLITE_FULL),
            must=15,
            stretch=30,
            rounds=1,
            is_counted=False,
        ),
        Comparison(
            "thread of 1,000 waiting, Postgres, wall",
            partial(run, threads=1000, kind=POSTGRES),
            must=8,
            stretch=15,
            rounds=1,
            is_counted=False,
        ),
        *[
            Comparison(
                f"thread of 1,000 waiting, at once, {kind.name}, wall",
                partial(questions.waiting_at_once, threads=1000, kind=kind),
                rounds=1,
                is_counted=False,
            )
            for kind in (SQLITE_FULL, POSTGRES)
        ],
        *[
            Against(
                f"thread of 1,000 waiting, in bare commits, {kind.name}, wall",
                partial(run, threads=1000, kind=kind),
                partial(bare.bare_waiting, threads=1000, kind=kind),
                rounds=1,
                is_counted=False,
            )
            for kind in (SQLITE_FULL, POSTGRES)
        ],
        Figure("bytes of memory of a waiting thread", "bytes", questions.memory_of_a_waiting_thread, must=4),
    ]


def inbox_rows() -> list[Case]:
    """Pages of 50 of 1,000 open questions among 100,000 threads."""
    return [
        Limit(f"{page} of open questions, {kind.name}, wall", "s", partial(program, kind=kind), must=0.05, rounds=1)
        for kind in (SQLITE_FULL, POSTGRES)
        for page, program in (("first page", inboxes.first_page), ("later page, filtered,", inboxes.next_page))
    ]
