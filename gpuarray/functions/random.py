"""The random generator, and :func:`default_rng`, which makes one from a seed."""

from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.functions.arguments import DeviceLike, checked_device
from gpuarray.functions.random_bits import Philox
from gpuarray.functions.random_continuous import Continuous
from gpuarray.functions.random_samples import Samples


class Generator(Continuous, Samples):
    """A stream of random numbers, with the methods of ``numpy.random.Generator``.

    The bits are those of NumPy's ``Philox``. For the same state, raw words, ``random``, ``uniform``, ``bytes`` and
    ``integers`` over ranges of a power of two equal NumPy's bit for bit, in any order of calls. ``laplace``,
    ``logistic``, ``gumbel``, ``triangular`` and ``standard_exponential(method="inv")`` use the same uniform numbers as
    NumPy, and agree to the accuracy of the functions applied to them. The other methods draw from substreams, which
    NumPy does not have; their numbers follow the same distributions.

    Calls are recorded, and numbers are computed where they are needed. The same state gives the same integers and
    uniform numbers on every device. Other numbers agree to the accuracy of the functions applied to them.

    Parameters
    ----------
    bit_generator : Philox, or numpy.random.Philox
        The source of bits. The state of a NumPy generator is copied, so that the two advance independently.
    device : Device or str, optional
        The device of the arrays. By default the default device at the time of each call.

    See Also
    --------
    default_rng : Make a generator from a seed.
    """


def default_rng(seed: Any = None, *, device: DeviceLike = None) -> Generator:
    """Return a new generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, numpy.random.SeedSequence, Philox or Generator, optional
        The seed; by default the operating system gives one. A Generator is returned as it is. The state of a NumPy
        Philox generator is copied.
    device : Device or str, optional
        The device of the arrays. By default the default device at the time of each call.

    Returns
    -------
    Generator
        Its stream is that of ``numpy.random.Generator(numpy.random.Philox(seed))``.

    Raises
    ------
    TypeError
        If the seed is of another type, such as another bit generator of NumPy.
    ValueError
        If an integer is negative, or the device differs from that of the given generator.

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
        if device is not None and checked_device(device) is not seed.device:
            raise ValueError(f"the generator makes arrays on {seed.device}, not on {device}; give its seed instead")
        return seed
    if isinstance(seed, np.random.Generator):
        seed = seed.bit_generator
    if isinstance(seed, Philox | np.random.BitGenerator):
        return Generator(seed, device)
    return Generator(Philox(seed.tolist() if isinstance(seed, GpuArray) else seed), device)
