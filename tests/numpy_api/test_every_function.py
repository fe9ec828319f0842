"""Every function and ufunc that NumPy lets other arrays override: values, types, devices, and the declared status."""

import warnings

import numpy as np
import pytest
from numpy_calls import CALLS

from gpuarray.array import GpuArray
from gpuarray.config import config
from gpuarray.functions import registry
from gpuarray.runtime import telemetry

#: Aliases and functions of older NumPy, and functions of NumPy 2.5, which this one may lack.
OTHERS = {"in1d", "row_stack", "trapz", "polynomial.polynomial.polyvalnd"}
#: Absolute tolerances of functions whose exact results are zeros.
ABSOLUTE = {"sinc": 1e-15}
NAMES = sorted(
    name
    for name, implementation in registry.IMPLEMENTATIONS.items()
    if implementation.kind != registry.REFUSED and not isinstance(registry.find(name), np.ufunc)
)


def _quiet(function, *arguments):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments)


def _arrays(value):
    if isinstance(value, np.ndarray | np.generic | GpuArray):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _arrays(item)


def test_every_function_has_a_call():
    assert sorted(NAMES) == sorted(CALLS)


@pytest.mark.parametrize("name", NAMES)
def test_function(name, device, put, same):
    function = registry.find(name)
    if function is None:
        assert name in OTHERS
        return
    kind, reason, _ = registry.implementation_of(function)
    is_host = kind == registry.HOST
    result = []
    for number, call in enumerate(CALLS[name]):
        expected = _quiet(call, function, np.array)
        telemetry.reset_stats()
        with config.using(transfer="allow" if is_host else "error"):
            actual = _quiet(call, function, put)
        try:
            same(actual, expected, atol=ABSOLUTE.get(name, 0))
        except AssertionError as error:
            error.add_note(f"call {number} of numpy.{name}")
            raise
        for array in _arrays(actual):
            assert isinstance(array, GpuArray), f"call {number} of numpy.{name} returned a {type(array)}"
            assert array.device == device
        if device == "wgpu":
            # GPUs without 64-bit floats leave these to the host, whatever the function
            result.append([key for key in telemetry.fallbacks() if not key[1].endswith("not supported by this device")])
            if is_host or not reason:
                assert bool(result[-1]) == is_host, f"call {number} of numpy.{name}: {result[-1]}"
    if result and reason and not is_host:  # of its calls, those that the reason speaks of
        assert any(result)
        assert not all(result)
