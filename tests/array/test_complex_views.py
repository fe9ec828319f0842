"""Complex arrays seen as their parts side by side, and real ones seen as complex: views, as NumPy's are."""

from typing import Any

import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.testing import assert_same

PAIRS = [(np.complex64, np.float32), (np.complex128, np.float64)]

#: Views of a complex array of shape (4, 6), as real numbers.
AS_PARTS = {
    "whole": lambda a, real: a.view(real),
    "rows": lambda a, real: a[1:3].view(real),
    "rows the other way": lambda a, real: a[::-2].view(real),
    "part of each row": lambda a, real: a[:, 2:5].view(real),
    "one row": lambda a, real: a[2].view(real)[3:9],
    "column of parts": lambda a, real: a.view(real)[:, 5],
    "one number": lambda a, real: a[1:2, 3:4].view(real),
    "transposed after": lambda a, real: a.view(real).T[2:],
    "reshaped after": lambda a, real: a.view(real).reshape(2, 2, 6, 2)[..., 1],
    "and back": lambda a, real: a[1:].view(real).view(a.dtype)[:, ::2],
    "real part and back": lambda a, real: a.view(real).view(a.dtype).imag,
    "empty": lambda a, real: a[2:2].view(real),
}
#: Views of a real array of shape (4, 6), as complex numbers.
AS_PAIRS = {
    "whole": lambda a, kind: a.view(kind),
    "rows": lambda a, kind: a[::-1].view(kind)[1:],
    "part of each row": lambda a, kind: a[:, 2:].view(kind),
    "real parts": lambda a, kind: a.view(kind).real,
    "imaginary parts": lambda a, kind: a[1:].view(kind)[:, 1].imag,
    "and back": lambda a, kind: a.view(kind).view(a.dtype)[1],
}


def arrays(dtype: Any) -> tuple[Any, Any]:
    host = values((4, 6), np.float64)
    host = (host + 1j * values((4, 6), np.float64, seed=1)).astype(dtype) if np.dtype(dtype).kind == "c" else host
    host = host.astype(dtype)
    return host, xp.asarray(host)


def check(host: Any, ours: Any, of: Any) -> None:
    """Compare a view, then what writes through it and to what it is a view of do."""
    expected, actual = of(host), of(ours)
    assert actual.base is not None
    assert_same(actual, expected)
    assert actual.strides == expected.strides
    assert actual.flags.c_contiguous == expected.flags.c_contiguous
    assert np.shares_memory(actual, ours) == np.shares_memory(expected, host)
    expected[...] = expected * 2 + 1
    actual[...] = actual * 2 + 1
    assert_same(ours, host)
    expected[..., :1] -= 3
    actual[..., :1] -= 3
    assert_same(ours, host)
    host *= 2
    ours *= 2
    assert_same(actual, expected)
    if expected.size:
        chosen = [0, -1]
        assert_same(actual[chosen], expected[chosen])
        expected[chosen] = 7
        actual[chosen] = 7
        expected[expected == 7] = 8
        actual[actual == 7] = 8
    assert_same(ours, host)


@pytest.mark.parametrize("kinds", PAIRS, ids=["single", "double"])
@pytest.mark.parametrize("name", AS_PARTS)
def test_complex_numbers_as_their_parts(name: str, kinds: Any, device: Any) -> None:
    check(*arrays(kinds[0]), lambda a: AS_PARTS[name](a, kinds[1]))


@pytest.mark.parametrize("kinds", PAIRS, ids=["single", "double"])
@pytest.mark.parametrize("name", AS_PAIRS)
def test_real_numbers_as_complex_ones(name: str, kinds: Any, device: Any) -> None:
    check(*arrays(kinds[1]), lambda a: AS_PAIRS[name](a, kinds[0]))


def test_read_only_views_stay_so(device: Any) -> None:
    row = xp.broadcast_to(xp.ones((1, 4), dtype=xp.complex64), (3, 4)).view(np.float32)
    assert_same(row, np.broadcast_to(np.ones((1, 4), np.complex64), (3, 4)).view(np.float32))
    with pytest.raises(ValueError, match="read-only"):
        row[0] = 1


@pytest.mark.parametrize(
    ("shape", "of"),
    [
        ((), lambda a: a.view(np.float32)),
        ((4, 6), lambda a: a[:, ::2].view(np.float32)),
        ((4, 6), lambda a: a.T.view(np.float32)),
        ((4, 6), lambda a: a.view(np.float64)),
        ((4, 6), lambda a: a.real.view(np.complex64)),
        ((4, 5), lambda a: a.copy().real.copy().view(np.complex64)),
    ],
)
def test_what_has_gaps_is_no_view(shape: Any, of: Any, device: Any) -> None:
    with pytest.raises(TypeError, match="between real dtypes of one size, and between complex numbers and their parts"):
        of(xp.ones(shape, dtype=xp.complex64))
