"""Functions without kernels, which SciPy runs on the host, and SciPy's own objects of errors and polynomials."""

from inspect import signature
from types import FunctionType
from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

from gpuarray.scipy._mirror import designed, hosted
from gpuarray.scipy._threads import elementwise
from gpuarray.scipy.special import _bessel, _compositions, _counts, _kernels
from gpuarray.scipy.special._derivatives import PARTIALS

_REASON: Final = "the function has no kernel"
#: The parameters of functions of numbers alone: roots and zeros, polynomials as their coefficients, sequences.
_NUMBERS: Final = frozenset(
    ("alpha", "beta", "c", "complex", "m", "monic", "mu", "n", "nt", "p", "p1", "q", "q1", "h2", "k2")
)
_SERVICES: Final = ("geterr", "seterr", "errstate", "SpecialFunctionWarning", "SpecialFunctionError")


def _hosted(name: str) -> Any:
    original = getattr(scipy_special, name)
    if isinstance(original, FunctionType) and not {*signature(original).parameters} - _NUMBERS:
        return designed(original, f"special.{name}")
    is_elementwise = isinstance(original, np.ufunc) or type(original).__name__ == "MultiUFunc"
    in_parts = elementwise(original) if is_elementwise else None
    return hosted(original, _REASON, on_host=in_parts, name=f"special.{name}", partials=PARTIALS.get(name, ()))


def _names() -> list[str]:
    defined = {*_bessel.__all__, *_kernels.__all__, *_compositions.__all__, *_counts.__all__}
    return [name for name in scipy_special.__all__ if name not in defined]


_KNOWN: Final = {n: getattr(scipy_special, n) if n in _SERVICES else _hosted(n) for n in _names()}
globals().update(_KNOWN)

__all__ = [*_KNOWN]
