"""Lists that grow, shrink and change: what comes back is what was there, however little of it was written."""

from typing import Any

from signoff.checkpoint.base import Commit, TaskWrites
from signoff.testing.conformance._saver_words import T, after, at, made, put, store, values_of
from signoff.testing.conformance.checks import cases


class _Thread:
    """A thread with one list, as an engine would store it: objects that stay in the list stay the same."""

    def __init__(self, saver: Any) -> None:
        self.saver = saver
        self.step = 0
        self.held: dict[str, Any] = {}

    def store(self, value: Any, written: Any = (), *, parent: str | None = None) -> str:
        parent = parent or (f"{self.step:04}" if self.step else None)
        self.step += 1
        id = f"{self.step:04}"
        checkpoint = made(id, {"list": value}, {"list": self.step})
        writes = [TaskWrites(f"task {id}", [("list", written)], "path")]
        store(self.saver, Commit(after(parent), writes, checkpoint, {"step": self.step}, {"list"}))
        self.held[id] = _copy(value)
        return id

    def check(self) -> None:
        """See that every checkpoint has what it had, one by one and in a list."""
        for id, value in self.held.items():
            assert values_of(self.saver, id) == {"list": value}, id
        listed = {one.checkpoint["id"]: one.checkpoint["channel_values"] for one in self.saver.list(at())}
        assert listed == {id: {"list": value} for id, value in self.held.items()}
        found, _ = self.saver.look(at())
        assert found.checkpoint["channel_values"]["list"] == self.held[max(self.held)]


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, dict) else value


def _items(count: int, start: int = 0) -> list[Any]:
    return [{"text": f"item {number} " + "x" * 50, "tags": [number]} for number in range(start, start + count)]


def a_list_that_grows_comes_back_at_every_checkpoint(saver: Any) -> None:
    thread = _Thread(saver)
    value: list[Any] = []
    for step in range(70):
        news = _items(1 + step % 3, 10 * step)
        value = value + news
        thread.store(value, news)
    thread.check()
    assert saver.get_tuple(at("0069")).pending_writes == [("task 0070", "list", value[-1 - 69 % 3 :])]


@cases(
    "change",
    [
        lambda value: value[2:],
        lambda value: value[:-3],
        lambda value: value[:5] + value[9:],
        lambda value: [*value[:7], {"new": 1}, *value[8:]],
        lambda value: [{"new": 1}, *value],
        lambda value: value[::-1],
        lambda value: value + value,
        lambda value: [*value[:-1], {"new": 1}, {"new": 2}],
        lambda value: [],
        lambda value: ["short"],
        lambda value: "no list",
        lambda value: None,
        lambda value: tuple(value),
        lambda value: [*value, *[{"text": "same"}] * 5],
    ],
)
def whatever_is_done_to_a_list_it_comes_back(saver: Any, change: Any) -> None:
    thread = _Thread(saver)
    value = _items(30)
    thread.store(value, value)
    for step in range(3):
        value = change(value)
        thread.store(value)
        if isinstance(value, list):
            news = _items(2, 100 * step)
            value = value + news
            thread.store(value, news)
        else:
            value = _items(30)
            thread.store(value, value)
    thread.check()


def a_list_that_is_made_of_too_many_pieces_is_written_anew(saver: Any) -> None:
    thread, value = _Thread(saver), _items(60)
    thread.store(value, value)
    for at_ in range(0, 60, 2):
        new = {"changed": at_}
        value = [*value[:at_], new, *value[at_ + 1 :]]
        thread.store(value, [new])
    thread.check()


def an_item_that_was_changed_and_returned_is_stored(saver: Any) -> None:
    thread, value = _Thread(saver), _items(30)
    thread.store(value, value)
    value[4]["text"] = "changed"
    value = [*value]
    thread.store(value, [value[4]])
    value[9]["tags"].append("more")
    thread.store(value, value)  # the whole list was returned
    value[29]["text"] = "last"
    news = _items(1, 50)
    value = value + news
    thread.store(value, [value[29], *news])
    thread.check()


def equal_items_that_are_other_objects_are_no_change(saver: Any) -> None:
    thread, value = _Thread(saver), _items(30)
    thread.store(value, value)
    for step in range(4):
        value = _copy(value) + _items(1, 50 + step)
        thread.store(value, value)
    thread.check()


