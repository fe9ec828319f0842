"""Splines through samples, and the filters that compute their coefficients, compared with SciPy's."""

import numpy as np
import pytest
from comparing import compare
from scipy import signal

import gpuarray as xp
from gpuarray.scipy import signal as ours

LINE = np.random.default_rng(0).standard_normal(300) * 5
IMAGE = LINE.reshape(15, 20)
CALLS = [
    ("cspline1d", LINE),
    ("cspline1d", LINE, 0.5),
    ("cspline1d", LINE[:1]),
    ("cspline1d", LINE[:3], 20.0),
    ("cspline1d", LINE[:50] + 1j * LINE[50:100]),
    ("qspline1d", LINE),
    ("qspline1d", LINE[:2]),
    ("cspline2d", IMAGE, 0.0, 1e-2),
    ("cspline2d", np.tile(IMAGE, (4, 3)), 1.5),
    ("qspline2d", IMAGE, 0.0, 1e-2),
    ("spline_filter", np.tile(IMAGE, (4, 3))),
    ("sepfir2d", IMAGE, np.array([1, 2, 3], np.float32), np.array([1, 2, 5, 4, 3], np.float32)),
    ("symiirorder1", LINE, 2.0, -0.4),
    ("symiirorder1", IMAGE, 0.5, 0.2, 1e-3),
    ("symiirorder1", LINE[:50] + 1j * LINE[50:100], 2.0, 0.4),
    ("symiirorder2", LINE, 0.5, 0.7),
    ("symiirorder2", IMAGE, 0.3, 0.0, 1e-2),
    ("cspline1d_eval", LINE, IMAGE * 40),
    ("cspline1d_eval", LINE[:4], LINE, 0.5, 2),
    ("qspline1d_eval", LINE, IMAGE * 40),
    ("qspline1d_eval", LINE[:4], np.arange(-9, 30) / 4, 0.5, 2),
    ("gauss_spline", IMAGE, 3),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_values(call, dtype, device):
    name, first, *others = call
    if name.endswith(("filter", "eval")) and dtype == "int32":
        dtype = "float64"
    x = first.astype(np.result_type(dtype, np.complex64) if first.dtype.kind == "c" else dtype)
    put = [xp.asarray(value) if isinstance(value, np.ndarray) else value for value in others]
    expected = getattr(signal, name)(x, *others)
    with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):  # the former has no float64
        compare(getattr(ours, name).composition(xp.asarray(x), *put), expected, 1e-5 if dtype == "float32" else 1e-9)


ERRORS = [
    ("symiirorder1", (LINE, 1.0, 1.5), ValueError),
    ("symiirorder1", (LINE[:3], 1.0, 0.5), ValueError),
    ("symiirorder1", (LINE.reshape(3, 10, 10), 1.0, 0.5), ValueError),
    ("symiirorder2", (LINE, 1.0, 0.5), ValueError),
    ("symiirorder2", (LINE * 1j, 0.5, 0.5), TypeError),
    ("qspline1d", (LINE, 1.0), ValueError),
    ("qspline2d", (IMAGE, 1.0), ValueError),
    ("cspline2d", (IMAGE[:3],), ValueError),
    ("spline_filter", (IMAGE.astype(np.int32),), TypeError),
    ("sepfir2d", (LINE, LINE[:3], LINE[:3]), ValueError),
    ("sepfir2d", (IMAGE, LINE[:2], LINE[:3]), ValueError),
    ("sepfir2d", (IMAGE.astype(np.float32), LINE[:3], LINE[:3]), TypeError),
    ("cspline1d_eval", (LINE[:0], LINE), ValueError),
    ("cspline1d_eval", (np.arange(4), LINE), TypeError),
    ("qspline1d_eval", (LINE * 1j, LINE), TypeError),
]


@pytest.mark.parametrize(("name", "args", "error"), ERRORS)
def test_errors(name, args, error):
    for function, put in ((getattr(signal, name), np.asarray), (getattr(ours, name).composition, xp.asarray)):
        with pytest.raises(error):
            function(*(put(value) if isinstance(value, np.ndarray) else value for value in args))
