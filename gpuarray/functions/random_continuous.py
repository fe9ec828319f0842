"""Random floating numbers: the continuous distributions of ``numpy.random.Generator``.

``random``, ``uniform``, ``laplace``, ``logistic``, ``gumbel``, ``triangular`` and the exponential numbers of
``method="inv"`` use the same uniform numbers as NumPy. The other methods draw from substreams. Parameters broadcast
with each other and to ``size``. Values that only a device has are not checked, so that nothing waits for them; invalid
ones give NaN.
"""

import math
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.functions.arguments import ArrayLike, DTypeLike
from gpuarray.functions.random_arguments import Size, are_scalars, check, check_interval, known
from gpuarray.functions.random_source import ArraySource, ResultSpec, ahead, mapped
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as ops
from gpuarray.ops import samplers

_map = mapped


def _scaled(draws: Any, scale: Any, loc: Any = None) -> Any:
    """Return numbers times a scale, plus a location."""
    draws = _map(ops.multiply, draws, scale)
    return draws if loc is None else _map(ops.add, draws, loc)


class Continuous(ArraySource):
    """The methods of random generators that return floating numbers."""

    @ahead
    def random(self, size: Size = None, dtype: DTypeLike = None, out: GpuArray | None = None) -> GpuArray:
        """Return uniform numbers in [0, 1), the same as NumPy's for the same state.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape of the result; by default ().
        dtype : {float32, float64}, optional
            By default the default floating dtype. The numbers are multiples of 2**-24 (float32) or 2**-53 (float64).
        out : GpuArray, optional
            An array of this dtype and shape to fill and return.

        Raises
        ------
        TypeError
            If the dtype is another one, or differs from that of ``out``.
        ValueError
            If an extent is negative, or ``size`` differs from the shape of ``out``.
        """
        spec = self._target(size, dtype, out, "random")
        return spec.array_or_out(self._uniform(spec), out)

    @ahead
    def uniform(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return uniform numbers in [low, high), the same as NumPy's for the same state.

        Parameters
        ----------
        low, high : float or array_like
            The ends of the interval, which broadcast.
        size : int or tuple of int, optional
            The shape of the result; by default the broadcast shape of the ends.
        dtype : {float32, float64}, optional
            By default the default floating dtype.

        Raises
        ------
        OverflowError
            If ``high - low`` is not finite.
        ValueError
            If ``high < low``, or the ends do not broadcast to ``size``. Nothing is read from a device.
        """
        check_interval(low, high)
        spec, (low, high) = self._arguments(size, dtype, low, high)
        spread = high - low if are_scalars(low, high) else _difference(high, low)
        return spec.array(_scaled(self._uniform(spec), spread, low))

    @ahead
    def standard_normal(self, size: Size = None, dtype: DTypeLike = None, out: GpuArray | None = None) -> GpuArray:
        """Return numbers of the normal distribution with mean 0 and standard deviation 1.

        The Box-Muller method makes each number of 32 bits (53 for float64), so magnitudes are at most 6.8 (8.6 for
        float64). The arguments are those of :meth:`random`.
        """
        spec = self._target(size, dtype, out, "standard_normal")
        return spec.array_or_out(self._normal(spec), out)

    @ahead
    def normal(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of a normal distribution.

        Parameters
        ----------
        loc, scale : float or array_like
            Mean and standard deviation, which broadcast.
        size : int or tuple of int, optional
            The shape of the result; by default the broadcast shape of the parameters.
        dtype : {float32, float64}, optional
            By default the default floating dtype.

        Raises
        ------
        ValueError
            If ``scale`` is negative, or the parameters do not broadcast to ``size``.
        """
        check("not negative", scale=scale)
        spec, (loc, scale) = self._arguments(size, dtype, loc, scale)
        return spec.array(_scaled(self._normal(spec), scale, loc))

    @ahead
    def lognormal(
        self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of a log-normal distribution, the exponentials of :meth:`normal` numbers."""
        check("not negative", sigma=sigma)
        spec, (mean, sigma) = self._arguments(size, dtype, mean, sigma)
        return spec.array(_map(ops.exp, _scaled(self._normal(spec), sigma, mean)))

    # -- of one uniform number -----------------------------------------------------------------------------------------

    @ahead
    def standard_exponential(
        self, size: Size = None, dtype: DTypeLike = None, method: str = "zig", out: GpuArray | None = None
    ) -> GpuArray:
        """Return numbers of the exponential distribution with scale 1.

        ``method`` may be "inv" or "zig", as in NumPy, but the numbers are always those that NumPy returns for "inv",
        the inverse of the distribution function. The other arguments are those of :meth:`random`.
        """
        if method not in ("inv", "zig"):
            raise ValueError(f"method must be 'inv' or 'zig', not {method!r}")
        spec = self._target(size, dtype, out, "standard_exponential")
        return spec.array_or_out(self._exponential(spec), out)

    @ahead
    def exponential(self, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the exponential distribution with mean ``scale``; see :meth:`normal` for the arguments."""
        check("not negative", scale=scale)
        spec, (scale,) = self._arguments(size, dtype, scale)
        return spec.array(_scaled(self._exponential(spec), scale))

    @ahead
    def rayleigh(self, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the Rayleigh distribution with mode ``scale``, which is not negative."""
        check("not negative", scale=scale)
        spec, (scale,) = self._arguments(size, dtype, scale)
        return spec.array(_scaled(_map(ops.sqrt, _scaled(self._exponential(spec), 2.0)), scale))

    @ahead
    def weibull(self, a: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the Weibull distribution with shape ``a``, which is not negative, and scale 1."""
        check("not negative", a=a)
        spec, (a,) = self._arguments(size, dtype, a)
        powers = _map(ops.pow, self._exponential(spec), _map(ops.divide, spec.constant(1), a))
        zero = _map(ops.equal, spec.constant(0), a)
        return spec.array(_map(ops.where, zero, spec.constant(0), powers))

    @ahead
    def pareto(self, a: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the Pareto II distribution with shape ``a``, which is positive."""
        check("positive", a=a)
        spec, (a,) = self._arguments(size, dtype, a)
        return spec.array(_map(ops.expm1, _map(ops.divide, self._exponential(spec), a)))

    @ahead
    def power(self, a: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers in [0, 1] whose density is proportional to x**(a - 1), for positive ``a``."""
        check("positive", a=a)
        spec, (a,) = self._arguments(size, dtype, a)
        share = _map(ops.negative, _map(ops.expm1, _map(ops.negative, self._exponential(spec))))
        return spec.array(_map(ops.pow, share, _map(ops.divide, spec.constant(1), a)))

    @ahead
    def laplace(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the Laplace distribution; see :meth:`normal` for the arguments."""
        check("not negative", scale=scale)
        spec, (loc, scale) = self._arguments(size, dtype, loc, scale)
        share = _open(self._uniform(spec), spec.kind)
        upper = _map(ops.greater_equal, share, 0.5)
        twice = _map(ops.add, share, share)
        folded = _map(ops.where, upper, _map(ops.subtract, 2.0, twice), twice)
        logarithm = _map(ops.log, folded)
        return spec.array(_scaled(_map(ops.where, upper, _map(ops.negative, logarithm), logarithm), scale, loc))

    @ahead
    def logistic(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the logistic distribution; see :meth:`normal` for the arguments."""
        check("not negative", scale=scale)
        spec, (loc, scale) = self._arguments(size, dtype, loc, scale)
        share = _open(self._uniform(spec), spec.kind)
        odds = _map(ops.divide, share, _map(ops.subtract, 1.0, share))
        return spec.array(_scaled(_map(ops.log, odds), scale, loc))

    @ahead
    def gumbel(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the Gumbel distribution; see :meth:`normal` for the arguments."""
        check("not negative", scale=scale)
        spec, (loc, scale) = self._arguments(size, dtype, loc, scale)
        share = _open(self._uniform(spec), spec.kind)
        depth = _map(ops.negative, _map(ops.log1p, _map(ops.negative, share)))
        return spec.array(_scaled(_map(ops.negative, _map(ops.log, depth)), scale, loc))

    @ahead
    def triangular(
        self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the triangular distribution over [left, right] with its peak at ``mode``.

        Raises
        ------
        ValueError
            If ``left <= mode <= right`` does not hold, or ``left == right``; nothing is read from a device.
        """
        seen = [known(v) for v in (left, mode, right)]
        if not any(v is None for v in seen):
            low, peak, high = (np.asarray(v, np.float64) for v in seen)
            for broken, words in (
                (low > peak, "left > mode"),
                (peak > high, "mode > right"),
                (low == high, "left == right"),
            ):
                if np.any(broken):
                    raise ValueError(f"{words}: left={left}, mode={mode}, right={right} were given")
        spec, parameters = self._arguments(size, dtype, left, mode, right)
        first, top, last = (v if isinstance(v, Node) else spec.constant(v) for v in parameters)
        base, rise, fall = _difference(last, first), _difference(top, first), _difference(last, top)
        share = self._uniform(spec)
        below = _map(ops.less_equal, share, _map(ops.divide, rise, base))
        up = _map(ops.sqrt, _scaled(share, _map(ops.multiply, rise, base)))
        down = _map(ops.sqrt, _scaled(_map(ops.subtract, 1.0, share), _map(ops.multiply, fall, base)))
        return spec.array(_map(ops.where, below, _map(ops.add, first, up), _map(ops.subtract, last, down)))

    # -- of normal and gamma numbers -----------------------------------------------------------------------------------

    @ahead
    def standard_cauchy(self, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the Cauchy distribution with mode 0, the quotients of normal numbers."""
        spec, _ = self._arguments(() if size is None else size, dtype)
        return spec.array(_map(ops.divide, self._normal(spec), self._normal(spec)))

    @ahead
    def standard_gamma(
        self, shape: ArrayLike, size: Size = None, dtype: DTypeLike = None, out: GpuArray | None = None
    ) -> GpuArray:
        """Return numbers of the gamma distribution with scale 1, by the method of Marsaglia and Tsang (2000).

        Parameters
        ----------
        shape : float or array_like
            The shape parameter of the distribution, not negative.
        size : int or tuple of int, optional
            The shape of the result; by default that of the parameter.
        dtype : {float32, float64}, optional
            By default the default floating dtype.
        out : GpuArray, optional
            An array of this dtype and size to fill and return.

        Raises
        ------
        ValueError
            If ``shape`` is negative, or does not broadcast to ``size``.
        """
        check("not negative", shape=shape)
        if out is not None:
            target = self._target(size, dtype, out, "standard_gamma")
            size, dtype = target.shape, target.kind
        spec, (a,) = self._arguments(size, dtype, shape)
        return spec.array_or_out(self._gamma(spec, a), out)

    @ahead
    def gamma(
        self, shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the gamma distribution; ``shape`` and ``scale`` are not negative."""
        check("not negative", shape=shape, scale=scale)
        spec, (a, scale) = self._arguments(size, dtype, shape, scale)
        return spec.array(_scaled(self._gamma(spec, a), scale))

    @ahead
    def beta(self, a: ArrayLike, b: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the beta distribution; ``a`` and ``b`` are positive.

        They are x / (x + y) of two gamma numbers x and y, computed from logarithms because both may underflow.
        """
        check("positive", a=a, b=b)
        spec, (a, b) = self._arguments(size, dtype, a, b)
        x, y = (self._sample(samplers.sample_log_gamma, spec, v) for v in (a, b))
        odds = _map(ops.exp, _map(ops.subtract, y, x))
        return spec.array(_map(ops.divide, spec.constant(1), _map(ops.add, odds, 1.0)))

    def _chisquare(self, spec: ResultSpec, df: Any) -> Any:
        half = df / 2 if are_scalars(df) else _scaled(df, 0.5)
        return _scaled(self._gamma(spec, half), 2.0)

    @ahead
    def chisquare(self, df: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the chi-square distribution with ``df`` degrees of freedom, a positive number."""
        check("positive", df=df)
        spec, (df,) = self._arguments(size, dtype, df)
        return spec.array(self._chisquare(spec, df))

    @ahead
    def noncentral_chisquare(
        self, df: ArrayLike, nonc: ArrayLike, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the noncentral chi-square distribution; ``df`` is positive, ``nonc`` not negative."""
        check("positive", df=df)
        check("not negative", nonc=nonc)
        spec, (df, nonc) = self._arguments(size, dtype, df, nonc)
        return spec.array(self._noncentral(spec, df, nonc))

    def _noncentral(self, spec: ResultSpec, df: Any, nonc: Any) -> Any:
        """Return chi-square numbers, with twice a Poisson number added to their degrees of freedom."""
        mean = nonc / 2 if are_scalars(nonc) else _scaled(nonc, 0.5)
        more = _scaled(self._sample(samplers.sample_poisson, spec, mean), 2.0)
        return self._chisquare(spec, _map(ops.add, more, df))

    @ahead
    def f(self, dfnum: ArrayLike, dfden: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the F distribution; both degrees of freedom are positive."""
        check("positive", dfnum=dfnum, dfden=dfden)
        spec, (dfnum, dfden) = self._arguments(size, dtype, dfnum, dfden)
        return spec.array(self._ratio(self._chisquare(spec, dfnum), dfnum, spec, dfden))

    @ahead
    def noncentral_f(
        self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of the noncentral F distribution; degrees of freedom are positive, ``nonc`` not negative."""
        check("positive", dfnum=dfnum, dfden=dfden)
        check("not negative", nonc=nonc)
        spec, (dfnum, dfden, nonc) = self._arguments(size, dtype, dfnum, dfden, nonc)
        return spec.array(self._ratio(self._noncentral(spec, dfnum, nonc), dfnum, spec, dfden))

    def _ratio(self, above: Node, dfnum: Any, spec: ResultSpec, dfden: Any) -> Any:
        below = _map(ops.divide, self._chisquare(spec, dfden), dfden)
        return _map(ops.divide, _map(ops.divide, above, dfnum), below)

    @ahead
    def standard_t(self, df: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of Student's t distribution with ``df`` degrees of freedom, a positive number."""
        check("positive", df=df)
        spec, (df,) = self._arguments(size, dtype, df)
        normal = self._normal(spec)
        spread = _map(ops.sqrt, _map(ops.divide, self._chisquare(spec, df), df))
        return spec.array(_map(ops.divide, normal, spread))

    @ahead
    def wald(self, mean: ArrayLike, scale: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of the Wald (inverse Gaussian) distribution; both parameters are positive.

        The method is that of Michael, Schucany and Haas (1976).
        """
        check("positive", mean=mean, scale=scale)
        spec, (mean, scale) = self._arguments(size, dtype, mean, scale)
        normal = self._normal(spec)
        y = _map(ops.divide, _scaled(_map(ops.square, normal), mean), scale)
        # the smaller root x of y = (x - mean)**2 / (mean x), divided by the mean, without cancellation
        root = _map(ops.sqrt, _map(ops.add, _map(ops.square, y), _scaled(y, 4.0)))
        smaller = _map(ops.divide, spec.constant(2), _map(ops.add, _map(ops.add, y, 2.0), root))
        share = self._uniform(spec)
        is_smaller = _map(ops.less_equal, _scaled(share, _map(ops.add, smaller, 1.0)), 1.0)
        larger = _map(ops.divide, spec.constant(1), smaller)
        return spec.array(_scaled(_map(ops.where, is_smaller, smaller, larger), mean))

    @ahead
    def vonmises(self, mu: ArrayLike, kappa: ArrayLike, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return angles in [-pi, pi] of the von Mises distribution around ``mu``; ``kappa`` is not negative.

        The method is that of Best and Fisher (1979). For ``kappa`` beyond 10**4 (float32) or 10**6 (float64) the angles
        are normal numbers.
        """
        check("not negative", kappa=kappa)
        spec, (mu, kappa) = self._arguments(size, dtype, mu, kappa)
        angle = _map(ops.add, self._sample(samplers.sample_vonmises, spec, kappa), mu)
        turns = _map(ops.floor, _scaled(_map(ops.add, angle, math.pi), 1 / (2 * math.pi)))
        return spec.array(_map(ops.subtract, angle, _scaled(turns, 2 * math.pi)))


def _difference(first: Any, second: Any) -> Any:
    return _map(ops.subtract, first, second)


def _open(share: Node, kind: DType) -> Any:
    """Return uniform numbers in which the smallest positive number replaces 0."""
    return _map(ops.maximum, share, 2.0**-25 if kind.itemsize == 4 else 2.0**-54)
