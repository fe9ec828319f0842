"""SciPy's answers for arguments beyond C's ``int``, and for angles whose digits it takes for lost."""

import warnings
from typing import Any

import numpy as np
import pytest
from support import computes, scipy_ufunc

import gpuarray as xp
from gpuarray import special

pytest.importorskip("scipy.special")

RANDOM = np.random.default_rng(3)
SMALL = RANDOM.integers(-3, 30, 200)
#: Of up to 19 digits, whose last 32 bits are those of small numbers.
LARGE, OTHERS = (RANDOM.permutation(SMALL) + (RANDOM.integers(-(2**31), 2**31, 200) << 32) for _ in range(2))
ENDS = np.resize(np.array([2**31 - 1, 2**31, -(2**31), 2**32 + 3, -1]), 200)
SHARES = RANDOM.uniform(-0.1, 1.1, 200)


def assert_scipys(name: str, device: Any, *given: np.ndarray) -> None:
    """Compare the function of the namespace, and SciPy's own one of arrays of it, with SciPy's values."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        expected = scipy_ufunc(name)(*given)
    for function in (getattr(special, name), scipy_ufunc(name)):
        result = function(*(xp.asarray(x) for x in given))
        assert result.dtype == expected.dtype
        rtol, atol = (1e-10, 1e-14) if expected.dtype == np.float64 else (1e-5, 1e-7)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=rtol, atol=atol)
    assert xp.stats()["fallbacks"] == 0


@pytest.mark.parametrize("name", ["bdtr", "bdtrc", "nbdtr", "nbdtrc"])
def test_counts_are_taken_modulo_the_size_of_an_int(name: str, device: Any) -> None:
    if not computes(device, "float64"):
        pytest.skip("SciPy's values of integers are doubles")
    first = [SMALL.astype(np.float64)] if name.startswith("b") else [LARGE, SMALL.astype(np.int16)]
    for k in first:
        for n in (OTHERS, SMALL, ENDS):
            assert_scipys(name, device, k, n, SHARES)
    assert_scipys(name, device, first[0], OTHERS, SHARES.astype(np.float32))


def test_counts_that_are_no_integers_are_what_they_are(device: Any) -> None:
    k, n, p = (xp.asarray(np.array([x], np.float32)) for x in (3, 2.0**40, 2.0**-40))
    np.testing.assert_allclose(np.asarray(special.bdtr(k, n, p)), np.exp(-1.0) * (1 + 1 + 1 / 2 + 1 / 6), rtol=1e-6)
    assert special.bdtr(k, xp.asarray(np.array([5])), p, dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("name", ["beta", "betaln"])
def test_poles_beyond_an_int_are_not_taken_away(name: str, device: Any) -> None:
    ends = np.array([-4.0e18, -(2.0**40), -(2.0**31), -5.0, 3.0, 5.0, 2.0**33, 0.5])
    a, b = (x.ravel() for x in np.meshgrid(ends, ends))
    a, b = a[a < b], b[a < b]
    for kind in [np.float32, np.float64][: 1 + computes(device, "float64")]:
        assert_scipys(name, device, a.astype(kind), b.astype(kind))


@pytest.mark.parametrize("name", ["sindg", "cosdg", "tandg", "cotdg"])
def test_angles_beyond_their_digits_are_0(name: str, device: Any) -> None:
    x = np.array([1e14, -1e14, 9e13, 1.1e14, -4e18, np.inf, -np.inf, np.nan])
    for kind in [np.float32, np.float64][: 1 + computes(device, "float64")]:
        near = np.nextafter(kind(1e14), kind(np.inf), dtype=kind)
        assert_scipys(name, device, np.append(x.astype(kind), [near, np.nextafter(near, kind(0), dtype=kind)]))
