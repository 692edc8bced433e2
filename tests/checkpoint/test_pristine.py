"""What a program changes in place is seen, wherever it is and wherever it goes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from signoff.checkpoint.log.pristine import Watch

quick = settings(max_examples=80)

atoms = st.text("abc", max_size=2) | st.integers(0, 3) | st.none() | st.booleans() | st.sampled_from([0.0, 1.0, 2.0])
plain = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
)
calls = st.lists(st.builds(lambda args: {"name": "t", "args": args, "id": "1"}, st.dictionaries(st.just("a"), plain)))
messages = st.builds(HumanMessage, st.text("abc", max_size=2)) | st.builds(
    AIMessage,
    st.text("abc", max_size=2),
    tool_calls=calls,
    additional_kwargs=st.dictionaries(st.sampled_from("ab"), plain),
)


def containers_in(values):
    found = []
    for value in values:
        if isinstance(value, AIMessage | HumanMessage):
            value = value.__dict__
        elif isinstance(value, dict | list):
            found.append(value)
        if isinstance(value, dict | list):
            found += containers_in(list(value.values()) if isinstance(value, dict) else value)
    return found


def taken_from(container, at):
    if isinstance(container, list):
        return container.pop(at % len(container))
    return container.pop(list(container)[at % len(container)])


def put_into(container, value, key):
    if isinstance(container, dict):
        container[key] = value
    elif key < "b":
        container.insert(0, value)
    else:
        container.append(value)


@quick
@given(
    st.lists(messages | plain, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 3), st.sampled_from("abcd")), max_size=2),
)
def test_whatever_moves_is_seen(values, moves):
    watch, before = Watch(values), repr(values)
    assert watch.is_untouched
    for source, target, at, key in moves:
        containers = containers_in(values)
        full = [one for one in containers if one]
        if not full:
            continue
        moved = taken_from(full[source % len(full)], at)
        if not isinstance(moved, dict | list):
            put_into(containers[target % len(containers)], moved, key)
    assert watch.is_untouched == (repr(values) == before)


@quick
@given(st.lists(messages, min_size=1, max_size=4), st.lists(messages, min_size=1, max_size=2), st.integers(0, 20))
def test_what_is_watched_later_is_seen_as_well(values, more, at):
    watch = Watch(values)
    for value in more:
        watch.add([value])
    assert watch.is_untouched
    one = [*values, *more][at % (len(values) + len(more))]
    one.response_metadata["a"] = 1
    assert not watch.is_untouched


@pytest.mark.parametrize(
    ("before", "after"), [(True, 1), (0, False), (1, 1.0), ([True], [1]), ({"b": 0}, {"b": False})]
)
def test_what_equals_the_old_and_is_another_value_is_seen(before, after):
    message = AIMessage("a", additional_kwargs={"a": before})
    watch = Watch([message])
    message.additional_kwargs["a"] = after
    assert not watch.is_untouched
    message.additional_kwargs["a"] = before
    assert watch.is_untouched
    message.additional_kwargs = {"a": after}
    assert not watch.is_untouched


def test_of_keys_that_are_no_texts_there_is_no_telling():
    assert not Watch([{1: "a"}]).is_untouched


def test_an_item_that_goes_to_the_next_list_is_seen():
    plan = {"todo": ["a", "b"], "done": []}
    watch = Watch([plan])
    plan["done"].insert(0, plan["todo"].pop())
    assert not watch.is_untouched


def test_a_tool_call_that_turns_out_to_be_invalid_is_seen():
    message = AIMessage("a", tool_calls=[{"name": "t", "args": {}, "id": "1"}])
    watch = Watch([message])
    message.invalid_tool_calls.append(message.tool_calls.pop())
    assert not watch.is_untouched


def test_what_contains_itself_is_not_watched_for_ever():
    endless = []
    endless.append(endless)
    assert not Watch([endless]).is_untouched


def test_of_an_object_that_is_in_two_places_there_is_no_telling():
    order = {"is_paid": False}
    assert not Watch([order, {"is_paid": False}, order]).is_untouched
    assert not Watch([{"orders": [order]}, {"orders": [order]}]).is_untouched
    watch = Watch([order])
    watch.add([{"also": order}])
    assert not watch.is_untouched
