"""Names and filters that hypothesis makes up: nothing that is stored, or asked for, can say anything but what it says.

A saver is compared with one in memory, where a name is compared with a name and there is no language to escape from.
"""

from collections.abc import Callable
from typing import Any

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput
from signoff.testing.conformance._odd_names import ODD
from signoff.testing.conformance._saver_words import at, ids, put

MAX_EXAMPLES = 30

HOSTILE = [*ODD, "", "a.b", "access') = 'public' OR '1'='1' OR json_extract(value, '$.", "\ufffe"]


def no_filter_can_say_anything_but_what_it_says(saver: Any) -> None:
    st = _hypothesis().strategies
    texts = st.sampled_from(HOSTILE) | st.text(max_size=6)
    scalars = texts | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none()
    values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
    memory = InMemorySaver()
    for one in (memory, saver):
        for number, text in enumerate(HOSTILE):
            put(one, f"{number:02}", metadata={text: text, "step": number, "in": {"a": [text, None]}})

    def check(filter: Any) -> None:
        assert ids(saver.list(None, filter=filter)) == ids(memory.list(None, filter=filter))

    _with_examples(check, filter=st.dictionaries(texts, values, max_size=2))
    for filter in ({"step": True}, {"step": 1.0}, {"step": 2**70}, {"in": {"a": ["?1", None]}}):
        check(filter)
    assert len(list(saver.list(None))) == len(HOSTILE)


def no_name_can_say_anything_but_what_it_says(saver: Any) -> None:
    st = _hypothesis().strategies
    texts = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    put(saver, "other", thread="a thread that stays")

    def check(thread: str, ns: str, id: str, name: str) -> None:
        put(saver, id, {name: name}, thread=thread, ns=ns)
        saver.put_writes(at(id, thread=thread, ns=ns), [(name, name)], name, name)
        found = saver.get_tuple(at(id, thread=thread, ns=ns))
        assert found.checkpoint["channel_values"] == {name: name}
        assert found.pending_writes == [(name, name, name)]
        assert ids(saver.list(at(id, thread=thread, ns=ns))) == [id]
        saver.delete_thread(thread)
        assert ids(saver.list(None)) == ["other"]

    _with_examples(check, thread=texts, ns=texts, id=texts.filter(bool), name=texts)


def _with_examples(check: Callable[..., None], **strategies: Any) -> None:
    """Check it with whatever comes to mind; a failure shows the smallest example."""
    hypothesis = _hypothesis()
    settings = hypothesis.settings(deadline=None, max_examples=MAX_EXAMPLES, database=None, derandomize=True)
    settings(hypothesis.given(**strategies)(check))()


def _hypothesis() -> Any:
    try:
        import hypothesis
        import hypothesis.strategies
    except ImportError as error:
        raise InvalidInput("These checks need hypothesis: `pip install hypothesis`.") from error
    return hypothesis