def branches_of_a_growing_list_do_not_touch_each_other(saver: Any) -> None:
    thread, value = _Thread(saver), _items(20)
    root = thread.store(value, value)
    for number in range(3):
        branch, parent = value, root
        for step in range(3):
            news = _items(1, 1000 * number + step)
            branch = branch + news
            parent = thread.store(branch, news, parent=parent)
    thread.check()


def two_savers_that_take_turns_lose_nothing(open_saver: Any) -> None:
    first, second = open_saver(), open_saver()
    if not list(_shared(first, second)):
        return  # a saver that lives in its object
    thread, value = _Thread(first), _items(20)
    thread.store(value, value)
    for step in range(6):
        thread.saver = second if step % 2 else first
        value = thread.saver.look(at())[0].checkpoint["channel_values"]["list"]
        news = _items(1, 100 + step)
        value = value + news
        thread.store(value, news)
    thread.check()


def what_is_stored_on_a_checkpoint_that_another_has_stored_again_is_whole(open_saver: Any) -> None:
    first, second = open_saver(), open_saver()
    if not list(_shared(first, second)):
        return  # a saver that lives in its object
    put(first, "1", {"a": 1, "b": 1})
    put(second, "1", {"a": 1})
    put(first, "2", {"a": 2, "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    assert values_of(second, "2") == {"a": 2, "b": 1}


def what_is_stored_on_a_checkpoint_that_another_has_removed_is_whole(open_saver: Any) -> None:
    first, second = open_saver(), open_saver()
    if not list(_shared(first, second)):
        return  # a saver that lives in its object
    put(first, "1", {"a": 1, "b": 1})
    second.delete_thread(T)
    put(first, "2", {"a": 2, "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    assert values_of(second, "2").items() <= {"a": 2, "b": 1}.items()
    put(second, "3", {"a": 3}, parent="2", versions={"a": 3}, new={"a": 3})
    assert values_of(first) == {"a": 3}


def _shared(first: Any, second: Any) -> Any:
    first.put_writes(at("nowhere"), [("a", 1)], "task")
    first.put(at(thread="probe"), made("1"), {}, {})
    return second.list(at(thread="probe"))


def what_a_run_changes_in_place_and_does_not_return_is_not_stored_or_handed_out(saver: Any) -> None:
    thread, value = _Thread(saver), _items(30)
    thread.store(value, value)
    handed_out = saver.look(at())[0].checkpoint["channel_values"]["list"]
    handed_out[3]["text"] = "changed"
    handed_out[4]["tags"].append("more")
    handed_out.append("another")
    value[5]["text"] = "changed"
    assert saver.look(at())[0].checkpoint["channel_values"]["list"] == thread.held["0001"]
    thread.check()


def a_thread_with_lists_is_copied_pruned_and_goes_on(saver: Any) -> None:
    thread, value = _Thread(saver), _items(20)
    thread.store(value, value)
    for step in range(5):
        news = _items(2, 100 * step)
        value = value[1:] + news
        thread.store(value, news)
    saver.copy_thread("thread", "copy")
    saver.prune(["thread"])
    thread.held = {max(thread.held): thread.held[max(thread.held)]}
    thread.check()
    saver.copy_thread("copy", "copy of it")
    for copy in ("copy", "copy of it"):
        assert values_of(saver, thread=copy) == {"list": value}
    value = value + _items(1, 999)
    thread.store(value, value[-1:])
    thread.check()
    saver.delete_thread("thread")
    assert values_of(saver, "0003", thread="copy")["list"][0]["text"].startswith("item 2 ")


def a_large_value_is_read_from_wherever_it_is_kept(saver: Any) -> None:
    big = {"text": "x" * 10_000}
    for step in range(4):
        id, parent = str(step + 1), str(step) if step else None
        value = big if step < 3 else {"text": "y" * 10_000}
        checkpoint = made(id, {"big": value, "n": step}, {"big": 1 if step < 3 else 2, "n": step + 1})
        writes = [TaskWrites(f"task {id}", [("big", value)])]
        changed = {"big", "n"} if step in (0, 3) else {"n"}
        store(saver, Commit(after(parent), writes, checkpoint, {}, changed))
    assert values_of(saver, "3") == {"big": big, "n": 2}
    assert values_of(saver) == {"big": {"text": "y" * 10_000}, "n": 3}
    assert saver.get_tuple(at("2")).pending_writes == [("task 3", "big", big)]
    saver.prune(["thread"])
    assert values_of(saver) == {"big": {"text": "y" * 10_000}, "n": 3}
