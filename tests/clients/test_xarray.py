"""xarray: arrays stay on the device through what labelled data are made for, and have the values of NumPy's."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from support import computes

import gpuarray as xp
from gpuarray.testing import TOLERANCES, assert_same

pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

NUMBERS = np.random.default_rng(0).random((12, 8)).astype(np.float32)
LABELS = list("aabbccddabcd")
DAYS = pd.date_range("2020-01-01", periods=12)


def labelled(data):
    return xr.DataArray(data, dims=("t", "x"), coords={"t": np.arange(12), "x": np.linspace(0, 1, 8)}, name="v")


def grouped(a):
    return a.assign_coords(lab=("t", LABELS)).groupby("lab")


def holes(a):
    return a.where(a > 0.3)


def dated(a):
    return a.assign_coords(t=DAYS)


def written(a, key, value):
    changed = a.copy()
    changed[key] = value
    return changed


CASES = {
    # arithmetic and alignment
    "operators": lambda a: (a * 2 + 1 - a.T) ** 2,
    "comparison": lambda a: a > 0.5,
    "ufunc": lambda a: np.exp(-a),
    "beside a NumPy array": lambda a: a + NUMBERS,
    "beside a NumPy scalar": lambda a: np.float32(2) * a,
    "in place": lambda a: a.copy().__iadd__(1),
    "inner join": lambda a: a[:6] + a[3:9],
    "outer join": lambda a: xr.align(a[:6], a[3:9], join="outer")[0],
    "broadcast": lambda a: a.isel(x=0) * a.isel(t=0),
    "astype": lambda a: a.astype("int32"),
    "clip": lambda a: a.clip(0.2, 0.8),
    "round": lambda a: a.round(1),
    "complex": lambda a: (a + 1j * a).conj().real,
    "isin": lambda a: (a * 4).astype("int32").isin([1, 2]),
    # reductions
    "sum": lambda a: a.sum(),
    "sum of at least": lambda a: holes(a).sum("t", min_count=8),
    "mean": lambda a: holes(a).mean("t"),
    "mean with NaN": lambda a: holes(a).mean("t", skipna=False),
    "std": lambda a: holes(a).std("t"),
    "var": lambda a: holes(a).var("t", ddof=1),
    "min": lambda a: holes(a).min("t"),
    "max": lambda a: holes(a).max(),
    "median": lambda a: holes(a).median("t"),
    "prod": lambda a: holes(a).prod("t"),
    "count": lambda a: holes(a).count("t"),
    "any": lambda a: (a > 0.9).any("t"),
    "all": lambda a: (a > 0.01).all(),
    "argmax": lambda a: a.argmax("t"),
    "idxmax": lambda a: a.idxmax("t"),
    "argmin": lambda a: holes(a).argmin("t"),
    "cumsum": lambda a: holes(a).cumsum("t"),
    "cumprod": lambda a: a.cumprod("t"),
    "quantile": lambda a: holes(a).quantile([0.2, 0.5], "t"),
    "reduce": lambda a: a.reduce(np.sum, "t"),
    # missing values and where
    "where": lambda a: a.where(a > 0.5, 0),
    "where, dropped": lambda a: a.where(a.t > 4, drop=True),
    "xr.where": lambda a: xr.where(a > 0.5, a, -1),
    "fillna": lambda a: holes(a).fillna(a.mean("t")),
    "dropna": lambda a: holes(a).dropna("t", thresh=6),
    "isnull": lambda a: holes(a).isnull(),
    "combine_first": lambda a: holes(a).combine_first(a),
    # groups
    "groupby mean": lambda a: grouped(a).mean(),
    "groupby sum": lambda a: grouped(a).sum("t"),
    "groupby max": lambda a: grouped(a).max(),
    "groupby std": lambda a: grouped(a).std(),
    "groupby median": lambda a: grouped(a).median(),
    "groupby first": lambda a: grouped(a).first(),
    "groupby count": lambda a: grouped(a).count(),
    "groupby map": lambda a: grouped(a).map(lambda group: group - group.mean()),
    "groupby arithmetic": lambda a: grouped(a) - grouped(a).mean(),
    "groupby_bins": lambda a: a.groupby_bins("x", [0, 0.4, 1]).mean(),
    "groupby own values": lambda a: a.assign_coords(c=("t", (a.data[:, 0] * 3).astype("int32"))).groupby("c").mean(),
    "resample": lambda a: dated(a).resample(t="3D").mean(),
    "upsample": lambda a: dated(a).resample(t="12h").ffill(),
    # joining
    "concat": lambda a: xr.concat([a, a + 1], "t"),
    "concat along a new axis": lambda a: xr.concat([a, a + 1], "z"),
    "merge": lambda a: xr.merge([a, (a * 2).rename("w")]),
    "combine_by_coords": lambda a: xr.combine_by_coords([a[:6].to_dataset(), a[6:].to_dataset()]),
    "to_dataarray": lambda a: a.to_dataset().to_dataarray(),
    # windows
    "rolling mean": lambda a: a.rolling(t=3).mean(),
    "rolling sum, centred": lambda a: a.rolling(t=3, center=True).sum(),
    "rolling max": lambda a: a.rolling(t=3, min_periods=1).max(),
    "rolling std": lambda a: a.rolling(t=3).std(),
    "rolling count": lambda a: holes(a).rolling(t=3).count(),
    "rolling over two axes": lambda a: a.rolling(t=3, x=2).mean(),
    "rolling construct": lambda a: a.rolling(t=3).construct("w"),
    "rolling reduce": lambda a: a.rolling(t=3).reduce(np.sum),
    "coarsen": lambda a: a.coarsen(t=4).mean(),
    "coarsen, trimmed": lambda a: a.coarsen(t=5, boundary="trim").max(),
    "coarsen construct": lambda a: a.coarsen(t=4).construct(t=("y", "m")),
    "weighted mean": lambda a: a.weighted(a.isel(x=0, drop=True)).mean("t"),
    "weighted std": lambda a: a.weighted(xr.DataArray(np.ones(12), dims="t")).std("t"),
    # selection
    "sel": lambda a: a.sel(t=3),
    "sel slice": lambda a: a.sel(t=slice(2, 5)),
    "sel nearest": lambda a: a.sel(x=0.3, method="nearest"),
    "isel": lambda a: a.isel(t=[1, 4, 2], x=slice(None, None, -1)),
    "mask": lambda a: a[a.isel(x=0, drop=True) > 0.5],
    "reindex": lambda a: a.reindex(t=[1, 3, 20]),
    "reindex nearest": lambda a: a.reindex(t=[1.2, 3.1], method="nearest"),
    "assignment": lambda a: written(a, {"t": 0}, 9),
    "assignment of slices": lambda a: written(a, {"t": slice(0, 3), "x": 1}, a[3:6, 2].data),
    "sortby": lambda a: a.sortby("x", ascending=False),
    "sortby own values": lambda a: a.sortby(a.isel(x=0)),
    "head": lambda a: a.head(t=3),
    "thin": lambda a: a.thin(t=3),
    "drop_duplicates": lambda a: a.drop_duplicates("t"),
    # shape
    "transpose": lambda a: a.transpose("x", "t"),
    "stack": lambda a: a.stack(z=("t", "x")),
    "unstack": lambda a: a.stack(z=("t", "x")).unstack(),
    "expand_dims": lambda a: a.expand_dims("b"),
    "squeeze": lambda a: a.isel(t=[0]).squeeze(),
    "roll": lambda a: a.roll(t=2),
    "shift": lambda a: a.shift(t=2),
    "pad": lambda a: a.pad(t=1),
    "pad with the edge": lambda a: a.pad(t=1, mode="edge"),
    "swap_dims": lambda a: a.assign_coords(lab=("t", LABELS)).swap_dims(t="lab"),
    "broadcast_like": lambda a: a.isel(t=0).broadcast_like(a),
    "full_like": lambda a: xr.full_like(a, 3.0),
    # calculus and linear algebra
    "diff": lambda a: a.diff("t"),
    "differentiate": lambda a: a.differentiate("t"),
    "integrate": lambda a: a.integrate("t"),
    "cumulative_integrate": lambda a: a.cumulative_integrate("t"),
    "dot": lambda a: xr.dot(a, a, dim="x"),
    "matmul": lambda a: a @ a.isel(t=0),
    "cov": lambda a: xr.cov(a, a * 2, dim="t"),
    "corr": lambda a: xr.corr(a, a * a, dim="t"),
    # functions of the user's
    "apply_ufunc": lambda a: xr.apply_ufunc(
        lambda q: q - q.mean(axis=-1, keepdims=True), a, input_core_dims=[["t"]], output_core_dims=[["t"]]
    ),
    "Dataset.map": lambda a: a.to_dataset().map(np.sqrt),
    "Dataset": lambda a: (a.to_dataset() * 2).mean(),
    "DataTree": lambda a: xr.DataTree.from_dict({"/a": a.to_dataset()}).mean()["a"].to_dataset(),
    # copies
    "copy": lambda a: a.copy(deep=True),
    "deepcopy": copy.deepcopy,
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "compute": lambda a: a.compute(),
}


def variables(result):
    return list(result.data_vars.values()) if isinstance(result, xr.Dataset) else [result]


@pytest.mark.parametrize("case", CASES)
def test_stays_on_the_device(case, device):
    with warnings.catch_warnings():
        # windows at the ends have no elements, of which NumPy's functions warn
        warnings.filterwarnings("ignore", "Degrees of freedom|Mean of empty|invalid value|All-NaN", RuntimeWarning)
        computed = CASES[case](labelled(xp.asarray(NUMBERS)))
        expected = CASES[case](labelled(NUMBERS))
    assert xp.stats()["fallbacks"] == 0 or not computes(device, *(v.dtype for v in variables(expected)))
    for ours, numpys in zip(variables(computed), variables(expected), strict=True):
        assert ours.dims == numpys.dims
        assert_same(ours.data, numpys.data, rtol=TOLERANCES, message=case)
        assert ours.data.device == device
        assert set(ours.coords) == set(numpys.coords)


def test_chunks_of_dask_stay(device):
    a, expected = labelled(xp.asarray(NUMBERS)), labelled(NUMBERS)
    lazy = a.chunk(t=4)
    assert isinstance(lazy.data._meta, xp.GpuArray)
    assert_same(np.exp(lazy).mean("t").compute().data, np.exp(expected).mean("t").data, rtol=TOLERANCES)
    doubled = xr.map_blocks(lambda block: block * 2, lazy, template=lazy)
    assert_same(doubled.compute().data, expected.data * 2, rtol=TOLERANCES)


@pytest.mark.usefixtures("planned")
def test_what_is_read_to_the_host_is_counted(device):
    x = xp.asarray(NUMBERS) * 2
    a = labelled(x)
    assert isinstance(a.values, np.ndarray)
    assert xp.stats()["bytes_downloaded"] == x.nbytes
    assert float(a[0, 0]) == pytest.approx(2 * NUMBERS[0, 0])
    np.testing.assert_array_equal(a.to_series().to_numpy(), 2 * NUMBERS.ravel())
    assert "GpuArray" in repr(a)
    assert a.equals(a.copy())


def test_interpolation_is_the_hosts(device):
    """xarray calls scipy.interpolate there, which takes host memory."""
    result = labelled(xp.asarray(NUMBERS)).interp(t=[0.5, 1.5])
    np.testing.assert_allclose(result.data, labelled(NUMBERS).interp(t=[0.5, 1.5]).data, rtol=1e-6)
    assert isinstance(result.data, np.ndarray)


def test_pointwise_selection_is_not_xarrays_for_these_arrays(device):
    points = {"t": xr.DataArray([1, 2], dims="p"), "x": xr.DataArray([3, 4], dims="p")}
    a = labelled(xp.asarray(NUMBERS))
    with pytest.raises(TypeError, match="Vectorized indexing is not supported"):
        a.isel(points)
    chosen = xr.apply_ufunc(lambda data, t, x: data[t, x], a, *points.values(), input_core_dims=[a.dims, [], []])
    assert_same(chosen.data, labelled(NUMBERS).isel(points).data, rtol=TOLERANCES)


def test_weights_of_fits_are_numpys(device):
    a, weights = labelled(xp.asarray(NUMBERS)), xp.ones(NUMBERS.shape[0])
    with pytest.raises(TypeError, match="unhashable type: 'GpuArray'"):
        a.polyfit("t", 1, w=weights)
    result = a.polyfit("t", 1, w=xp.asnumpy(weights)).polyfit_coefficients
    np.testing.assert_allclose(result.values, labelled(NUMBERS).polyfit("t", 1).polyfit_coefficients.values, rtol=1e-4)


def test_elementwise_functions_of_the_namespace_return_labelled_arrays(device):
    for data in (NUMBERS, xp.asarray(NUMBERS)):
        result = xp.exp(labelled(data))
        assert type(result.data) is type(data)
        xr.testing.assert_allclose(result.as_numpy(), np.exp(labelled(NUMBERS)))
