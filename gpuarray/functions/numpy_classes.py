"""What calls a Python function for each element, or iterates over elements, as NumPy's classes of these names."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpuarray.functions.arguments import gpu_arrays
from gpuarray.functions.host import on_host

__all__ = ["nditer", "vectorize"]


class vectorize(np.vectorize):  # noqa: N801  # NumPy's name
    """A Python function that is called for each element, as :class:`numpy.vectorize`.

    The host calls it, on a copy of the elements; results are arrays of this package. Functions of arrays, with
    :func:`gpuarray.where` for conditions, run on the device instead.

    Examples
    --------
    >>> import gpuarray as xp
    >>> larger = xp.vectorize(lambda a, b: a if a > b else b)
    >>> larger(xp.asarray([1, 5]), 3).tolist()
    [3, 5]
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the function's results for the elements of arrays, which broadcast."""
        return on_host(super().__call__, args, kwargs, "a Python function is called for each element", "vectorize")


def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> np.nditer:
    """Return an iterator over the elements of arrays, a :class:`numpy.nditer` of copies on the host.

    Parameters
    ----------
    op : array_like or sequence of array_like
        The operands.
    flags : sequence of str, optional
        As in NumPy.
    op_flags : sequence of sequence of str, optional
        As in NumPy.
    *args, **kwargs
        Other parameters of NumPy's class.

    Raises
    ------
    TypeError
        If an array of this package is to be written to.
    """
    operands = op if isinstance(op, tuple | list) else (op,)
    flags_of = _by_operand(op_flags, len(operands))
    written = [x for x, given in zip(operands, flags_of, strict=False) if "readonly" not in given]
    if next(gpu_arrays(written), None) is not None:
        raise TypeError(
            "nditer cannot write to a GpuArray, as it would write to a copy; compute with whole arrays, or iterate "
            "over gpuarray.asnumpy(x) and assign the result with x[...] = host"
        )
    return np.nditer(op, flags, op_flags, *args, **kwargs)


def _by_operand(op_flags: Any, count: int) -> Sequence[Sequence[str]]:
    """Return the flags of each operand; one list of texts is for all of them."""
    if not op_flags:
        return [("readonly",)] * count
    return [op_flags] * count if isinstance(op_flags[0], str) else [*op_flags]
