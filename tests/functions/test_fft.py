"""Fourier transforms against NumPy's: functions, dtypes, points, axes, norms, errors."""

import array_api_strict
import numpy as np
import pytest
from support import values

import gpuarray as xp
from gpuarray import dtypes

COMPLEX_TO_ANY = ("fft", "ifft", "irfft", "hfft")
REAL_TO_COMPLEX = ("rfft", "ihfft")
NORMS = (None, "backward", "ortho", "forward")


def assert_near(actual, expected, epsilon: float = 0, what="") -> None:
    """Check shape, dtype and elements, to a few epsilons of the largest."""
    assert isinstance(actual, xp.GpuArray), what
    assert actual.shape == expected.shape, what
    assert actual.dtype == expected.dtype, what
    bound = 32 * max(np.finfo(expected.dtype).eps, epsilon) * np.abs(expected).max(initial=0)
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=0, atol=bound, err_msg=what)


def check(function: str, host, *arguments, **keywords) -> None:
    """Compare a function of NumPy's, and its namesake here, with what NumPy gives for its own array."""
    expected = getattr(np.fft, function)(host, *arguments, **keywords)
    epsilon = np.finfo(host.dtype).eps if host.dtype.kind in "fc" else 0  # NumPy rounds the scale to float16
    assert_near(getattr(np.fft, function)(xp.asarray(host), *arguments, **keywords), expected, epsilon, function)
    assert_near(getattr(xp.fft, function)(xp.asarray(host), *arguments, **keywords), expected, epsilon, function)


def real_part(function: str, host):
    return host.real.copy() if function in ("rfft", "ihfft", "rfftn", "rfft2") else host


# -- one axis ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
@pytest.mark.parametrize("function", COMPLEX_TO_ANY + REAL_TO_COMPLEX)
def test_dtypes_are_numpys(function: str, dtype: np.dtype, device) -> None:
    host = values((3, 6), dtype)
    if dtype.kind == "c" and function in REAL_TO_COMPLEX:
        with pytest.raises(TypeError, match="real numbers"):
            getattr(xp.fft, function)(xp.asarray(host))
        return
    check(function, host)


@pytest.mark.parametrize("n", [None, 1, 4, 5, 8, 11, 34])
@pytest.mark.parametrize("function", COMPLEX_TO_ANY + REAL_TO_COMPLEX)
def test_points_and_norms(function: str, n, device) -> None:
    host = real_part(function, values((2, 7), np.complex64))
    for norm in NORMS:
        check(function, host, n=n, norm=norm)


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
@pytest.mark.parametrize("function", COMPLEX_TO_ANY + REAL_TO_COMPLEX)
def test_axes(function: str, axis: int, device) -> None:
    host = real_part(function, values((4, 3, 5), np.complex64))
    check(function, host, None, axis)
    check(function, host, 4, axis, "ortho")


@pytest.mark.parametrize("view", [lambda x: x[::2, ::-1], lambda x: x.T, lambda x: x[1], lambda x: x[:, None, 1:]])
def test_views_are_transformed(view, device) -> None:
    host = values((6, 8), np.complex64)
    assert_near(xp.fft.fft(view(xp.asarray(host))), np.fft.fft(view(host)))


def test_transforms_take_part_in_expressions(device) -> None:
    host = values((3, 16), np.float32)
    x = xp.asarray(host)
    filtered = np.fft.irfft(np.fft.rfft(x * 2) * (np.fft.rfftfreq(16).astype(np.float32) < 0.25), 16) + 1
    expected = np.fft.irfft(np.fft.rfft(host * 2) * (np.fft.rfftfreq(16).astype(np.float32) < 0.25), 16) + 1
    assert_near(filtered, expected)


@pytest.mark.parametrize("n", [6, 7])
def test_inverses(n: int, device) -> None:
    host = values((2, n), np.complex64)
    x, real = xp.asarray(host), xp.asarray(host.real.copy())
    assert_near(xp.fft.ifft(xp.fft.fft(x, norm="ortho"), norm="ortho"), host)
    assert_near(xp.fft.irfft(xp.fft.rfft(real), n=n), host.real)
    assert_near(xp.fft.hfft(xp.fft.ihfft(real), n=n), host.real)


def test_nothing_runs_on_the_host_of_a_gpu() -> None:
    x = xp.asarray(values((4, 9), np.complex64), device="wgpu")
    xp.reset_stats()
    for function in (np.fft.fft, np.fft.irfft, np.fft.fftn, np.fft.irfftn, np.fft.fftshift):
        xp.evaluate(function(x))
    assert xp.stats()["fallbacks"] == 0


# -- several axes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("function", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
def test_several_axes(function: str, norm, device) -> None:
    host = real_part(function, values((3, 4, 5), np.complex64))
    check(function, host, norm=norm)
    check(function, host, axes=(2, 0), norm=norm)
    check(function, host, (6, 2), (0, 1), norm)
    check(function, host, (-1, 4), axes=(1, -1), norm=norm)


def test_sizes_alone_are_those_of_the_last_axes(device) -> None:
    host = values((3, 4, 5), np.complex64)
    assert_near(xp.fft.fftn(xp.asarray(host), s=(2, 6)), np.fft.fftn(host, (2, 6), (-2, -1)))


def test_axes_may_be_none_at_all(device) -> None:
    host = values((3, 4), np.complex64)
    assert_near(xp.fft.fftn(xp.asarray(host), axes=()), host)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2", "rfftn", "irfftn", "rfft2", "irfft2"])
