"""Random numbers: distributions, samples and orders over a :class:`~gpuarray.api.random_stream.Stream`."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuarray import dtypes
from gpuarray.api.arguments import ArrayLike, DeviceLike, DTypeLike, as_array, wanted_device
from gpuarray.api.indexing import take
from gpuarray.api.random_arguments import Size, are_scalars, check_scale, integer, probabilities
from gpuarray.api.random_stream import Stream
from gpuarray.api.searching import searchsorted
from gpuarray.api.sorting import argsort
from gpuarray.array import GpuArray, default_dtype, make
from gpuarray.device import Device
from gpuarray.graph import build
from gpuarray.graph.nodes import Node
from gpuarray.ops import elementwise as rows
from gpuarray.ops import generators
from gpuarray.ops.spec import GenerateOp


class Generator(Stream):
    """A stream of random numbers, with the methods of ``numpy.random.Generator`` that can be made in parallel.

    The bits are Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011);
    they are not those of NumPy's generators. The same seed gives the same integers and uniform numbers on every device;
    numbers made of them by functions agree to within those functions' last places.

    It is made by :func:`default_rng`, of a ``numpy.random.SeedSequence`` and a device.

    See Also
    --------
    default_rng : Make a generator from a seed.
    """

    # -- floating numbers ---------------------------------------------------------------------------------------------

    def random(self, size: Size = None, dtype: DTypeLike = None, out: GpuArray | None = None) -> GpuArray:
        """Return numbers spread evenly over [0, 1).

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; without one a 0-d array.
        dtype : {float32, float64}, optional
            By default the default floating dtype. Numbers are multiples of 2**-24 or 2**-53.
        out : GpuArray, optional
            An array of that dtype and shape to fill, which is then returned.

        Raises
        ------
        TypeError
            If the dtype is another one, or not that of ``out``.
        ValueError
            If an extent is negative, or ``size`` is not the shape of ``out``.
        """
        return _written(*self._floating(generators.random_uniform, size, dtype, out, "random"))

    def uniform(
        self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers spread evenly over [low, high).

        Parameters
        ----------
        low, high : float or array_like
            The ends, which broadcast.
        size : int or tuple of int, optional
            The shape; by default that of the ends.
        dtype : {float32, float64}, optional
            By default the default floating dtype.

        Raises
        ------
        OverflowError
            If ``high - low`` is not finite; looked at for scalars only.
        ValueError
            If ``high`` is below ``low`` (for scalars), or the ends do not broadcast to ``size``.
        """
        if are_scalars(low, high):
            if not math.isfinite(high - low):
                raise OverflowError(f"high - low range exceeds valid bounds: low is {low}, high is {high}")
            if high < low:
                raise ValueError(f"high - low < 0: low is {low}, high is {high}")
        start = self._parameter(low)
        spread = self._parameter(high) - start
        return self._scaled(generators.random_uniform, size, dtype, "uniform", start, spread)

    def standard_normal(self, size: Size = None, dtype: DTypeLike = None, out: GpuArray | None = None) -> GpuArray:
        """Return numbers of the normal distribution with mean 0 and standard deviation 1.

        They are made by Box and Muller's method from 32 (float64: 53) bits each, so that none of a float32 array is
        beyond 6.8 in magnitude, and none of a float64 array beyond 8.6. The arguments are those of :meth:`random`.
        """
        return _written(*self._floating(generators.random_normal, size, dtype, out, "standard_normal"))

    def normal(
        self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None
    ) -> GpuArray:
        """Return numbers of a normal distribution.

        Parameters
        ----------
        loc, scale : float or array_like
            Mean and standard deviation, which broadcast.
        size : int or tuple of int, optional
            The shape; by default that of the parameters.
        dtype : {float32, float64}, optional
            By default the default floating dtype.

        Raises
        ------
        ValueError
            If ``scale`` is negative; looked at for scalars only.
        """
        check_scale(scale)
        return self._scaled(
            generators.random_normal, size, dtype, "normal", self._parameter(loc), self._parameter(scale)
        )

    def standard_exponential(
        self, size: Size = None, dtype: DTypeLike = None, method: str = "inv", out: GpuArray | None = None
    ) -> GpuArray:
        """Return numbers of the exponential distribution with scale 1.

        ``method`` is accepted for NumPy's sake: the method is always the inverse of the distribution function. The
        other arguments are those of :meth:`random`.
        """
        if method not in ("inv", "zig"):
            raise ValueError(f"method={method!r} was given; 'inv' and 'zig' are accepted")
        drawn, target = self._floating(generators.random_uniform, size, dtype, out, "standard_exponential")
        return _written(_exponential(drawn), target)

    def exponential(self, scale: ArrayLike = 1.0, size: Size = None, *, dtype: DTypeLike = None) -> GpuArray:
        """Return numbers of an exponential distribution with mean ``scale``; see :meth:`normal` for the arguments."""
        check_scale(scale)
        return self._scaled(
            generators.random_uniform, size, dtype, "exponential", None, self._parameter(scale), through=_exponential
        )

    def _parameter(self, value: ArrayLike) -> Any:
        """Return a distribution's parameter as a Python float, which does not widen, or as an array."""
        return float(value) if are_scalars(value) else as_array(value, self._place())

    def _scaled(
        self,
        row: GenerateOp,
        size: Size,
        dtype: DTypeLike,
        name: str,
        loc: Any,
        scale: Any,
        through: Callable[[GpuArray], GpuArray] | None = None,
    ) -> GpuArray:
        shapes = [v.shape for v in (loc, scale) if isinstance(v, GpuArray)]
        joint = np.broadcast_shapes(*shapes)
        if size is None:
            size = joint
        elif np.broadcast_shapes(joint, shape := build.resolve_shape(size)) != shape:
            raise ValueError(f"parameters of shape {joint} do not broadcast to size {shape}")
        drawn, _ = self._floating(row, size, dtype, None, name)
        values = drawn if through is None else through(drawn)
        for parameter, operator in ((scale, rows.multiply), (loc, rows.add)):
            if isinstance(parameter, GpuArray):
                other = parameter.astype(drawn.dtype, copy=False)
                values = values * other if operator is rows.multiply else values + other
            elif parameter is not None:
                values = values * parameter if operator is rows.multiply else values + parameter
        return values

    # -- integers and orders ------------------------------------------------------------------------------------------

    def integers(
        self, low: int, high: int | None = None, size: Size = None, dtype: DTypeLike = None, endpoint: bool = False
    ) -> GpuArray:
        """Return integers spread evenly over a range.

        A number is a random fraction times the size of the range, cut off. The fraction has 64 bits for ranges of up to
        2**32 numbers and 128 bits for longer ones, so one number is more likely than another by less than 2**-32 of its
        probability (2**-64 for longer ranges), and each element takes the same part of the stream.

        Parameters
        ----------
        low, high : int
            The range, without ``high``; with ``low`` alone it is from 0 to ``low``.
        size : int or tuple of int, optional
            The shape; without one a 0-d array.
        dtype : dtype, optional
            Any integer dtype or bool; int64 by default.
        endpoint : bool
            Whether ``high`` belongs to the range.

        Raises
        ------
        TypeError
            If the dtype is no integer, or a bound is an array or not integral.
        ValueError
            If the range is empty, or not within the dtype's.
        """
        kind = default_dtype(int) if dtype is None else dtypes.canonical(dtype)
        if kind.kind not in "biu":
            raise TypeError(f"Unsupported dtype {kind!r} for integers; accepted are integer dtypes and bool")
        first, last = (0, integer(low)) if high is None else (integer(low), integer(high))
        last -= not endpoint
        least, most = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        for name, value in (("low", first), ("high", last)):
            if not least <= value <= most and first <= last:
                raise ValueError(f"{name} is out of bounds for {kind.name}: {value} is not from {least} to {most}")
        if first > last:
            raise ValueError(f"low >= high: there are no integers from {first} up to {last}")
        drawn = self._below(last - first + 1, size)
        node: Node = build.cast(drawn.node(), kind)
        if first:
            node = build.elementwise(rows.add, node, build.full((), first, kind))
        return make(node, drawn.device)

    def permutation(self, x: int | ArrayLike, axis: int = 0) -> GpuArray:
        """Return the numbers below ``x``, or the parts of an array along an axis, in a random order.

        Parameters
        ----------
        x : int or array_like
            How many numbers, or the array, which is left as it is.
        axis : int
            Along which axis.
        """
        if isinstance(x, int | np.integer):
            return self._order(int(x), self._place())
        array = as_array(x)
        number = build.normalize_axis(axis, array.ndim)
        return take(array, self._order(array.shape[number], array.device), axis=number)

    def shuffle(self, x: GpuArray, axis: int = 0) -> None:
        """Put the parts of an array along an axis into a random order, in place.

        Parameters
        ----------
        x : GpuArray
            What is shuffled; for anything else use NumPy's generators.
        axis : int
            Along which axis.

        Raises
        ------
        TypeError
            If ``x`` is no GpuArray.
        """
        if not isinstance(x, GpuArray):
            raise TypeError(f"a {type(x).__name__} was given to shuffle; a GpuArray is accepted")
        x[...] = self.permutation(x, axis)

    def choice(
        self,
        a: int | ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> GpuArray:
        """Return a random sample of the numbers below ``a``, or of the parts of an array along an axis.

        Parameters
        ----------
        a : int or array_like
            How many numbers, or the array.
        size : int or tuple of int, optional
            The shape of the sample; without one it is a single element or part.
        replace : bool
            Whether one can be chosen several times.
        p : array_like, optional
            The probability of each; equal ones by default. They are read now.
        axis : int
            Along which axis of ``a``.
        shuffle : bool
            Accepted for NumPy's sake; samples are in random order.

        Raises
        ------
        ValueError
            If there is nothing to choose from, the sample is larger than that and ``replace`` is false, or ``p`` are no
            probabilities.
        """
        source = None if isinstance(a, int | np.integer) else as_array(a)
        number = 0 if source is None else build.normalize_axis(axis, source.ndim)
        population = int(a) if source is None else source.shape[number]
        shape = build.resolve_shape(() if size is None else size)
        count = math.prod(shape)
        if population <= 0 and count:
            raise ValueError(f"a must be a positive integer or not empty to choose {count} from it")
        chances = None if p is None else probabilities(p, population)
        device = self._place() if source is None else source.device
        sample = self._with_replacement if replace else self._distinct
        chosen = sample(population, count, chances, device).reshape(shape)
        return chosen if source is None else take(source, chosen, axis=number)

    def _with_replacement(self, population: int, count: int, chances: Any, device: Device) -> GpuArray:
        if chances is None:
            return self._below(max(population, 1), count, device).astype(dtypes.int64)
        bounds = np.cumsum(chances)
        drawn = self._draw(generators.random_uniform, count, dtypes.float64, 2, device=device)
        return searchsorted(as_array(bounds / bounds[-1], device), drawn, side="right")

    def _distinct(self, population: int, count: int, chances: Any, device: Device) -> GpuArray:
        if count > population:
            raise ValueError(
                f"Cannot take a larger sample than population when replace is False: {count} of {population}"
            )
        if chances is None:
            return self._order(population, device)[:count].copy()
        if np.count_nonzero(chances) < count:
            raise ValueError(f"Fewer non-zero entries in p than size: {np.count_nonzero(chances)} for {count}")
        # clocks ring after exponential times: in the order of successive choices, those without a chance never
        times = _exponential(self._draw(generators.random_uniform, population, dtypes.float64, 2, device=device))
        with np.errstate(divide="ignore"):
            mean = as_array(1.0 / chances, device)
        return argsort((times + np.finfo(np.float64).tiny) * mean)[:count].copy()

    def _order(self, extent: int, device: Device) -> GpuArray:
        """Return a permutation of the numbers below ``extent``: the order of as many 64-bit random keys."""
        return argsort(self._draw(generators.random_below, extent, dtypes.uint64, 4, 0, 0, device=device))


def default_rng(seed: Any = None, *, device: DeviceLike = None) -> Generator:
    """Return a new generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.SeedSequence or Generator, optional
        What the stream follows from; without one it comes from the operating system. A generator is returned as it is.
    device : Device or str, optional
        Where arrays are made; without one, on what is the default device at each call.

    Returns
    -------
    Generator
        Its numbers are the same on every device, but are not those that NumPy gives for the seed.

    Raises
    ------
    TypeError
        If the seed is something else.
    ValueError
        If an integer is negative, or a generator is given with another device than its own.

    Examples
    --------
    >>> import gpuarray as xp
    >>> rng = xp.random.default_rng(7)
    >>> rng.standard_normal((2, 3), dtype=xp.float32).shape
    (2, 3)
    """
    if isinstance(seed, Generator):
        if device is not None and wanted_device(device) is not seed.device:
            raise ValueError(f"the generator makes arrays on {seed.device}, not on {device}; give its seed instead")
        return seed
    if isinstance(seed, GpuArray):
        seed = seed.get()
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return Generator(sequence, device)


def _exponential(uniform: GpuArray) -> GpuArray:
    """Return -log(1 - u), which is finite because u is below 1."""
    logarithm = build.elementwise(rows.log1p, build.elementwise(rows.negative, uniform.node()))
    return make(build.elementwise(rows.negative, logarithm), uniform.device)


def _written(values: GpuArray, out: Any) -> GpuArray:
    if out is None:
        return values
    out[...] = values
    target: GpuArray = out
    return target
