"""Answers that nobody has taken: tasks in other threads go on while a run looks for them."""

from types import SimpleNamespace
from typing import Any

from signoff.engine.calls.unread_answers import hear


def test_tasks_in_other_threads_take_their_answers_while_those_of_one_are_looked_for():
    found: dict[str, Any] = {}

    class Answer(dict):
        def __contains__(self, name):
            found.popitem()  # as another thread would, just now
            return super().__contains__(name)

    found.update((id, Answer(key=id, shown=id)) for id in "abc")
    task = SimpleNamespace(id="1", name="pay", caller=None)
    outcome = SimpleNamespace(task=task, is_done=True, is_known=False)
    run = SimpleNamespace(known=None, found=found, answers=found.copy(), unread=[])
    assert list(hear(run, [outcome])) == []
    assert run.unread == []
