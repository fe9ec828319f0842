"""Fallbacks and transfers: counted with their reasons, warned of once a line, or forbidden before anything runs."""

import operator
import warnings

import numpy as np
import numpy.lib.recfunctions
import pytest

import gpuarray
from gpuarray.array import GpuArray, from_host
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.errors import FallbackError, FallbackWarning, TransferError, TransferWarning
from gpuarray.functions.fallback import on_host
from gpuarray.runtime import telemetry

A = np.array([[3.0, 1.0], [2.0, 5.0]], np.float32)
REASON = "it has no implementation here"


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


def foreign(x, ran=None):
    """Stand for a function of NumPy that this package does not know."""
    if isinstance(x, GpuArray):
        return x.__array_function__(foreign, (GpuArray,), (x,), {"ran": ran})
    if ran is not None:
        ran.append(x)
    return x * 2


def other(x):
    """Stand for another one."""
    return x.__array_function__(other, (GpuArray,), (x,), {}) if isinstance(x, GpuArray) else x.sum()


def test_on_the_host_itself_nothing_falls_back(same):
    x = from_host(A, Device("cpu"))
    with config.using(fallback="error", transfer="error"):
        same(foreign(x), A * 2)
        np.asarray(x)
        float(x[0, 0])
    assert telemetry.stats()["fallbacks"] == 0
    assert telemetry.stats()["transfers"] == 0


# --- fallbacks ------------------------------------------------------------------------------------------------------


def test_a_fallback_is_counted_with_its_reason(put):
    x = put(A)
    foreign(x)
    foreign(x)
    ((name, reason),) = telemetry.fallbacks()
    assert name.endswith("foreign")
    assert reason == REASON
    assert telemetry.stats()["fallbacks"] == 2


def test_what_has_a_kernel_is_not_counted(put):
    x = put(A)
    np.asarray(np.sum(np.exp(x) + x, axis=0))
    np.asarray(np.add.reduce(x))
    np.asarray(np.concatenate([x, x]))
    assert telemetry.stats()["fallbacks"] == 0


def test_warn_warns_once_a_line_with_bytes_and_place(put):
    x = put(A)
    with config.using(fallback="warn"):
        with pytest.warns(FallbackWarning) as caught:
            assert [x.__array_function__(other, (GpuArray,), (x,), {}).item() for _ in range(3)] == [11.0] * 3
        with pytest.warns(FallbackWarning, match="foreign"):
            foreign(x)
        with pytest.warns(FallbackWarning, match="other"):
            x.__array_function__(other, (GpuArray,), (x,), {})
    (warning,) = caught
    assert warning.filename == __file__
    for part in ("other", f"{A.nbytes} bytes", REASON, f"test_fallback.py:{warning.lineno}"):
        assert part in str(warning.message)


def test_error_raises_before_anything_runs(put, same):
    x = put(A)
    ran = []
    with config.using(fallback="error"):
        for call in (lambda: foreign(x, ran), lambda: on_host(ran.append, (x,), {}, "testing", "append")):
            with pytest.raises(FallbackError, match="forbids") as caught:
                call()
            assert isinstance(caught.value, RuntimeError)
        same(np.sum(x), np.sum(A))
    assert not ran
    same(x, A)


# --- transfers ------------------------------------------------------------------------------------------------------

CONVERSIONS = {
    "numpy.asarray": np.asarray,
    "numpy.array": lambda x: np.array(x, copy=True),
    "nested": lambda x: np.asarray([x, x]),
    "flat": lambda x: np.asarray(x.flat),
    "float": lambda x: float(x[0, 0]),
    "int": lambda x: int(x[0, 0]),
    "complex": lambda x: complex(x[0, 0]),
    "bool": lambda x: bool(x[0, 0]),
    "if": lambda x: 1 if x[0, 0] > 0 else 2,
    "index": lambda x: operator.index(x[0, 0].astype(np.int32)),
    "in": lambda x: 5 in x,
    "range": lambda x: range(x[0, 1].astype(np.int32)),
}

EXPLICIT = {
    "asnumpy": gpuarray.asnumpy,
    "get": lambda x: x.get(),
    "item": lambda x: x.item(0, 1),
    "tolist": lambda x: x.tolist(),
    "tobytes": lambda x: x.tobytes(),
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x[0, 0]:.3f}",
    "to_device": lambda x: np.asarray(x.to_device("cpu")),
    "dumps": lambda x: x.dumps(),
    "dlpack": np.from_dlpack,
    "iteration": lambda x: [row.sum() for row in x],
    "indices": lambda x: x[gpuarray.asarray([1, 0])],
    "mask": lambda x: x[x > 2],
    "equal": lambda x: np.array_equal(x, x),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_is_a_transfer(name, put):
    x = put(A)
    CONVERSIONS[name](x)
    count = telemetry.stats()["transfers"]
    assert count == (2 if name == "nested" else 1)
    assert sum(telemetry.transfers().values()) == count
    with config.using(transfer="warn"):
        with pytest.warns(TransferWarning, match=r"\d+ bytes from device") as caught:
            _ = [CONVERSIONS[name](x) for _ in range(2)]
        assert len(caught) == 1
        assert caught[0].filename == __file__
    read = telemetry.stats()["bytes_downloaded"]
    with config.using(transfer="error"), pytest.raises(TransferError, match="asnumpy") as error:
        CONVERSIONS[name](x)
    assert isinstance(error.value, TypeError)
    assert telemetry.stats()["bytes_downloaded"] == read


@pytest.mark.parametrize("name", EXPLICIT)
def test_what_is_asked_for_by_name_is_no_transfer(name, put):
    x = put(A)
    with config.using(transfer="error"), warnings.catch_warnings():
        warnings.simplefilter("error")
        EXPLICIT[name](x)
    assert telemetry.stats()["transfers"] == 0


def test_results_return_to_the_device(put, device):
    x = put(A)
    counts, edges = np.histogram(x)
    assert isinstance(counts, GpuArray)
    assert isinstance(edges, GpuArray)
    assert edges.device == device
    assert isinstance(np.roots(x[0]), GpuArray)
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

    result = x.__array_function__(third_party, (GpuArray,), (x,), {"b": x})
    same(result, A + A)
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


def test_transfers_are_counted_in_the_end(put, monkeypatch):
    monkeypatch.setattr(telemetry, "_MOST_UNCOUNTED", 3)
    x = put(A)
    for _ in range(10):
        np.asarray(x)
    assert all(len(alike.times) <= 3 for alike in telemetry._uncounted.values())
    assert telemetry.stats()["transfers"] == 10
    assert sum(telemetry.transfers().values()) == sum(telemetry.sites().values()) == 10
    for number in range(10):  # settings of their own
        with config.using(pending_limit=100 + number):
            np.asarray(x)
        assert len(telemetry._uncounted) <= 3
    assert telemetry.stats()["transfers"] == 20
    np.asarray(x)
    telemetry.reset_stats()
    assert telemetry.stats()["transfers"] == 0
