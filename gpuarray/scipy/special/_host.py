"""Functions without kernels, which SciPy runs on the host, and SciPy's own objects of errors and polynomials."""

from typing import Any, Final

import numpy as np
from scipy import special as scipy_special

from gpuarray.scipy._mirror import designed, hosted
from gpuarray.scipy._threads import elementwise
from gpuarray.scipy.special import _bessel, _compositions, _counts, _kernels, _legendre
from gpuarray.scipy.special._derivatives import PARTIALS

_REASON: Final = "the function has no kernel"
_POLYNOMIALS: Final = (
    "legendre", "chebyt", "chebyu", "chebyc", "chebys", "jacobi", "laguerre", "genlaguerre", "hermite", "hermitenorm",
    "gegenbauer", "sh_legendre", "sh_chebyt", "sh_chebyu", "sh_jacobi",
)  # fmt: skip
_ZEROS: Final = (
    "ai", "bei", "beip", "ber", "berp", "bi", "erf", "fresnel", "fresnelc", "fresnels", "jn", "jnjnp", "jnp", "jnyn",
    "kei", "keip", "kelvin", "ker", "kerp", "y0", "y1", "y1p", "yn", "ynp",
)  # fmt: skip
_ROOTS: Final = ("p", "t", "u", "c", "s", "j", "l", "la", "h", "he", "cg", "ps", "ts", "us", "js")
#: The functions that take numbers and no arrays.
_OF_NUMBERS: Final = frozenset(
    (
        *_POLYNOMIALS,
        *(f"roots_{polynomial}" for polynomial in _POLYNOMIALS),
        *(f"{polynomial}_roots" for polynomial in _ROOTS),
        *(f"{function}_zeros" for function in _ZEROS),
        *(
            "bernoulli",
            "euler",
            "mathieu_even_coef",
            "mathieu_odd_coef",
            "obl_cv_seq",
            "pro_cv_seq",
            "ellip_normal",
            "lmbda",
        ),
        *("pbdn_seq", "pbdv_seq", "pbvv_seq", "riccati_jn", "riccati_yn"),
    )
)
_SERVICES: Final = ("geterr", "seterr", "errstate", "SpecialFunctionWarning", "SpecialFunctionError")


def _hosted(name: str) -> Any:
    original = getattr(scipy_special, name)
    if name in _OF_NUMBERS:
        return designed(original, f"special.{name}")
    is_elementwise = isinstance(original, np.ufunc) or type(original).__name__ == "MultiUFunc"
    in_parts = elementwise(original) if is_elementwise else None
    return hosted(original, _REASON, on_host=in_parts, name=f"special.{name}", partials=PARTIALS.get(name, ()))


def _names() -> list[str]:
    defined = {*_bessel.__all__, *_kernels.__all__, *_compositions.__all__, *_counts.__all__, *_legendre.__all__}
    return [name for name in scipy_special.__all__ if name not in defined]


_KNOWN: Final = {n: getattr(scipy_special, n) if n in _SERVICES else _hosted(n) for n in _names()}
globals().update(_KNOWN)

__all__ = [*_KNOWN]
