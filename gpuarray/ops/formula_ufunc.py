"""Formulas with the interface of NumPy's ufuncs, and their dtype rules."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.ops.formula import Formula
from gpuarray.ops.spec import DTypeRule, Signature


def floating(*operands: Any) -> Signature:
    """Return the signature of a function of real numbers, which converts other than floating dtypes to float64."""
    common = dtypes.promote(*operands)
    if common.kind == "c":
        raise TypeError(f"the function takes real numbers, not {common.name}; take the real part first")
    kind: DType = common if common.kind == "f" else dtypes.float64
    return Signature((kind,) * len(operands), kind)


def with_counts(counts: tuple[int, ...]) -> DTypeRule:
    """Return the dtype rule of a function that converts some operands to C's ``int`` if all of these are integers.

    As in SciPy, integers are then taken modulo 2**32, and ``uint64`` does not count as an integer.
    """

    def rule(*operands: Any) -> Signature:
        dtype_of_loop = floating(*operands)
        count_operands = [operands[i] for i in counts]
        if not all(isinstance(d, np.dtype) and np.can_cast(d, np.int64) for d in count_operands):
            return dtype_of_loop
        return Signature(
            tuple(dtypes.int32 if i in counts else kind for i, kind in enumerate(dtype_of_loop.inputs)),
            dtype_of_loop.output,
        )

    return rule


class FormulaUfunc:
    """A formula with the interface of a NumPy ufunc, as far as operations and the ufunc protocol need it.

    Attributes
    ----------
    nin, nout, nargs : int
        Number of operands, of results (always 1), and their sum.
    signature : None
        None, because the function is elementwise.
    """

    signature: Final = None
    nout: Final = 1

    def __init__(self, formula: Formula, rule: DTypeRule = floating) -> None:
        self.formula = formula
        self.rule = rule
        self.__name__ = formula.name
        self.nin = len(formula.parameters)
        self.nargs = self.nin + 1

    def __call__(self, *operands: Any, out: Any) -> Any:
        """Write the values for broadcast operands to ``out``, computed in float64 and rounded to its dtype."""
        with np.errstate(all="ignore"):
            arrays = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in operands), np.empty(out.shape))[:-1]
            out[...] = self.formula(*(x.ravel() for x in arrays)).reshape(out.shape)
        return out

    def resolve_dtypes(
        self, kinds: Sequence[Any], *, signature: Sequence[Any] | None = None, casting: str = "same_kind"
    ) -> tuple[DType, ...]:
        """Return the dtypes of a call as :meth:`numpy.ufunc.resolve_dtypes` does.

        Parameters
        ----------
        kinds : sequence of dtype
            Dtypes of operands, which may be Python types, and of the result, which may be None.
        signature : sequence of dtype, optional
            The dtypes of a loop, None where they are free.
        casting : str
            The casting rule for conversions.

        Raises
        ------
        TypeError
            If a conversion is not allowed, or the loop has no floating dtype.
        """
        resolved = self.rule(*kinds[: self.nin])
        asked = next((dtypes.canonical(d) for d in signature or () if d is not None), resolved.output)
        if asked.kind != "f":
            raise TypeError(f"{self.__name__} has no loop for {asked.name}; use a floating dtype")
        loop = resolved.inputs if asked == resolved.output else (asked,) * self.nin
        conversions = [(d, asked) for d in kinds[: self.nin] if isinstance(d, np.dtype)]
        for source, target in [*conversions, *((asked, d) for d in kinds[self.nin :] if d is not None)]:
            if not np.can_cast(source, target, casting):  # type: ignore[arg-type]  # NumPy checks the name
                raise TypeError(f"{self.__name__} cannot cast {source} to {target} with casting rule {casting!r}")
        return (*loop, asked)
