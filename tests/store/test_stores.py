"""What every store promises, on every store."""

from collections import Counter, defaultdict

import pytest

from signoff._sqlite.numbered import _Connection
from signoff.errors import NotStorable
from signoff.store.base import PutOp
from signoff.testing.conformance import stores


@pytest.mark.parametrize("check", stores.CHECKS, ids=str)
def test_the_promise(check, world):
    check(world)


@pytest.mark.parametrize("check", stores.CHECKS, ids=str)
def test_it_is_kept_where_sqlite_is_given_values_by_name(check, openers, clock, monkeypatch):
    monkeypatch.setattr("signoff._sqlite.connection.CONNECTION", _Connection)  # as Python 3.12.0 to 3.12.3 want it
    check(stores.World(openers["sqlite"], clock))


def endless():
    value = {}
    value["inside"] = {"list": [value]}
    return value


def test_a_value_that_contains_itself_is_refused_by_its_key_and_nothing_is_put(open_store):
    store = open_store()
    with pytest.raises(NotStorable, match="value of 'ana' is nested too deep, or contains itself"):
        store.batch([PutOp(("users",), "ben", {"age": 1}), PutOp(("users",), "ana", endless())])
    with pytest.raises(NotStorable, match="value of 'ana'"):
        store.put(("users",), "ana", endless())
    assert store.search(("users",)) == []


class Tags(list):
    pass


def test_dicts_and_lists_of_other_kinds_are_the_stores_own_too(open_store):
    store = open_store()
    seen, value = Counter(["tea"]), {"by": defaultdict(list, ana=["tea"]), "tags": [Tags(["new"])]}
    store.put(("users",), "ana", {"seen": seen, **value})
    seen.update(["tea"])
    value["by"]["ana"].append("milk")
    value["tags"][0].append("old")
    store.get(("users",), "ana").value["by"]["ana"].append("milk")
    store.search(("users",))[0].value["seen"]["tea"] += 1
    assert store.get(("users",), "ana").value == {"seen": {"tea": 1}, "by": {"ana": ["tea"]}, "tags": [["new"]]}
