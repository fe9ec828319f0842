"""The older functions of ``numpy.random``: a global generator, and :class:`RandomState`.

Arrays are drawn from a stream of this package, so that they are made on the device; their numbers are not those of
NumPy's Mersenne Twister. Single numbers come from NumPy's own ``RandomState`` of the same seed, as Python numbers,
because older programs use them in conditions, in loops and as indices. In a recorded function they are arrays.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.functions.arguments import ArrayLike, DTypeLike
from gpuarray.functions.random import Generator
from gpuarray.functions.random_arguments import Size
from gpuarray.functions.random_bits import Philox
from gpuarray.graph import tracing

#: The distributions of single numbers, which NumPy's ``RandomState`` has under the same names.
_DISTRIBUTIONS: Final = (
    *("beta", "binomial", "chisquare", "exponential", "f", "gamma", "geometric", "gumbel", "hypergeometric", "laplace"),
    *("logistic", "lognormal", "logseries", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal"),
    *("pareto", "poisson", "power", "rayleigh", "standard_cauchy", "standard_exponential", "standard_gamma"),
    *("standard_normal", "standard_t", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf"),
)
#: What only methods of generators take, not NumPy's functions of single numbers.
_OTHER_KEYWORDS: Final = frozenset(("dtype", "method", "out"))


class RandomState(Generator):
    """A generator with the methods of ``numpy.random.RandomState``.

    New programs use :func:`gpuarray.random.default_rng`. For the same seed, arrays differ from NumPy's: they are those
    of a :class:`~gpuarray.random.Generator`. Single numbers (``size=None`` and no array among the parameters) are
    Python numbers, drawn on the host by NumPy's ``RandomState`` of the same seed, independently of the arrays. In a
    function that ``jit`` records they are 0-d arrays.

    Parameters
    ----------
    seed : int or sequence of int, optional
        The seed; by default the operating system gives one.

    Examples
    --------
    >>> import gpuarray as xp
    >>> state = xp.random.RandomState(3)
    >>> state.rand(2, 3).shape
    (2, 3)
    >>> isinstance(state.uniform(-1, 1), float)
    True
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(Philox(0))
        self._numbers = np.random.RandomState(0)
        self.seed(seed)

    @property
    def _host(self) -> np.random.RandomState:
        """The source of single numbers.

        Raises
        ------
        RecordingError
            If a function is being recorded.
        """
        tracing.mode().refuse("random numbers on the host")
        return self._numbers

    def seed(self, seed: Any = None) -> None:
        """Start the streams again from a seed; by default from one that the operating system gives."""
        host_seed = seed.tolist() if isinstance(seed, GpuArray | np.ndarray) else seed
        self._host.seed(host_seed)
        self._bits.state = Philox(host_seed).state

    def get_state(self, legacy: bool = False) -> dict[str, Any]:
        """Return the state of the stream of arrays, and that of the stream of single numbers.

        Parameters
        ----------
        legacy : bool
            Accepted as in NumPy, without effect: the state is a dictionary.
        """
        return {"bit_generator": self._bits.state, "host": self._host.get_state(legacy=False)}

    def set_state(self, state: Any) -> None:
        """Set a state that :meth:`get_state` returned.

        Raises
        ------
        ValueError
            If it is a state of NumPy's generators.
        """
        if not isinstance(state, dict) or state.keys() != {"bit_generator", "host"}:
            raise ValueError(
                "the state is not one that gpuarray.random.get_state() returned; a state of NumPy's Mersenne Twister "
                "has no meaning here"
            )
        self._bits.state = state["bit_generator"]
        self._host.set_state(state["host"])

    # -- uniform and normal numbers ------------------------------------------------------------------------------------

    def rand(self, *shape: int) -> Any:
        """Return uniform numbers in [0, 1) in an array of the given extents."""
        return self.random_sample(shape if shape else None)

    def randn(self, *shape: int) -> Any:
        """Return standard normal numbers in an array of the given extents."""
        return self.standard_normal(shape if shape else None)

    def random_sample(self, size: Size = None) -> Any:
        """Return uniform numbers in [0, 1)."""
        return self._host.random_sample() if _are_single(size) else super().random(size)

    def random(self, size: Size = None) -> Any:  # type: ignore[override]  # as in NumPy's class
        """Return uniform numbers in [0, 1), like :meth:`random_sample`."""
        return self.random_sample(size)

    def randint(self, low: ArrayLike, high: ArrayLike | None = None, size: Size = None, dtype: DTypeLike = int) -> Any:
        """Return integers from ``low`` to below ``high``, or from 0 to below ``low`` if ``high`` is not given."""
        if _are_single(size, low, high):
            return self._host.randint(low, high, dtype=dtype)  # type: ignore[arg-type]  # NumPy checks it
        return super().integers(low, high, size, dtype)

    def random_integers(self, low: int, high: int | None = None, size: Size = None) -> Any:
        """Return integers from ``low`` to ``high``, or from 1 to ``low`` if ``high`` is not given."""
        first, last = (1, low) if high is None else (low, high)
        return self.randint(first, last + 1, size)

    def tomaxint(self, size: Size = None) -> Any:
        """Return integers from 0 to 2**63 - 1."""
        return self.randint(0, 2**63 - 1, size)

    # -- samples -------------------------------------------------------------------------------------------------------

    def choice(
        self,
        a: int | ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Return a random sample as :meth:`Generator.choice` does, along the first axis unless another is given.

        A single element, and elements that are not numbers, such as texts, are chosen on the host.
        """
        if not isinstance(a, GpuArray):
            array = np.asarray(a)
            if array.ndim < 2 and (_are_single(size) or not dtypes.is_supported(array.dtype)):
                return self._host.choice(a, size, replace, np.asarray(p) if isinstance(p, GpuArray) else p)
        return super().choice(a, size, replace, p, axis, shuffle)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Permute the elements of an array or a list in place, along the first axis unless another is given."""
        if isinstance(x, GpuArray):
            super().shuffle(x, axis)
        else:
            self._host.shuffle(x)

    def permutation(self, x: int | ArrayLike, axis: int = 0) -> Any:
        """Return the integers below ``x``, or the elements of an array, in a random order.

        Elements that are not numbers are permuted on the host.
        """
        if isinstance(x, GpuArray | int | np.integer) or dtypes.is_supported(np.asarray(x).dtype):
            return super().permutation(x, axis)
        return self._host.permutation(x)


def _are_single(size: Size, *parameters: Any) -> bool:
    """Return whether single numbers are drawn, and now: no function is being recorded."""
    if size is not None or tracing.mode().is_replayed:
        return False
    return not any(isinstance(value, GpuArray) or np.ndim(value) for value in parameters)


def _legacy(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a distribution's method that draws single numbers on the host."""
    name = method.__name__
    position = list(signature(method).parameters).index("size") - 1  # self is no argument

    @wraps(method)
    def draw(self: RandomState, *args: Any, **kwargs: Any) -> Any:
        size = args[position] if len(args) > position else kwargs.get("size")
        if not kwargs.keys() & _OTHER_KEYWORDS and _are_single(size, *args, *kwargs.values()):
            return getattr(self._host, name)(*args, **kwargs)
        return method(self, *args, **kwargs)

    return draw


for _name in _DISTRIBUTIONS:
    setattr(RandomState, _name, _legacy(getattr(Generator, _name)))

#: The generator of the functions of :mod:`gpuarray.random`.
_state: Final = RandomState()

beta = _state.beta
binomial = _state.binomial
bytes = _state.bytes
chisquare = _state.chisquare
choice = _state.choice
dirichlet = _state.dirichlet
exponential = _state.exponential
f = _state.f
gamma = _state.gamma
geometric = _state.geometric
get_state = _state.get_state
gumbel = _state.gumbel
hypergeometric = _state.hypergeometric
laplace = _state.laplace
logistic = _state.logistic
lognormal = _state.lognormal
logseries = _state.logseries
multinomial = _state.multinomial
multivariate_normal = _state.multivariate_normal
negative_binomial = _state.negative_binomial
noncentral_chisquare = _state.noncentral_chisquare
noncentral_f = _state.noncentral_f
normal = _state.normal
pareto = _state.pareto
permutation = _state.permutation
poisson = _state.poisson
power = _state.power
rand = _state.rand
randint = _state.randint
randn = _state.randn
random = _state.random
random_integers = _state.random_integers
random_sample = _state.random_sample
ranf = _state.random_sample
rayleigh = _state.rayleigh
sample = _state.random_sample
seed = _state.seed
set_state = _state.set_state
shuffle = _state.shuffle
standard_cauchy = _state.standard_cauchy
standard_exponential = _state.standard_exponential
standard_gamma = _state.standard_gamma
standard_normal = _state.standard_normal
standard_t = _state.standard_t
triangular = _state.triangular
uniform = _state.uniform
vonmises = _state.vonmises
wald = _state.wald
weibull = _state.weibull
zipf = _state.zipf

__all__ = [
    "RandomState", "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma",
    "geometric", "get_state", "gumbel", "hypergeometric", "laplace", "logistic", "lognormal", "logseries",
    "multinomial", "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal",
    "pareto", "permutation", "poisson", "power", "rand", "randint", "randn", "random", "random_integers",
    "random_sample", "ranf", "rayleigh", "sample", "seed", "set_state", "shuffle", "standard_cauchy",
    "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform", "vonmises",
    "wald", "weibull", "zipf",
]  # fmt: skip
