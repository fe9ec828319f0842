"""The references and dtype rules of operations that no NumPy ufunc has: selection, casts and complex parts."""

from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.ops.spec import Signature

#: Elements below which a masked copy is quicker in any case, and those for one change of a mask from which on it is:
#: a branch that is predicted wrongly takes 8 nanoseconds, and a selection by bits one or two for an element of 8 bytes.
_FEW: Final = 1 << 10
_PREDICTED: Final = 6
_PREDICTED_OF_SHORT: Final = 50


def where(condition: Any, x: Any, y: Any, out: Any) -> Any:
    """Write ``x`` where the condition holds and ``y`` elsewhere; ``out`` may be either."""
    if _is_unpredictable(condition, out.itemsize):
        bits = np.dtype(f"i{out.itemsize}")
        first, second = (np.asarray(value).astype(out.dtype, copy=False).view(bits) for value in (x, y))
        changes = np.asarray(first ^ second)
        chosen = np.negative(condition.view(np.int8), dtype=bits)
        changes = np.bitwise_and(changes, chosen, out=changes if changes.shape == out.shape else None)
        np.bitwise_xor(changes, second, out=out.view(bits))
        return out
    if out is x:
        np.copyto(out, y, where=np.logical_not(condition), casting="unsafe")
        return out
    if out is not y:
        np.copyto(out, y, casting="unsafe")
    np.copyto(out, x, where=condition, casting="unsafe")
    return out


def _is_unpredictable(condition: Any, itemsize: int) -> bool:
    """Return whether a condition changes so often that the branches of a masked copy take longer than operations."""
    if itemsize > 8 or np.size(condition) < _FEW:
        return False
    changes = np.count_nonzero(condition[..., 1:] != condition[..., :-1])
    return bool(changes * (_PREDICTED if itemsize == 8 else _PREDICTED_OF_SHORT) > condition.size)


def where_dtypes(_condition: Any, x: Any, y: Any) -> Signature:
    """Return the signature of a selection: both values in their common dtype."""
    common = dtypes.promote(x, y)
    return Signature((dtypes.bool_, common, common), common)


def whole_power(x: Any, n: Any, out: Any) -> Any:
    """Write the powers of complex numbers; the exponent is a complex number with an integer as real part."""
    return np.power(x, n, out=out)


def whole_power_dtypes(x: Any, n: Any) -> Signature:
    """Return the signature of a power of complex numbers.

    Raises
    ------
    TypeError
        If NumPy's power of such numbers is not complex.
    """
    first, second, output = (dtypes.canonical(dtype) for dtype in np.power.resolve_dtypes((x, n, None)))
    if output.kind != "c":
        raise TypeError(f"whole_power takes complex numbers, not {output.name}")
    return Signature((first, second), output)


def cast(x: Any, out: Any) -> Any:
    """Write the values in the dtype of ``out``, without warnings."""
    source = np.asarray(x)
    if source.dtype.kind == "c" and out.dtype.kind not in "cb":
        source = source.real
    with np.errstate(invalid="ignore", over="ignore"):
        np.copyto(out, source, casting="unsafe")
    return out


def cast_dtypes(source: Any, target: DType) -> Signature:
    """Return the signature of a cast to the dtype that the node names; a weak source is of its kind's default."""
    return Signature((dtypes.promote(source),), dtypes.canonical(target))


def bitcast(x: Any, out: Any) -> Any:
    """Write the bits of ``x``, whose items have the size of those of ``out``."""
    np.copyto(out.view(np.asarray(x).dtype), x)
    return out


def bitcast_dtypes(source: Any, target: DType) -> Signature:
    """Return the signature of the same bits in the dtype that the node names, which has the source's size."""
    return Signature((dtypes.canonical(source),), dtypes.canonical(target))


def multiply_no_nan(x: Any, y: Any, out: Any) -> Any:
    """Write the products, and 0 where either factor is 0."""
    np.multiply(x, y, out=out)
    is_real = out.dtype.kind == "f"
    if not is_real or not out.size or np.isnan(np.minimum.reduce(out, axis=None)):
        np.copyto(out, 0, where=np.logical_or(np.equal(x, 0), np.equal(y, 0)))
    return np.add(out, 0, out=out) if is_real else out  # factors of 0 have products of 0 of either sign


def multiply_no_nan_dtypes(x: Any, y: Any) -> Signature:
    """Return the signature of a product of floating numbers in their common dtype.

    Raises
    ------
    TypeError
        If that is no floating dtype.
    """
    common = dtypes.promote(x, y)
    if common.kind not in "fc":
        raise TypeError(f"multiply_no_nan takes floating numbers, not {common.name}")
    return Signature((common, common), common)


def real(x: Any, out: Any) -> Any:
    """Write the real part."""
    np.copyto(out, np.asarray(x).real)
    return out


def imag(x: Any, out: Any) -> Any:
    """Write the imaginary part."""
    np.copyto(out, np.asarray(x).imag)
    return out


_REAL_OF: Final = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def part_dtypes(x: Any) -> Signature:
    """Return the signature of a part of a complex number, which is real."""
    promoted = dtypes.promote(x)
    return Signature((promoted,), _REAL_OF.get(promoted, promoted))


def complex_from_parts(real: Any, imag: Any, out: Any) -> Any:
    """Write complex numbers with these parts."""
    # the imaginary part first, because ``real`` may be a view of ``out``
    out.imag = imag
    out.real = real
    return out


def parts_dtypes(real: Any, imag: Any) -> Signature:
    """Return the signature of complex numbers from real parts."""
    common = dtypes.promote(real, imag)
    if common.kind == "c":
        raise TypeError("complex_from_parts takes real parts; given a complex dtype; take its real or imag part first")
    single = common in (dtypes.float16, dtypes.float32)
    part, whole = (dtypes.float32, dtypes.complex64) if single else (dtypes.float64, dtypes.complex128)
    return Signature((part, part), whole)
