"""What every store promises, on every store."""

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
