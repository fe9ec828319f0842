"""Random numbers: the generator, and how one is made of a seed."""

from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import DeviceLike, wanted_device
from gpuarray.functions.random_bits import Philox
from gpuarray.functions.random_continuous import Continuous
from gpuarray.functions.random_samples import Samples


class Generator(Continuous, Samples):
    """A stream of random numbers, with the methods of ``numpy.random.Generator``.

    The bits are those of NumPy's ``Philox``. Its raw words, ``random``, ``uniform``, ``bytes`` and ``integers`` over
    ranges of a power of two are NumPy's for the same state, bit for bit, in any order of calls of these; so are the
    numbers of ``laplace``, ``logistic``, ``gumbel``, ``triangular`` and of ``standard_exponential(method="inv")``, to
    within the last places of their functions. The other methods have streams of their own, made of the same state.

    All are recorded and computed where they are needed. The same state gives the same integers and uniform numbers on
    every device; numbers made of them by functions agree to within those functions' last places.

    Parameters
    ----------
    bit_generator : Philox, or numpy.random.Philox
        Where the bits come from. Of NumPy's the state is copied, and goes on by itself.
    device : Device or str, optional
        Where arrays are made; without one, on what is the default device at each call.

    See Also
    --------
    default_rng : Make a generator from a seed.
    """


def default_rng(seed: Any = None, *, device: DeviceLike = None) -> Generator:
    """Return a new generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.SeedSequence, Philox or Generator, optional
        What the stream follows from; without one it comes from the operating system. A generator is returned as it is;
        of NumPy's own Philox generators the state is copied.
    device : Device or str, optional
        Where arrays are made; without one, on what is the default device at each call.

    Returns
    -------
    Generator
        Its stream is that of ``numpy.random.Generator(numpy.random.Philox(seed))``.

    Raises
    ------
    TypeError
        If the seed is something else, such as another of NumPy's bit generators.
    ValueError
        If an integer is negative, or a generator is given with another device than its own.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> rng = xp.random.default_rng(7)
    >>> rng.standard_normal((2, 3), dtype=xp.float32).shape
    (2, 3)
    >>> host = np.random.Generator(np.random.Philox(7))
    >>> np.array_equal(xp.random.default_rng(7).random(5).get(), host.random(5))
    True
    """
    if isinstance(seed, Generator):
        if device is not None and wanted_device(device) is not seed.device:
            raise ValueError(f"the generator makes arrays on {seed.device}, not on {device}; give its seed instead")
        return seed
    if isinstance(seed, np.random.Generator):
        seed = seed.bit_generator
    if isinstance(seed, Philox | np.random.BitGenerator):
        return Generator(seed, device)
    return Generator(Philox(seed.get() if isinstance(seed, GpuArray) else seed), device)
