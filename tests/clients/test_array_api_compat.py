"""array-api-compat takes GpuArrays for what they are: arrays of a namespace of the standard that needs no wrapper."""

import warnings

import array_api_compat as compat
import array_api_strict
import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray.testing import assert_same

OTHERS = [name for name in dir(compat) if name.startswith("is_") and name.split("_")[-1] in ("array", "namespace")]
OTHERS = [name for name in OTHERS if name not in ("is_lazy_array", "is_writeable_array")]


def standardized(x, axis):
    """Return numbers with mean 0 and standard deviation 1: code as a library writes it that takes all arrays."""
    namespace = compat.array_namespace(x)
    centred = x - namespace.mean(x, axis=axis, keepdims=True)
    return centred / namespace.std(x, axis=axis, keepdims=True, correction=1)


def test_namespace_is_the_package(device):
    assert compat.array_namespace(xp.zeros(2)) is xp
    assert compat.get_namespace(xp.zeros(2), xp.ones(3)) is xp
    assert compat.array_namespace(xp.zeros(2), use_compat=False) is xp


@pytest.mark.parametrize("beside", [1, True, 0.5, 2j, None])
def test_python_scalars_do_not_count(beside, device):
    assert compat.array_namespace(xp.zeros(2), beside) is xp
    assert compat.array_namespace(beside, xp.zeros(2)) is xp


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_version_of_the_standard(version, device):
    with warnings.catch_warnings():
        # the client warns of versions before its own, whatever the array
        warnings.simplefilter("ignore", UserWarning)
        assert compat.array_namespace(xp.zeros(2), api_version=version) is xp


def test_refusals(device):
    with pytest.raises(ValueError, match=r"2199\.12"):
        compat.array_namespace(xp.zeros(2), api_version="2199.12")
    with pytest.raises(ValueError, match="wrapper"):
        compat.array_namespace(xp.zeros(2), use_compat=True)
    for other in (np.zeros(2), array_api_strict.zeros(2)):
        with pytest.raises(TypeError, match="Multiple namespaces"):
            compat.array_namespace(xp.zeros(2), other)


@pytest.mark.parametrize("name", OTHERS)
def test_it_is_nobody_elses(name, device):
    assert not getattr(compat, name)(xp if name.endswith("namespace") else xp.zeros(2))


def test_device_and_transfer(device):
    x = xp.asarray(values(5, np.float32))
    assert compat.device(x) == device
    moved = compat.to_device(x, "cpu")
    assert compat.device(moved) == "cpu"
    assert_same(moved, values(5, np.float32))
    assert compat.to_device(moved, compat.device(x)).device == device
    assert compat.to_device(x, device) is x


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_size(shape, device):
    assert compat.size(xp.zeros(shape)) == np.zeros(shape).size


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3)])
@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.float32, np.complex64])
def test_kind_of_array(shape, dtype, device):
    x = xp.asarray(values(shape, dtype)) + xp.ones((), dtype=dtype)
    assert compat.is_array_api_obj(x)
    assert compat.is_writeable_array(x)
    # "lazy" arrays are those whose values cannot be had when a program asks; ours can
    assert not compat.is_lazy_array(x)
    assert xp.stats()["fallbacks"] == 0


def test_a_library_function(device):
    host = values((4, 6), np.float32)
    result = standardized(xp.asarray(host), 1)
    assert compat.device(result) == device
    assert xp.stats()["fallbacks"] == 0
    assert_same(result, standardized(host, 1), ulp=4)
