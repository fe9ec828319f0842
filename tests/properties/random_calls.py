"""Random calls of functions, often with invalid arguments: a name, and what each parameter gets, from a seed."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int32",
    "uint32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

#: Functions of one array and an axis.
ALONG = """
all any argmax argmin argsort count_nonzero cumprod cumsum cumulative_prod cumulative_sum diff expand_dims
flip max mean median min moveaxis nanmax nanmin nansum prod ptp roll rollaxis sort squeeze std sum swapaxes
trapezoid unwrap var linalg.norm fft.fft fft.rfft fft.fftshift
"""
#: Those of them that have ``keepdims``.
KEEPING = (
    "all any argmax argmin count_nonzero max mean median min nanmax nanmin nansum prod ptp std sum var linalg.norm"
)
#: Functions of two arrays.
PAIRS = """
add allclose append arctan2 array_equal bitwise_and bitwise_xor copysign divide divmod dot equal fmax fmin fmod gcd
greater heaviside hypot inner isclose kron lcm left_shift less logaddexp logical_and matmul maximum mod multiply
not_equal outer power remainder searchsorted setdiff1d subtract tensordot union1d vdot
"""
#: Functions of one array.
SINGLE = """
abs arcsin arctan around atleast_2d bincount ceil conj cos deg2rad diag diagonal diagflat ediff1d exp fix flatnonzero
floor iscomplex isfinite isnan linalg.det linalg.inv log log1p logical_not negative nonzero packbits positive ravel
reciprocal rint round sign signbit sin sqrt square tanh trace transpose tril triu trunc unique unpackbits
"""
#: Functions with arguments of several kinds, which are named in the order of the parameters.
OTHERS = {
    "broadcast_to": "array shape",
    "clip": "array number number",
    "concatenate": "arrays axis",
    "delete": "array positions axis",
    "full_like": "array number",
    "insert": "array positions number axis",
    "interp": "array line line",
    "moveaxis": "array axis axis",
    "pad": "array width",
    "partition": "array position axis",
    "repeat": "array count axis",
    "reshape": "array shape",
    "roll": "array position axis",
    "split": "array count axis",
    "stack": "arrays axis",
    "take": "array positions axis",
    "take_along_axis": "array positions axis",
    "tile": "array shape",
    "where": "array array array",
}


class RandomCall(NamedTuple):
    """A call: the name of the function, its arguments, and keywords."""

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def run(self, namespace: Any, put: Callable[[Any], Any]) -> Any:
        """Call the function of a namespace, with arrays that ``put`` makes of NumPy's."""

        def given(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return put(value)
            return [given(item) for item in value] if isinstance(value, list) else value

        function = namespace
        for part in self.name.split("."):
            function = getattr(function, part)
        return function(*map(given, self.arguments), **self.keywords)

    def __str__(self) -> str:
        words = [_word(value) for value in self.arguments] + [f"{k}={v!r}" for k, v in self.keywords.items()]
        return f"{self.name}({', '.join(words)})"


def _word(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array({value.tolist()!r}, {value.dtype.name})"
    return f"[{', '.join(map(_word, value))}]" if isinstance(value, list) else repr(value)


def random_call(seed: int) -> RandomCall:
    """Return the call of a seed."""
    draw = _Draw(seed)
    recipes = [
        *((name, "array axis") for name in ALONG.split()),
        *((name, "array array") for name in PAIRS.split()),
        *((name, "array") for name in SINGLE.split()),
        *OTHERS.items(),
    ]
    name, recipe = recipes[draw.random.integers(len(recipes))]
    keywords: dict[str, Any] = {}
    arguments = []
    for kind in recipe.split():
        if kind == "axis":
            if draw.chance(0.7):
                keywords["axis" if "moveaxis" not in name else "destination"] = draw.axis()
        else:
            arguments.append(getattr(draw, kind)())
    if name in KEEPING.split() and draw.chance(0.2):
        keywords["keepdims"] = draw.chance(0.5)
    return RandomCall(name, tuple(arguments), keywords)


class _Draw:
    """Random arguments."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self._shape: tuple[int, ...] | None = None

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def array(self) -> Any:
        dtype = np.dtype(str(self.random.choice(DTYPES)))
        if self._shape is None or self.chance(0.2):
            extents = (0, 1, 2, 3, 4) if self.chance(0.15) else (1, 2, 3, 4)
            self._shape = tuple(int(n) for n in self.random.choice(extents, self.random.integers(0, 4)))
        values: Any = self.random.integers(0 if dtype.kind in "bu" else -4, 9, self._shape)
        return np.asarray(values + 1j * values[::-1] if dtype.kind == "c" and values.ndim else values, dtype)

    def arrays(self) -> list[Any]:
        return [self.array() for _ in range(self.random.integers(1, 4))]

    def line(self) -> Any:
        return np.arange(4.0) if self.chance(0.8) else self.array()

    def number(self) -> Any:
        return [2, -1, 2.5, 300, True, 1j, np.float32(1.5)][self.random.integers(7)]

    def axis(self) -> Any:
        return [0, 1, -1, 2, -2, 5, None, 1.5][self.random.integers(8)]

    def shape(self) -> Any:
        return [(2, 3), (-1,), (4, 2), 6, (3, -1), (), (2, -1, -1), (1, 1, 4)][self.random.integers(8)]

    def position(self) -> Any:
        return [0, 1, -1, 3, 9, 1.5][self.random.integers(6)]

    def positions(self) -> Any:
        return [0, -1, 7, np.array([0, 1]), np.array([[0], [-1]]), np.array([1.5])][self.random.integers(6)]

    def count(self) -> Any:
        return [1, 2, 3, 0, -1, np.array([1, 2])][self.random.integers(6)]

    def width(self) -> Any:
        return [1, (1, 2), 0, -1, ((1, 0), (0, 2)), 1.5][self.random.integers(6)]
