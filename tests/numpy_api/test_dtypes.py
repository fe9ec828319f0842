"""One body for each function, over the dtypes: NumPy's values, dtypes and shapes, or an error of NumPy's class."""

import warnings

import numpy as np
import pytest
from numpy_samples import label
from support import DTYPES

BASE = np.array([[3, 0, 5, 1], [2, 7, 1, 0], [4, 4, 6, 2]])
OTHER = np.array([[1, 2, 2, 0], [3, 1, 0, 1], [5, 0, 1, 6]])
#: What runs on the wgpu device, where each dtype is a kernel to compile: the one that needs most care.
FEW = ("int8",)

BODIES = [
    lambda x, y: np.angle(x),
    lambda x, y: np.around(x, -1),
    lambda x, y: np.around(x, 1),
    lambda x, y: np.clip(x, 1, 4),
    lambda x, y: np.fix(x),
    lambda x, y: np.nan_to_num(x),
    lambda x, y: np.sinc(x),
    lambda x, y: np.isclose(x, y),
    lambda x, y: np.real_if_close(x),
    lambda x, y: np.select([x > y, x < y], [x, y], 0),
    lambda x, y: np.unwrap(x),
    lambda x, y: np.linspace(x, y, 3),
    lambda x, y: np.geomspace(x + x.dtype.type(1), y + y.dtype.type(1), 3),
    lambda x, y: np.logspace(x, y, 3),
    lambda x, y: np.tril(x, 1),
    lambda x, y: np.vander(x[0], 3),
    lambda x, y: np.diag(x[0], 1),
    lambda x, y: np.pad(x, 1, "mean"),
    lambda x, y: np.pad(x, (1, 4), "reflect", reflect_type="odd"),
    lambda x, y: np.pad(x, 2, "linear_ramp", end_values=1),
    lambda x, y: np.insert(x, [1, 2], y[:2], 0),
    lambda x, y: np.append(x, y),
    lambda x, y: np.delete(x, 1, 1),
    lambda x, y: np.repeat(x, 2, 0),
    lambda x, y: np.roll(x, 1),
    lambda x, y: np.trim_zeros(x[0]),
    lambda x, y: np.lib.stride_tricks.sliding_window_view(x, 2, 1),
    lambda x, y: np.choose(x % x.dtype.type(2) if x.dtype.kind != "c" else x, [x, y]),
    lambda x, y: np.compress([True, False, True], x, 0),
    lambda x, y: np.extract(x > y, x),
    lambda x, y: np.piecewise(x, [x > y], [lambda v: v + v, lambda v: v]),
    lambda x, y: np.ptp(x, 0),
    lambda x, y: np.average(x, 0, weights=y + y.dtype.type(1)),
    lambda x, y: np.median(x, 1),
    lambda x, y: np.nanmedian(x, 0),
    lambda x, y: np.quantile(x, [0.25, 0.5], 0),
    lambda x, y: np.quantile(x, 0.4, 1, method="inverted_cdf", weights=np.ones(4)),
    lambda x, y: np.cumsum(x, 1),
    lambda x, y: np.cumulative_prod(x, axis=0),
    lambda x, y: np.nansum(x, 0),
    lambda x, y: np.nanmax(x, 1),
    lambda x, y: np.nanvar(x, 0),
    lambda x, y: np.nanargmin(x, 0),
    lambda x, y: np.cov(x),
    lambda x, y: np.corrcoef(x, y),
    lambda x, y: np.diff(x),
    lambda x, y: np.ediff1d(x),
    lambda x, y: np.gradient(x, 2.0, axis=1, edge_order=2),
    lambda x, y: np.gradient(x, [0, 1, 3, 4], axis=1),
    lambda x, y: np.trapezoid(x) if hasattr(np, "trapezoid") else x,
    lambda x, y: np.interp(x, np.array([0.0, 2, 5]), np.array([1.0, 3, 2])),
    lambda x, y: np.interp(np.array([0.5, 3]), np.sort(x[0]), y[0]),
    lambda x, y: np.convolve(x[0], y[0]),
    lambda x, y: np.correlate(x[0], y[1], "same"),
    lambda x, y: np.sort(x, 0),
    lambda x, y: np.argsort(x),
    lambda x, y: np.lexsort((x[0], y[0])),
    lambda x, y: np.searchsorted(np.sort(x[0]), y),
    lambda x, y: np.unique(x, axis=1),
    lambda x, y: np.unique(x, return_counts=True),
    lambda x, y: np.intersect1d(x, y),
    lambda x, y: np.isin(x, y[0]),
    lambda x, y: np.bincount(x[0]),
    lambda x, y: np.bincount([0, 1, 1, 3], y[0]),
    lambda x, y: np.digitize(x, [1, 4]),
    lambda x, y: np.histogram(x, 4) if x.dtype.kind != "c" else x,
    lambda x, y: np.histogram(x, 4, weights=y) if x.dtype.kind != "c" else x,
    lambda x, y: np.histogram2d(x[0], y[0], 2) if x.dtype.kind not in "bc" else x,
    lambda x, y: np.einsum("ij,kj->ik", x, y),
    lambda x, y: np.inner(x, y),
    lambda x, y: np.kron(x[:2, :2], y[:2, :2]),
    lambda x, y: np.cross(x[:, :3], y[:, :3]),
    lambda x, y: np.vdot(x, y),
    lambda x, y: np.poly(x[0]),
    lambda x, y: np.polyadd(x[0], y[0, :2]),
    lambda x, y: np.polymul(x[0], y[0, :2]),
    lambda x, y: np.polyder(x[0]),
    lambda x, y: np.polyint(x[0]),
    lambda x, y: np.polyval(x[0], y),
    lambda x, y: np.lib.scimath.sqrt(x - y if x.dtype.kind not in "bu" else x),
    lambda x, y: np.lib.scimath.arccos(x),
    lambda x, y: np.packbits(x),
    lambda x, y: np.unpackbits(x, axis=1),
    lambda x, y: np.unravel_index(x, (3, 4)),
    lambda x, y: np.ravel_multi_index((x, y), (8, 8)),
    lambda x, y: np.apply_along_axis(np.sum, 1, x),
    lambda x, y: np.count_nonzero(x, 1),
]


@pytest.mark.parametrize("body", BODIES, ids=label)
@pytest.mark.parametrize("device", ["cpu", "wgpu"])
def test_function_of_every_dtype(body, device, put, same):
    for name in FEW if device == "wgpu" else DTYPES:
        operands = [values.astype(DTYPES[name]) for values in (BASE, OTHER)]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                expected = body(*operands)
            except (TypeError, ValueError, IndexError) as error:
                kind = next(c for c in (TypeError, ValueError, IndexError) if isinstance(error, c))
                ours = list(map(put, operands))
                with pytest.raises(kind):  # as NumPy does
                    body(*ours)
                continue
            actual = body(*map(put, operands))
        try:
            same(actual, expected)
        except AssertionError as error:
            error.add_note(f"of {name}")
            raise
