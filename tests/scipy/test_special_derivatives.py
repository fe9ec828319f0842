"""Derivatives of special functions that SciPy computes on the host agree with differences."""

from typing import Any

import numpy as np
import pytest
from scipy import special as scipy_special

import gpuarray as xp
from gpuarray.errors import DerivativeError
from gpuarray.scipy import special
from gpuarray.scipy.special._derivatives import PARTIALS
from gpuarray.testing import check_grads

_PLACES = (0.4, 1.3, 2.6)
_SHARES = (0.2, 0.5, 0.9)
#: Where functions are looked at, if not at an order of 1.5 and :data:`_PLACES`: each argument.
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "jn": (2, _PLACES), "expn": ((0, 1, 3), _PLACES), "airy": ((-1.2, 0.4, 1.3),), "ellipj": (_PLACES, 0.3),
    "fresnel": ((-1.2, 0.0, 0.8),), "sici": (_PLACES,), "shichi": (_PLACES,), "owens_t": (_PLACES, (0.3, -0.5, 1.2)),
    "hyp0f1": (1.5, _PLACES), "hyp1f1": (0.7, 1.5, (-0.8, 0.0, 1.3)), "hyp2f1": (0.7, 1.2, 1.9, (-0.8, 0.0, 0.6)),
    "hyperu": (0.7, 1.5, _PLACES), "eval_gegenbauer": ((1, 2, 4), 0.7, _SHARES),
    "eval_jacobi": ((0, 2, 4), 0.7, 1.3, _SHARES), "wofz": (np.array([0.4 + 1j, 1.3, -2 + 0.5j]),),
    "voigt_profile": (_PLACES, (0.5, 1.0, 2.0), _SHARES), "lambertw": (_PLACES,), "wrightomega": (_PLACES,),
    "wright_bessel": (0.7, 1.2, _PLACES), "log_wright_bessel": (0.7, 1.2, _PLACES),
    "eval_genlaguerre": ((1, 2, 4), 0.7, _SHARES), "eval_sh_jacobi": ((0, 2, 4), 2.7, 1.3, _SHARES),
    "lpmv": (1, 1.5, (-0.8, 0.3, 0.6)), "kn": (2, _PLACES), "yn": (2, _PLACES),
    "nrdtrimn": (_SHARES, _PLACES, (1.0, -2.0, 0.5)), "nrdtrisd": ((1.0, -2.0, 0.5), (0.2, 0.7, 0.9), _PLACES),
    **{n: ((0, 1, 3), _SHARES) for n in PARTIALS if n.startswith(("eval_cheb", "eval_l", "eval_sh_c", "eval_sh_l"))},
    **{name: (2, 0.7, _PLACES) for name in PARTIALS if name.startswith("mathieu")},
    **{name: (_PLACES,) for name in PARTIALS if name.startswith(("be", "ke", "it", "modfresnel"))},
    **{name: (2, _PLACES) for name in PARTIALS if name.startswith("spherical")},
}  # fmt: skip


def _numbers(result: Any) -> Any:
    """Return real numbers of which each part of a result has its share."""
    parts = result if isinstance(result, tuple) else (result,)
    return sum((part.real + 0.7 * part.imag) * (n + 1) for n, part in enumerate(parts))


@pytest.mark.parametrize("name", PARTIALS)
def test_derivatives_of_functions_on_the_host(name: str) -> None:
    function, partials = getattr(special, name), PARTIALS[name]
    samples = _SAMPLES.get(name, (1.5, _PLACES))
    known = [n for n, partial in enumerate(partials) if partial is not None]

    def fun(*chosen: Any) -> Any:
        operands = [np.asarray(s) if isinstance(s, tuple) else s for s in samples]
        for n, value in zip(known, chosen, strict=True):
            operands[n] = value
        return _numbers(function(*operands))

    with xp.using(device="cpu"):
        given = [xp.asarray(samples[n]) for n in known]
        check_grads(fun, given, order=2, rtol=1e-4, atol=1e-5)
        if isinstance(ufunc := getattr(scipy_special, name), np.ufunc) and len(known) == 1:  # code that imports SciPy's
            own = [np.asarray(s) if isinstance(s, tuple) else s for s in samples]
            slopes = [
                xp.grad(lambda x, f=f: _numbers(f(*own[: known[0]], x, *own[known[0] + 1 :])).sum())(*given)
                for f in (ufunc, function)
            ]
            np.testing.assert_array_equal(*slopes)
        of_numpy = _numbers(
            getattr(scipy_special, name)(*(np.asarray(s) if isinstance(s, tuple) else s for s in samples))
        )
        np.testing.assert_allclose(fun(*given), of_numpy, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in PARTIALS if name.startswith("eval")])
def test_polynomials_of_fractional_degree_have_derivatives(name: str) -> None:
    count = len(PARTIALS[name]) - 2
    with xp.using(device="cpu"):
        check_grads(
            lambda x: getattr(special, name)(2.5, *(2.7, 1.3)[:count], x), [xp.asarray(_SHARES)], order=2, rtol=1e-4
        )


def test_numbers_of_trials_are_truncated_as_in_the_value() -> None:
    with xp.using(device="cpu"):
        for function in (special.bdtr, special.nbdtr):
            slopes = [float(xp.grad(lambda p, n=n: function(1.0, n, p))(0.3)) for n in (3.0, 3.7)]
            assert slopes[0] == slopes[1]
        assert slopes[0] == pytest.approx(0.756)


@pytest.mark.parametrize("name", ["berp", "beip", "it2struve0"])
def test_slopes_at_zero_are_limits(name: str) -> None:
    limits = {"berp": 0.0, "beip": 0.5, "it2struve0": -2 / np.pi}
    with xp.using(device="cpu"):
        assert float(xp.grad(getattr(special, name))(0.0)) == pytest.approx(limits[name])


def test_orders_without_a_derivative_are_an_error() -> None:
    with pytest.raises(DerivativeError, match=r"jv .*test_special_derivatives.py:\d+"):
        xp.grad(lambda v: special.jv(v, 1.0))(xp.asarray(1.5))


def test_derivatives_keep_the_dtype_and_the_device(device: str) -> None:
    x = xp.asarray(np.array(_PLACES, np.float32))
    slope = xp.grad(lambda x: special.jv(1, x).sum() + special.fresnel(x)[0].sum())(x)
    assert slope.dtype == np.float32
    assert slope.device == x.device
    expected = scipy_special.jvp(1, _PLACES) + np.sin(np.pi / 2 * np.square(_PLACES))
    np.testing.assert_allclose(slope, expected, rtol=1e-5)
    np.testing.assert_allclose(
        xp.jvp(lambda x: special.jv(1, x), (x,), (x,))[1], x.get() * scipy_special.jvp(1, _PLACES), rtol=1e-5
    )
