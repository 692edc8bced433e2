"""What every store promises, on every store."""

import pytest

from signoff.errors import NotStorable
from signoff.store.base import PutOp
from signoff.testing.conformance import stores


@pytest.mark.parametrize("check", stores.CHECKS, ids=str)
def test_the_promise(check, world):
    check(world)


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