def test_transforms_along_no_axis_are_those_of_numpy(name: str, device) -> None:
    for host in (np.arange(6.0).reshape(2, 3), np.arange(3), np.float32([1, 2])):
        x = xp.asarray(host)
        for function in (getattr(xp.fft, name), getattr(np.fft, name)):
            for keywords in ({"axes": ()}, {"s": (), "axes": ()}, {"axes": (), "norm": "none of them"}):
                if "r" in name:
                    with pytest.raises(IndexError):
                        getattr(np.fft, name)(host, **keywords)
                    with pytest.raises(IndexError, match="needs an axis"):
                        function(x, **keywords)
                else:
                    assert getattr(np.fft, name)(host, **keywords) is host
                    assert function(x, **keywords) is x
    if not name.endswith("2"):
        number = xp.asarray(np.float32(2))
        if "r" in name:
            with pytest.raises(IndexError, match="needs an axis"):
                getattr(xp.fft, name)(number)
        else:
            assert getattr(xp.fft, name)(number).dtype == getattr(np.fft, name)(np.float32(2)).dtype


def test_results_are_written_to_out(device) -> None:
    host = values((3, 4), np.complex64)
    out = xp.zeros((3, 4), xp.complex64)
    assert xp.fft.fft(xp.asarray(host), out=out) is out
    assert_near(out, np.fft.fft(host))
    assert np.fft.ifft2(xp.asarray(host), out=out) is out
    assert_near(out, np.fft.ifft2(host))


# -- what is empty, and errors ----------------------------------------------------------------------------------------


def test_empty_batches_and_padded_nothing(device) -> None:
    for function in COMPLEX_TO_ANY:
        check(function, np.zeros((0, 5), np.complex64))
        result = getattr(np.fft, function)(xp.zeros((3, 0), dtype=np.complex64), n=4)
        assert result.shape == (3, 4)
        assert not np.asarray(result).any()  # some of NumPy's own return what memory held
    check("rfft", np.zeros((2, 0, 5), np.float32), axis=-1)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f, x: f.fft(x, 0), ValueError, "data points"),
        (lambda f, x: f.fft(x[:, :0]), ValueError, "data points"),
        (lambda f, x: f.irfft(x[:, :1]), ValueError, "data points"),
        (lambda f, x: f.fft(x, norm="none"), ValueError, "norm"),
        (lambda f, x: f.fftn(x, norm="none"), ValueError, "norm"),
        (lambda f, x: f.fft(x, 2.5), TypeError, "integer"),
        (lambda f, x: f.fft(x, axis=2), IndexError, "out of"),
        (lambda f, x: f.fft(x[0, :1].reshape(())), IndexError, "out of"),
        (lambda f, x: f.fftn(x, axes=(0, 5)), IndexError, "out of"),
        (lambda f, x: f.fftn(x, (2,), (0, 1)), ValueError, "different lengths"),
        (lambda f, x: f.rfft(x.astype(np.complex64)), TypeError, "real numbers|not supported"),
        (lambda f, x: f.fftfreq(2.5), ValueError, "n should be an integer"),
    ],
)
def test_errors_are_numpys(call, error, message, device) -> None:
    host = values((3, 4), np.float32)
    with pytest.raises(error, match=message):
        call(np.fft, host)
    with pytest.raises(error, match=message):
        call(xp.fft, xp.asarray(host))


def test_out(device) -> None:
    host = values((3, 4), np.float32)
    out = xp.empty((3, 4), dtype=np.complex64)
    assert np.fft.fft(xp.asarray(host), out=out) is out
    assert_near(out, np.fft.fft(host))
    assert np.fft.ifftn(xp.asarray(host), out=out) is out
    assert_near(out, np.fft.ifftn(host))
    with pytest.raises(ValueError, match="shape"):
        np.fft.rfft(xp.asarray(host), out=out)
    with pytest.raises(TypeError, match="cast"):
        np.fft.fft(xp.asarray(host), out=xp.empty((3, 4), dtype=np.float32))


# -- frequencies and the namespace ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n: int, device) -> None:
    for function in ("fftfreq", "rfftfreq"):
        expected = getattr(np.fft, function)(n, 0.3)
        actual = getattr(xp.fft, function)(n, d=0.3)
        assert actual.dtype == np.float64
        np.testing.assert_array_equal(np.asarray(actual), expected)
        single = getattr(xp.fft, function)(n, d=0.3, dtype=xp.float32, device=device)
        assert single.dtype == np.float32
        assert single.device == device
        np.testing.assert_allclose(np.asarray(single), expected, rtol=2e-7)
    with pytest.raises(TypeError, match="floating"):
        xp.fft.fftfreq(n, dtype=xp.int32)


@pytest.mark.parametrize("axes", [None, 0, 1, (0, 1), (-1,)])
def test_shifts(axes, device) -> None:
    host = values((4, 5), np.int32)
    for function in ("fftshift", "ifftshift"):
        expected = getattr(np.fft, function)(host, axes)
        np.testing.assert_array_equal(np.asarray(getattr(np.fft, function)(xp.asarray(host), axes)), expected)
        np.testing.assert_array_equal(np.asarray(getattr(xp.fft, function)(xp.asarray(host), axes=axes)), expected)


def test_the_extension_is_complete() -> None:
    standard = {name for name in array_api_strict.fft.__all__ if not name.startswith("_")}
    assert standard <= set(xp.fft.__all__)
    assert len(standard) == 14
    assert {"fft2", "ifft2", "rfft2", "irfft2"} <= set(xp.fft.__all__)
    assert "fft" in xp.__all__
