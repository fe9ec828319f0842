"""Elementwise functions that are no ufuncs, and questions about arrays: NumPy's answers."""

import numpy as np
import pytest
from numpy_samples import A, B, C, E, F, K, M, T, U, V, label

CASES = [
    lambda p: np.clip(p(A), -1, 1),
    lambda p: np.clip(p(A), None, p(B)),
    lambda p: np.clip(p(U), -5, 4),
    lambda p: np.clip(p(A), min=p(B[0])),
    lambda p: np.clip(p(K), a_min=-2, a_max=300),
    lambda p: np.clip(p(M), -1, np.int8(-1)),
    lambda p: np.clip(p(U), 0.5, np.float32(3)),
    lambda p: np.clip(p(U), np.int8(1), 2.5),
    lambda p: np.clip(p(U), -1, 2.5),
    lambda p: p(M) ** 2,
    lambda p: np.round(p(A), 2),
    lambda p: np.around(p(A)),
    lambda p: np.round(p(C), 1),
    lambda p: np.round(p(K)),
    lambda p: np.round(p(A * 100), -1),
    lambda p: np.round(p(K), -1),
    lambda p: np.fix(p(A)),
    lambda p: np.real(p(C)),
    lambda p: np.imag(p(C)),
    lambda p: np.imag(p(A)),
    lambda p: np.angle(p(C), deg=True),
    lambda p: np.angle(p(A)),
    lambda p: np.sinc(p(A)),
    lambda p: np.i0(p(V)),
    lambda p: np.where(p(M), p(A), p(B)),
    lambda p: np.where(p(M), p(F), 0),
    lambda p: np.where(p(M), 1, 2.5),
    lambda p: np.where(p(U), p(U), p(K)),
    lambda p: np.where(p(M)),
    lambda p: np.select([p(M), p(B > 0)], [p(A), p(B)], 7),
    lambda p: np.nan_to_num(p(E)),
    lambda p: np.nan_to_num(p(E), nan=1, posinf=2, neginf=3),
    lambda p: np.nan_to_num(p(E + 1j * E)),
    lambda p: np.isclose(p(A), p(A + 1e-9)),
    lambda p: np.isclose(p(E), p(E), equal_nan=True),
    lambda p: np.isclose(p(K), 3),
    lambda p: np.allclose(p(A), p(A)),
    lambda p: np.allclose(p(A), p(B)),
    lambda p: np.array_equal(p(A), p(A)),
    lambda p: np.array_equal(p(E), p(E)),
    lambda p: np.array_equal(p(A), p(V)),
    lambda p: np.array_equal(p(E), p(E), equal_nan=True),
    lambda p: np.array_equiv(p(np.broadcast_to(A[0], (3, 4))), p(A[0])),
    lambda p: np.isposinf(p(E)),
    lambda p: np.isneginf(p(E)),
    lambda p: np.iscomplex(p(C)),
    lambda p: np.isreal(p(C)),
    lambda p: np.iscomplexobj(p(C)),
    lambda p: np.isrealobj(p(C)),
    lambda p: np.real_if_close(p(A + 0j)),
    lambda p: np.unwrap(p(V * 4)),
    lambda p: np.interp(p(V), p(np.arange(3.0)), p(V[:3])),
    lambda p: np.piecewise(p(V), [V < 0, V >= 0], [lambda x: -x, lambda x: x]),
    lambda p: np.shape(p(A)),
    lambda p: np.ndim(p(A)),
    lambda p: np.size(p(T), 1),
    lambda p: np.size(p(A)),
    lambda p: np.result_type(p(F), 3.0),
    lambda p: np.can_cast(p(U).dtype, p(K).dtype),
    lambda p: np.common_type(p(F), p(A)),
    lambda p: np.min_scalar_type(p(K)),
    lambda p: np.array2string(p(K)),
    lambda p: np.array_str(p(K)),
    lambda p: np.shares_memory(p(A), p(A)),
]


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # in NumPy 2.5
@pytest.mark.parametrize("case", CASES, ids=label)
def test_function_agrees_with_numpy(case, agree):
    agree(case)


def test_sinc_of_integers(put, same):
    # the exact values are zeros: NumPy's are the rounding error of pi
    same(np.sinc(put(K)), np.sinc(K), atol=1e-15)


@pytest.mark.parametrize("call", [lambda p: np.where(p(M), p(U), -1), lambda p: np.where(p(M), 300, p(U))])
def test_a_choice_of_an_integer_beyond_the_dtype_is_numpys(call, put, same):
    """They wrap around before NumPy 2.5, and are errors from then on."""
    try:
        expected = call(np.array)
    except OverflowError:
        with pytest.raises(OverflowError):
            call(put)
    else:
        same(call(put), expected)
