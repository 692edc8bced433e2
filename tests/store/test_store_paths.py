"""Paths into values, and the texts found there."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.store.base import get_text_at_path, tokenize_path


@pytest.mark.parametrize(
    ("path", "tokens"),
    [
        ("", []),
        ("$", ["$"]),
        ("a", ["a"]),
        ("a.b.c", ["a", "b", "c"]),
        ("a[0]", ["a", "[0]"]),
        ("a[*].b", ["a", "[*]", "b"]),
        ("a[0][-1]", ["a", "[0]", "[-1]"]),
        ("*", ["*"]),
        ("a.{b.c,d[0]}.e", ["a", "{b.c,d[0]}", "e"]),
        ("{a,{b,c}}", ["{a,{b,c}}"]),
        ("a..b.", ["a", "b"]),
        ("a{b", ["a", "{b"]),
        ("a[", ["a", "["]),
        ("a]", ["a]"]),
    ],
)
def test_a_path_has_tokens(path, tokens):
    assert tokenize_path(path) == tokens


VALUE = {
    "title": "T",
    "author": {"name": "Ana", "age": 30},
    "notes": [{"text": "one"}, {"text": "two"}],
    "flag": True,
    "none": None,
    "odd": object,
}


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("title", ["T"]),
        ("author.name", ["Ana"]),
        ("author.age", ["30"]),
        ("flag", ["True"]),
        ("author", ['{"age": 30, "name": "Ana"}']),
        ("notes", ['[{"text": "one"}, {"text": "two"}]']),
        ("notes[0].text", ["one"]),
        ("notes[-1].text", ["two"]),
        ("notes[*].text", ["one", "two"]),
        ("notes.*", ['{"text": "one"}', '{"text": "two"}']),
        ("author.*", ["Ana", "30"]),
        ("{title,author.name}", ["T", "Ana"]),
        ("{ title , missing }", ["T"]),
        ("author.{name,age}", ["Ana", "30"]),
        (["author", "name"], ["Ana"]),
        ("none", []),
        ("odd", []),
        ("missing", []),
        ("title.x", []),
        ("title[0]", []),
        ("title.*", []),
        ("notes[9]", []),
        ("notes[x]", []),
        ("author[0]", []),
    ],
    ids=str,
)
def test_a_path_leads_to_texts(path, texts):
    assert get_text_at_path(VALUE, path) == texts


def test_the_whole_value_is_its_json():
    assert get_text_at_path({"b": "ü", "a": 1}, "$") == ['{"a": 1, "b": "ü"}']
    assert get_text_at_path({"b": "ü", "a": 1}, "") == ['{"a": 1, "b": "ü"}']
    assert get_text_at_path("text", "$") == ['"text"']


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet="ab.[]{},*$0-", max_size=12))
def test_no_path_however_odd_fails(path):
    assert all(isinstance(text, str) for text in get_text_at_path({"a": [{"b": 1}], "b": {"a": "x"}}, path))
    assert all(tokenize_path(path))
