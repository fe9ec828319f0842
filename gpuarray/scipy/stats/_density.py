"""Kernel estimates of densities."""

from typing import Any, Final, cast

import numpy as np
from scipy import stats as scipy_stats

import gpuarray.functions as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions import factorisations
from gpuarray.functions.arguments import as_array, constant, device_among, read
from gpuarray.graph import tape
from gpuarray.runtime.places import is_host_device
from gpuarray.scipy._calls import run_if_host, run_scipy

__all__ = ["gaussian_kde"]

#: The most points at which SciPy computes the density on the host; threads share more of them.
_FEW: Final = 1 << 10


class gaussian_kde:  # noqa: N801  # SciPy's name
    """An estimate of a density by Gaussian kernels, as :class:`scipy.stats.gaussian_kde`.

    SciPy computes the bandwidth from the data on the host. The density is evaluated on the device of the points.
    Attributes and methods other than those here are those of SciPy's object.

    Parameters
    ----------
    dataset : array_like
        The data, of shape (d, N), or (N,).
    bw_method : str, number or callable, optional
        The bandwidth.
    weights : array_like, optional
        Weights of the data.
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self._device = device_among(dataset)
        self._varying: GpuArray | None = None
        """The data, if a function is differentiated with respect to them."""
        if isinstance(dataset, GpuArray) and tape.varying(dataset.node()) and not callable(bw_method):
            self._varying, dataset = dataset, constant(dataset)
        raw_weights = None if weights is None else read(weights)
        self._host = scipy_stats.gaussian_kde(read(dataset), bw_method, raw_weights)

    def evaluate(self, points: Any) -> GpuArray:
        """Return the density at points of shape (d, M), or (M,)."""
        is_few = isinstance(points, GpuArray) and points.size <= _FEW
        if is_few and self._varying is None and is_host_device(self._device):
            result = run_if_host(self._host.evaluate, (points,), {})
            if result is not NotImplemented:
                return cast(GpuArray, result)
        return xp.exp(self.logpdf(points))

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> GpuArray:
        """Return the logarithm of the density at points of shape (d, M), or (M,)."""
        host = self._host
        points = x if isinstance(x, GpuArray) else as_array(x, self._device)
        points = xp.atleast_2d(points.astype(dtypes.float64, copy=False))
        if points.shape[0] != host.d:
            if points.shape[0] != 1 or points.shape[1] != host.d:
                raise ValueError(f"points have dimension {points.shape[0]}, dataset has dimension {host.d}")
            points = points.T
        data, factor = self._known()
        whitening = np.linalg.inv(factor)
        white, moved = as_array(whitening @ data, points.device), as_array(whitening, points.device) @ points
        apart = ((moved[:, :, None] - white[:, None, :]) ** 2).sum(0)
        norm = host.d / 2 * np.log(2 * np.pi) + np.log(np.diagonal(factor)).sum()
        exponents = as_array(np.log(host.weights), points.device) - 0.5 * apart
        top = exponents.max(-1, keepdims=True)
        return xp.log(xp.exp(exponents - top).sum(-1)) + top[:, 0] - norm

    def _known(self) -> tuple[Any, Any]:
        """Return the data, of shape (d, N), and the Cholesky factor of the covariance of a kernel."""
        host = self._host
        if self._varying is None:
            return host.dataset, host.cho_cov
        data = xp.atleast_2d(self._varying.astype(dtypes.float64, copy=False))
        weights = as_array(host.weights, data.device)
        away = data - (data * weights).sum(-1, keepdims=True)
        covariance = (away * weights) @ away.mT / (1 - (host.weights**2).sum())
        return data, factorisations.cholesky(covariance) * host.factor

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._host, name)
        if self._varying is not None and not isinstance(value, (int, float)):
            read(self._varying)  # raises the error of derivatives
        if callable(value):
            return lambda *args, **kwargs: run_scipy(value, args, kwargs)
        return as_array(value, self._device) if isinstance(value, np.ndarray) else value
