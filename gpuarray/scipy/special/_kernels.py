"""Functions of elements, with kernels or made of others. Operands have the dtypes that SciPy computes with."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from inspect import signature, unwrap
from typing import Any, Final, cast

import numpy as np
from scipy import special as scipy_special

from gpuarray.functions import special
from gpuarray.functions.arguments import as_arrays, write_out
from gpuarray.functions.at_once import at_once
from gpuarray.functions.registry import NATIVE, Implementation
from gpuarray.scipy._calls import is_hosts, run_counted, run_scipy, small_at_once
from gpuarray.scipy._derivatives import with_partials
from gpuarray.scipy._mirror import IMPLEMENTATIONS
from gpuarray.scipy._threads import LEAST, elementwise
from gpuarray.scipy.special import _bessel, _elementary, _elliptic, _integrals
from gpuarray.scipy.special._derivatives import PARTIALS
from gpuarray.scipy.special._elementary import HIGHEST
from gpuarray.scipy.special._inverses import OF_DISTRIBUTIONS

OF_ARRAYS: Final = _elementary.OF_ARRAYS | _elliptic.OF_ARRAYS | OF_DISTRIBUTIONS | _integrals.OF_ARRAYS
BY_DEGREE: Final = _elementary.BY_DEGREE | _bessel.BY_ORDER | _integrals.BY_ORDER
RANGES: Final[dict[str, tuple[int, int]]] = _elementary.RANGES | _bessel.RANGES | _integrals.RANGES
_COMPLEX: Final = "numbers are complex, or keywords of ufuncs are given"
DEGREES: Final = "a degree is no Python integer of at most {}"


@lru_cache(maxsize=1024)
def _dtypes(ufunc: Any, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the dtypes of the operands and of the results with which SciPy computes; Python types are weak."""
    return ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout))


def _real(kind: Any) -> Any:
    """Return the dtype of the parts of complex numbers; any other dtype as it is."""
    return np.finfo(kind).dtype if kind.kind == "c" else kind


def _with_kernel(name: str) -> Callable[..., Any]:
    """Return the function of a ufunc of SciPy that has a kernel, or is made of functions that have one."""
    original = unwrap(getattr(scipy_special, name))
    degrees, kernel = BY_DEGREE.get(name, (0, None))
    kernel = kernel or OF_ARRAYS.get(name) or getattr(special, name)
    if name in _integrals.OF_ARRAYS:  # whose sums are not differentiated
        kernel = with_partials(kernel, PARTIALS[name])
    count = original.nin
    in_parts = elementwise(original)

    least, most = RANGES.get(name, (-HIGHEST, HIGHEST))

    def is_known(operands: Sequence[Any]) -> bool:
        return all(type(n) is int and least <= n <= most for n in operands[:degrees])

    def counted(*operands: Any, **kwargs: Any) -> Any:
        reason = _COMPLEX if is_known(operands) else DEGREES.format(most)
        return run_counted(original, reason, operands, kwargs, f"special.{name}")

    on_host = with_partials(counted, PARTIALS[name]) if name in PARTIALS else counted

    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        operands = [*args]
        if len(args) == count + original.nout:
            operands, out = operands[:count], args[count:]
        if kwargs or len(operands) != count:
            return on_host(*args, out=out, **kwargs)
        if out is None and is_hosts(args, kwargs):
            return run_scipy(in_parts, args, kwargs)
        call_arrays = tuple(
            type(x) if type(x) in (int, float, complex) else getattr(x, "dtype", None) or np.asarray(x).dtype
            for x in operands
        )
        kinds = _dtypes(original, call_arrays)
        if not is_known(operands) or any(kind is complex or np.dtype(kind).kind == "c" for kind in call_arrays):
            return on_host(*operands, **({} if out is None else {"out": out}))
        first = operands[:degrees]
        arrays = as_arrays(*operands[degrees:])
        result = kernel(
            *first, *(x.astype(_real(kind), copy=False) for x, kind in zip(arrays, kinds[degrees:count], strict=True))
        )
        if original.nout == 1:
            return write_out(result.astype(kinds[-1], copy=False), out)
        outs = (None,) * original.nout if out is None else out
        return tuple(
            write_out(r.astype(kind, copy=False), o) for r, kind, o in zip(result, kinds[count:], outs, strict=True)
        )

    run.__name__ = run.__qualname__ = name
    with suppress(ValueError):  # ufuncs of older versions of NumPy have no signature
        cast(Any, run).__signature__ = signature(original)
    run.__module__ = "gpuarray.scipy.special"
    run.__doc__ = (
        f"Return :func:`scipy.special.{name}` of arrays.\n\nParameters are those of SciPy's ufunc. Complex numbers, "
        "and keywords other than ``out``, are computed by SciPy on the host, which counts as a fallback."
    )
    composed = small_at_once(at_once(run, "elements", original), original, LEAST)
    IMPLEMENTATIONS.setdefault("special", {})[name] = Implementation(
        NATIVE, DEGREES.format(most) if degrees else _COMPLEX, composed
    )
    return composed


# with SCIPY_ARRAY_API in the environment, SciPy wraps some of its ufuncs in functions
_KNOWN: Final = {
    name: _with_kernel(name)
    for name in dict.fromkeys((*vars(special)["__all__"], *OF_ARRAYS, *BY_DEGREE))
    if isinstance(unwrap(cast(Any, getattr(scipy_special, name, None))), np.ufunc)
}
globals().update(_KNOWN)

__all__ = [*_KNOWN]
