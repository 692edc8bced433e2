"""How NumPy arrays and scalars are written; imported only once a value of NumPy is met.

An array is [type, shape, order, bytes]. Types that hold Python objects or pointers are refused both ways.
"""

from typing import Any

import numpy as np
from numpy.lib import format as npy

from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.wire import Decode, Encode, Load, Pack, ext
from signoff.errors import NotStorable

__all__ = ["DECODERS", "encoder_for"]

_PLAIN_KINDS = frozenset("biufcmMSU")
"""Kinds that the type's own short name says completely."""


def encoder_for(cls: type) -> Encode | None:
    """How to write instances of this class, if it is the array or one of the scalars."""
    if cls is np.ndarray:
        return _encode_array
    if cls in (np.str_, np.bytes_):
        return _encode_text
    if issubclass(cls, np.generic) and cls.__module__ == "numpy":
        return _encode_scalar
    return None


def _encode_array(array: Any, pack: Pack) -> Any:
    order = "F" if array.flags.fnc else "C"
    parts = [_describe(array.dtype), list(array.shape), order, array.tobytes(order)]
    return ext(wire.NUMPY_ARRAY, pack(parts))


def _encode_scalar(scalar: Any, pack: Pack) -> Any:
    return ext(wire.NUMPY_SCALAR, pack([_describe(scalar.dtype), scalar.tobytes()]))


def _encode_text(scalar: Any, pack: Pack) -> Any:
    # Not by way of NumPy, which loses zeros at the end.
    plain = str.__str__(scalar) if isinstance(scalar, np.str_) else b"".join([scalar])
    return ext(wire.NUMPY_SCALAR, pack([None, plain]))


def _describe(dtype: Any) -> Any:
    """The type as plain values that mean the same type again, or a refusal."""
    if dtype.hasobject:
        raise NotStorable(f"a NumPy value of {dtype!r}, which holds Python objects. Convert it to a list first")
    described = dtype.str if dtype.kind in _PLAIN_KINDS else npy.dtype_to_descr(dtype)
    if not dtype.itemsize or npy.descr_to_dtype(described) != dtype:
        raise NotStorable(f"a NumPy value of {dtype!r}, which cannot be named. Convert it to a plain type first")
    return described


def _make_dtype(described: Any) -> Any:
    dtype = npy.descr_to_dtype(described)
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError("not a type of plain values")
    return dtype


def _decode_array(payload: bytes, load: Load) -> Any:
    described, shape, order, content = load(payload)
    dtype = _make_dtype(described)
    flat = np.frombuffer(expect(content, bytes), dtype) if content else np.empty(0, dtype)
    if order not in ("C", "F") or any(expect(length, int) < 0 for length in shape):
        raise ValueError("not the shape of an array")
    # A copy: the payload is read-only, an array is not.
    return flat.reshape(shape, order=order).copy(order)


def _decode_scalar(payload: bytes, load: Load) -> Any:
    described, content = load(payload)
    if described is None:
        return np.str_(content) if type(content) is str else np.bytes_(expect(content, bytes))
    (scalar,) = np.frombuffer(expect(content, bytes), _make_dtype(described)).copy()
    if not isinstance(scalar, np.generic):
        raise ValueError("not a scalar")
    return scalar


DECODERS: dict[int, Decode] = {wire.NUMPY_ARRAY: _decode_array, wire.NUMPY_SCALAR: _decode_scalar}
