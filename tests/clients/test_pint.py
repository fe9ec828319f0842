"""pint: quantities whose magnitudes are arrays of this package, through operators and NumPy's functions."""

import copy
import pickle

import numpy as np
import pint
import pytest
import xarray as xr
from support import computes

import gpuarray as xp
from gpuarray.testing import TOLERANCES, assert_same

pytestmark = pytest.mark.parametrize("device", ["cpu", "wgpu"], indirect=True)

UNITS = pint.UnitRegistry()
pint.set_application_registry(UNITS)
METRE, SECOND = UNITS.m, UNITS.s
NUMBERS = np.random.default_rng(0).random((4, 6)).astype(np.float32)


def metres(x):
    return UNITS.Quantity(x, "m")


def changed(q, key, value):
    other = copy.deepcopy(q)
    other[key] = value
    return other


def added(q, other):
    total = copy.deepcopy(q)
    total += other
    return total


CASES = {
    "array times unit": lambda x: x * METRE,
    "unit times array": lambda x: METRE * x,
    "array times quantity": lambda x: x * metres(x),
    "NumPy array times quantity": lambda x: NUMBERS * metres(x),
    "quantity by NumPy array": lambda x: metres(x) / (NUMBERS + 1),
    "sum of units": lambda x: metres(x) + UNITS.Quantity(x, "cm"),
    "quotient": lambda x: metres(x) / (2 * SECOND),
    "power": lambda x: metres(x) ** 2,
    "negative": lambda x: -metres(x),
    "magnitude": lambda x: abs(metres(x) - 1 * METRE),
    "in place": lambda x: added(metres(x), 5 * UNITS.cm),
    "comparison": lambda x: metres(x) > 30 * UNITS.cm,
    "matmul": lambda x: metres(x) @ metres(x).T,
    "convert": lambda x: metres(x).to("km"),
    "convert an offset": lambda x: UNITS.Quantity(x, "degC").to("degF"),
    "base units": lambda x: UNITS.Quantity(x, "km/hour").to_base_units(),
    "index": lambda x: metres(x)[1:, ::2],
    "assignment": lambda x: changed(metres(x), (0, 0), 5 * UNITS.cm),
    "reshape": lambda x: metres(x).reshape(-1),
    "method sum": lambda x: metres(x).sum(axis=0),
    "method mean": lambda x: metres(x).mean(axis=1),
    "method std": lambda x: metres(x).std(),
    "method max": lambda x: metres(x).max(),
    "np.sum": lambda x: np.sum(metres(x), axis=0),
    "np.mean": lambda x: np.mean(metres(x)),
    "np.sqrt": lambda x: np.sqrt(metres(x)),
    "np.sin": lambda x: np.sin(UNITS.Quantity(x, "degree")),
    "np.concatenate": lambda x: np.concatenate([metres(x), UNITS.Quantity(x, "cm")]),
    "np.stack": lambda x: np.stack([metres(x), metres(x)]),
    "np.where": lambda x: np.where(metres(x) > 0.5 * METRE, metres(x), 0 * METRE),
    "np.clip": lambda x: np.clip(metres(x), 10 * UNITS.cm, 50 * UNITS.cm),
    "np.cumsum": lambda x: np.cumsum(UNITS.Quantity(x, ""), axis=0),
    "np.diff": lambda x: np.diff(metres(x)),
    "np.sort": lambda x: np.sort(metres(x), axis=0),
    "np.percentile": lambda x: np.percentile(metres(x), 50),
    "np.ptp": lambda x: np.ptp(metres(x), axis=0),
    "np.dot": lambda x: np.dot(metres(x), metres(x).T),
    "np.trapezoid": lambda x: np.trapezoid(metres(x), dx=0.5 * SECOND),
    "np.interp": lambda x: np.interp(metres(x[0]), metres(np.sort(x[1])), UNITS.Quantity(x[2], "s")),
    "np.linalg.norm": lambda x: np.linalg.norm(metres(x)),
    "np.full_like": lambda x: np.full_like(x, 3) * METRE,
    "np.isnan": lambda x: np.isnan(metres(x)),
    "wraps": lambda x: UNITS.wraps("m", "cm")(lambda a: a * 2)(UNITS.Quantity(x, "cm")),
    "deepcopy": lambda x: copy.deepcopy(metres(x)),
    "pickle": lambda x: pickle.loads(pickle.dumps(metres(x))),
}


@pytest.mark.parametrize("case", CASES)
def test_quantities(case, device):
    computed, expected = CASES[case](xp.asarray(NUMBERS)), CASES[case](NUMBERS.copy())
    if isinstance(expected, UNITS.Quantity):
        assert computed.units == expected.units
        computed, expected = computed.magnitude, expected.magnitude
    assert_same(computed, expected, rtol=TOLERANCES, message=case)
    assert computed.device == device
    assert xp.stats()["fallbacks"] == 0 or not computes(device, expected.dtype)


def test_wrong_units_are_pints_errors(device):
    with pytest.raises(pint.DimensionalityError):
        metres(xp.asarray(NUMBERS)) + 1 * SECOND
    with pytest.raises(pint.DimensionalityError):
        np.exp(metres(xp.asarray(NUMBERS)))


def test_numbers_and_text(device):
    q = metres(xp.asarray(NUMBERS))
    assert float(q[0, 0].to("cm").magnitude) == pytest.approx(100 * NUMBERS[0, 0], rel=1e-6)
    assert f"{q[0, :2]:~P}" == f"{NUMBERS[0, :2]} m"
    assert "GpuArray" not in f"{q}"
    assert repr(q).endswith("'meter')>")
    assert "meter" in q._repr_html_()


def test_registry_that_makes_arrays_of_everything(device):
    units = pint.UnitRegistry(force_ndarray_like=True)
    assert isinstance(units.Quantity(xp.asarray(NUMBERS), "m").to("cm").magnitude, xp.GpuArray)


def test_below_xarray(device):
    a = xr.DataArray(metres(xp.asarray(NUMBERS)), dims=("t", "x"))
    mean = (a * UNITS.Quantity(2, "s")).mean("t")
    assert mean.data.units == METRE * SECOND
    assert_same(mean.data.magnitude, 2 * NUMBERS.mean(axis=0), rtol=TOLERANCES)


def test_elementwise_functions_of_the_namespace_return_quantities(device):
    area = xp.multiply(metres(xp.asarray(NUMBERS)), metres(2.0))
    assert area.units == METRE**2
    assert_same(area.magnitude, NUMBERS * np.float32(2), rtol=TOLERANCES)
    with pytest.raises(pint.DimensionalityError):
        xp.add(area, metres(1.0))
