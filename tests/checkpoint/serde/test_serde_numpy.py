"""NumPy's arrays and scalars."""

import subprocess
import sys

import numpy as np
import pytest

from signoff.checkpoint.serde.codec import dumps, loads
from signoff.errors import NotStorable

RECORD = np.dtype([("name", "U5"), ("at", "<M8[s]"), ("pair", "<i2", (2,))])
PADDED = np.dtype([("a", "i1"), ("b", "i8")], align=True)

ARRAYS = [
    np.array(5),
    np.array([]),
    np.empty((0, 3)),
    np.empty((2, 0, 4), "int8"),
    np.arange(24, dtype="int16").reshape(2, 3, 4),
    np.arange(6.0).reshape(2, 3).T,
    np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
    np.arange(10)[::3],
    np.arange(10)[::-1],
    np.array([True, False]),
    np.array([1 + 2j, 3], "complex64"),
    np.array([1, 2], ">i4"),
    np.array([1.5, 2], "float16"),
    np.array(["a", "longer", ""]),
    np.array([b"a", b"bc"]),
    np.array(["2024-01-01", "NaT"], "M8[D]")[:1],
    np.array([1, 2], "m8[ns]"),
    np.array([("ana", "2024-01-01", [1, 2])], RECORD),
    np.zeros(2, PADDED),
    np.array([b"\x00\x01"], "V2"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}-{array.shape}")
def test_an_array_comes_back(array):
    loaded = loads(dumps({"array": array}))["array"]
    assert type(loaded) is np.ndarray
    assert loaded.dtype == array.dtype
    assert loaded.shape == array.shape
    assert np.array_equal(loaded, array)
    assert loaded.flags.writeable


def test_an_array_in_columns_stays_in_columns():
    array = np.asfortranarray(np.arange(6).reshape(2, 3))
    assert loads(dumps(array)).flags.f_contiguous


def test_not_a_number_comes_back_in_an_array():
    assert np.isnan(loads(dumps(np.array([np.nan])))[0])


SCALARS = [
    np.int8(-5),
    np.uint64(2**64 - 1),
    np.float16(1.5),
    np.float32(0.1),
    np.float64(0.1),
    np.longdouble("0.1"),
    np.complex128(1 + 2j),
    np.bool_(True),
    np.str_("text\x00"),
    np.bytes_(b"bytes\x00"),
    np.datetime64("2024-01-01T00:00:00.000001"),
    np.timedelta64(5, "h"),
    np.array([("ana", "2024-01-01", [1, 2])], RECORD)[0],
    np.void(b"\x01\x02"),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: type(scalar).__name__)
def test_a_scalar_comes_back_and_is_not_flattened(again, scalar):
    loaded = again(scalar)
    assert loaded.dtype == scalar.dtype


class Own(np.ndarray):
    pass


REFUSED = [
    (np.array([object()]), "holds Python objects"),
    (np.array([("a", 1)], [("o", "O"), ("n", "i4")]), "holds Python objects"),
    (np.ma.array([1, 2]), "MaskedArray is a subclass of ndarray"),
    (np.arange(2).view(Own), "Own is a subclass of ndarray"),
    (np.rec.array([(1,)], dtype=[("a", "i4")]), "recarray is a subclass of ndarray"),
    (np.zeros(2, "V0"), "a NumPy value of dtype"),
    (np.array(["a"], np.dtypes.StringDType()), "a NumPy value of StringDType"),
]


@pytest.mark.parametrize(("array", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_an_array_that_would_not_come_back_is_refused_with_its_path(array, why):
    with pytest.raises(NotStorable, match=f"values.table.rows: .*{why}"):
        dumps({"table": {"rows": array}})


def test_an_array_cannot_be_loaded_without_numpy_and_the_error_says_so():
    program = (
        "import sys; sys.modules['numpy'] = None;"
        "from signoff.checkpoint.serde.codec import loads; from signoff.errors import Undecodable\n"
        "try: loads(bytes.fromhex(sys.argv[1]))\n"
        "except Undecodable as error: print(error)"
    )
    command = [sys.executable, "-c", program, dumps(np.arange(3)).hex()]
    assert "Install numpy" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
