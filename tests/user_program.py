"""A user's program with annotations, which type checkers read in their strict modes; it is never run.

Each ``assert_type`` says what a checker must find. :mod:`test_types` runs the checkers.
"""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import gpuarray as xp
from gpuarray import typing as xpt
from gpuarray.scipy import ndimage, signal, special, stats


def model(x: xp.GpuArray, w: xp.GpuArray) -> xp.GpuArray:
    h = xp.tanh(x @ w)
    h = h - h.mean(axis=0)
    y = assert_type(xp.where(h > 0, h, 0.1 * h), xp.GpuArray)
    _, s, _ = xp.linalg.svd(y, full_matrices=False)
    assert_type(s, xp.GpuArray)
    assert_type(xp.fft.rfft(y[:, 0]), xp.GpuArray)
    assert_type(xp.where(y > 0), tuple[xp.GpuArray, ...])
    assert_type(y.max(), xp.GpuArray)
    assert_type(float(y.max()), float)
    y[::2] *= 0.5
    assert_type(len(y) + y.shape[0] + y.size, int)
    quotient, rest = divmod(y, 2)
    assert_type(quotient**2 + rest, xp.GpuArray)
    assert_type(-y + abs(y) // 2 % 3, xp.GpuArray)
    assert_type(2 * y + np.float32(1), xp.GpuArray)
    assert_type(y + np.ones(3), xp.GpuArray)
    assert_type(y == y, xp.GpuArray)
    assert_type(xp.asnumpy(y), npt.NDArray[Any])
    assert_type(y[0].T, xp.GpuArray)
    return y


def annotated(x: xpt.NDArray[np.float64], rows: xpt.ArrayLike) -> "xpt.NDArray[np.int64]":
    y: xpt.NDArray = x + x.mean()
    return assert_type(xp.argsort(y), xp.GpuArray) + xp.sum(rows)


def functions(x: xp.GpuArray) -> None:
    assert_type(xp.unique(x), xp.GpuArray)
    assert_type(xp.unique(x, return_inverse=True), tuple[xp.GpuArray, ...])
    assert_type(xp.concatenate([x, x]), xp.GpuArray)
    assert_type(xp.einsum("i,i->", x, x), xp.GpuArray)
    assert_type(xp.linspace(0, 1, 5), xp.GpuArray)
    assert_type(xp.linspace(0, 1, 5, retstep=True)[0], xp.GpuArray)
    assert_type(xp.histogram(x, 10), tuple[xp.GpuArray, xp.GpuArray])
    assert_type(xp.median(x), xp.GpuArray)
    assert_type(xp.split(x, 2), list[xp.GpuArray])
    assert_type(xp.zeros((2, 3), dtype=xp.float32), xp.GpuArray)
    assert_type(xp.sum(x) / xp.pi, xp.GpuArray)
    assert_type(xp.random.default_rng(0).normal(size=3), xp.GpuArray)
    assert_type(xp.special.erf(x), xp.GpuArray)
    assert_type(xp.add.reduce(x), xp.GpuArray)
    assert_type(xp.average(x), xp.GpuArray)
    assert_type(xp.average(x, returned=True), tuple[xp.GpuArray, xp.GpuArray])
    assert_type(xp.histogramdd(x)[1], list[xp.GpuArray])
    assert_type(xp.atleast_2d(x), xp.GpuArray)
    assert_type(xp.intersect1d(x, x), xp.GpuArray)
    assert_type(xp.indices((2, 3)), xp.GpuArray)
    assert_type(xp.emath.sqrt(x), xp.GpuArray)
    assert_type(xp.lib.stride_tricks.sliding_window_view(x, 2), xp.GpuArray)
    assert_type(xp.can_cast(x, xp.float32), bool)
    assert_type(xp.__array_api_version__, str)
    print(xp.__array_namespace_info__().devices())
    assert_type(xp.explain(x).launches, int)
    with xp.profile() as result:
        xp.evaluate(x)
    assert_type(result.wall, int)


def as_numpy_code(x: xp.GpuArray) -> None:
    """NumPy's annotations say that its functions return its arrays, also where they return those of this package."""
    print(np.zeros(3, like=x), np.roll(x, 1))
    y = np.sin(x) ** 2
    xp.evaluate(y)
    print(xp.explain(y).launches, xp.roll(y, x.argmax()), xp.errors.DeviceMemoryError)


def derivatives_of_lambdas(x: xp.GpuArray, w: dict[str, xp.GpuArray]) -> None:
    """Lambdas, whose parameters a checker knows nothing about."""
    gradient = xp.grad(lambda x: (x**2).sum())
    value, (first, second) = xp.value_and_grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, x)
    slopes = xp.grad(lambda w: w["a"].sum() + w["b"].mean())(w)
    w = {name: w[name] - 0.1 * slopes[name] for name in w}
    third = xp.grad(xp.grad(lambda t: t**3))(x[0])
    out, pull = xp.vjp(lambda x: xp.cos(x), x)
    point, tangent = xp.jvp(lambda x, y: x * y, (x, x), (x, x))
    linear = xp.linearize(lambda x: 2 * x, x)
    rows = xp.vmap(lambda row, other: row @ other, in_axes=(0, None))(x, x)
    more = [f(lambda x: x**2)(x) for f in (xp.jacfwd, xp.jacrev, xp.hessian)]
    again = xp.checkpoint(lambda x: xp.sin(x).sum())(x)
    print(gradient(x), value, first, second, w, third, pull(out), point, tangent, linear, rows, more, again)


def of_scipy(x: xp.GpuArray) -> xp.GpuArray:
    smooth = assert_type(ndimage.gaussian_filter(ndimage.zoom(x, 2), 1.5), xp.GpuArray)
    labels, count = ndimage.label(smooth > smooth.mean())
    print(labels, int(count), special.erf(x), special.logsumexp(x), stats.norm.pdf(x))
    b, a = signal.butter(4, 0.2)
    print(signal.stft(signal.lfilter(b, a, x), window=signal.windows.hann(64), nperseg=64))
    assert_type(ndimage.binary_opening(x > 0), xp.GpuArray)
    assert_type(xp.scipy.linalg.expm(x), xp.GpuArray)
    return signal.fftconvolve(x, x)


def loss(w: xp.GpuArray, x: xp.GpuArray) -> xp.GpuArray:
    return ((x @ w) ** 2).sum()


def derivatives(x: xp.GpuArray) -> None:
    gradient: xp.GpuArray = xp.grad(loss)(x, x)
    value, rates = xp.value_and_grad(loss)(x, x)
    rows = xp.vmap(loss, in_axes=(0, None))(x, x)
    print(gradient, value, rates, rows, xp.hessian(loss)(x, x), xp.jacfwd(loss)(x, x), xp.stop_gradient(x))
    result: xp.GpuArray = xp.checkpoint(loss)(x, x)
    print(result, xp.jvp(loss, (x, x), (x, x)), xp.vjp(loss, x, x)[1])


@xp.jit
def step(u: xp.GpuArray, dt: float) -> xp.GpuArray:
    return u + dt * u


@xp.jit(static_argnames="axis")
def total(u: xp.GpuArray, axis: int = 0) -> xp.GpuArray:
    return u.sum(axis=axis)


def settings() -> None:
    assert_type(step(xp.ones(3), 0.1), xp.GpuArray)
    assert_type(total(xp.ones((3, 3)), axis=1), xp.GpuArray)
    step(xp.ones(3), "fast")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    xp.config.device = "cpu"
    with xp.using(device="cpu", fallback="error"):
        pass
    xp.sine(3)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
