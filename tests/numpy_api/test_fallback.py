"""The host fallback: counted with its reason, warned of once a function, or forbidden before anything runs."""

import warnings

import numpy as np
import numpy.lib.recfunctions
import pytest

from gpuarray.array import GpuArray, from_host
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import FallbackError, FallbackWarning
from gpuarray.numpy_api.host import on_host
from gpuarray.runtime import telemetry

A = np.array([[3.0, 1.0], [2.0, 5.0]], np.float32)


@pytest.fixture(params=["cpuf32", "wgpu"])
def device(request, limited):
    """Devices that are not the host, as far as memory goes."""
    with config.using(device=request.param):
        yield request.param


@pytest.fixture(autouse=True)
def _fresh_counters():
    telemetry.reset_stats()
    yield
    telemetry.reset_stats()


def test_on_the_host_itself_nothing_falls_back(same):
    x = from_host(A, Device("cpu"))
    with config.using(fallback="error"):
        same(np.poly(x), np.poly(A))
        np.subtract.reduce(x)
    assert telemetry.stats()["fallbacks"] == 0


def test_a_fallback_is_counted_with_its_reason(put):
    x = put(A)
    np.poly(x)
    np.poly(x)
    assert telemetry.fallbacks() == {("numpy.poly", "polynomials are NumPy's"): 2}
    assert telemetry.stats()["fallbacks"] == 2


def test_what_has_a_kernel_is_not_counted(put):
    x = put(A)
    np.asarray(np.sum(np.exp(x) + x, axis=0))
    np.asarray(np.add.reduce(x))
    np.asarray(np.concatenate([x, x]))
    assert telemetry.stats()["fallbacks"] == 0


def test_warn_warns_once_a_function(put):
    x = put(A)
    with config.using(fallback="warn"):
        with pytest.warns(FallbackWarning, match="numpy.poly"):
            np.poly(x)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.poly(x)
        with pytest.warns(FallbackWarning, match="numpy.packbits"):
            np.packbits(x > 0)


def test_error_raises_before_anything_runs(put, same):
    x = put(A)
    ran = []
    with config.using(fallback="error"):
        for call in (
            lambda: np.poly(x),
            lambda: np.packbits(x > 0),
            lambda: np.subtract.reduce(x),
            lambda: np.add.reduceat(x, [0, 1]),
            lambda: np.add.at(x, 0, 1.0),
            lambda: np.apply_along_axis(lambda row: ran.append(row) or 0, 0, x),
        ):
            with pytest.raises(FallbackError, match="forbids"):
                call()
        same(np.sum(x), np.sum(A))
    assert not ran
    same(x, A)


def test_results_return_to_the_device(put, device):
    x = put(A)
    counts, edges = np.histogram(x)
    assert isinstance(counts, GpuArray)
    assert isinstance(edges, GpuArray)
    assert edges.device == device
    assert isinstance(np.poly(x), GpuArray)
    assert np.unique_counts(x).counts.shape == (4,)


def test_results_that_no_array_can_hold_stay_as_they_are():
    def make(_):
        return np.array(["text"]), {"a": 1}, "text"

    words, mapping, text = on_host(make, (1,), {}, "testing", "make")
    assert isinstance(words, np.ndarray)
    assert mapping == {"a": 1}
    assert text == "text"


def test_an_unknown_function_runs_on_the_host(put, same):
    x = put(A)

    def third_party(a, b=None):
        return a + b

    found = x.__array_function__(third_party, (GpuArray,), (x,), {"b": x})
    same(found, A + A)
    ((function, reason),) = telemetry.fallbacks()
    assert function.endswith("third_party")
    assert reason == "it has no implementation here"


def test_refused_functions_say_why(put):
    with pytest.raises(TypeError, match=r"numpy\.busday_count.*dates"):
        np.busday_count(put(A), put(A))
    with pytest.raises(TypeError, match="structured dtypes"):
        np.lib.recfunctions.structured_to_unstructured(put(A))


def test_a_boolean_index_stays_on_the_device(put):
    x = put(A)
    np.asarray(x[x > 1])
    x[x > 1] = x[x > 1] * 2
    x[x[:, 0] > 1] = 0
    np.asarray(x)
    assert telemetry.stats()["fallbacks"] == 0
