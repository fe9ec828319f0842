"""What kernels are made for: the compute types of a device, how exact its arithmetic has to be, what a binding shows.

A device without 64-bit integers computes with pairs of words in their place. Every part of a kernel asks here for the
compute type of a dtype; the answer is that of the device named by the innermost :func:`for_target`, and the native one
elsewhere. Called by all of code generation; :mod:`gpuarray.codegen.emit` names the device.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.ops import spec

#: The compute types of pairs, and what they stand for.
PAIRS: Final = spec.GROUPS["pair"]
_PAIR_OF: Final = {"i64": "i64p", "u64": "u64p"}

_paired: ContextVar[bool] = ContextVar("paired", default=False)
_fast: ContextVar[bool] = ContextVar("fast", default=False)
_gradual: ContextVar[bool] = ContextVar("gradual", default=False)
_binding: ContextVar[int] = ContextVar("binding", default=1 << 62)


@contextmanager
def for_target(capabilities: Capabilities, *, fast: bool = False, gradual: bool = False) -> Iterator[None]:
    """Make compute types those of a device during the block, and functions the driver's where ``fast``.

    Where ``gradual``, sums and products are to keep subnormal numbers, by integers if the device does not.
    """
    paired, quick = _paired.set(not capabilities.native_int64), _fast.set(fast)
    kept = _gradual.set(gradual and not fast and not capabilities.subnormal_float32)
    shown = _binding.set(capabilities.binding_limit)
    try:
        yield
    finally:
        _paired.reset(paired)
        _fast.reset(quick)
        _gradual.reset(kept)
        _binding.reset(shown)


def has_wide_integers() -> bool:
    """Whether this kernel's device has 64-bit integers."""
    return not _paired.get()


def is_fast() -> bool:
    """Whether single-precision functions of this kernel may be the driver's own."""
    return _fast.get()


def makes_underflow_gradual() -> bool:
    """Whether this kernel has to do what the device does not: keep the subnormal sums and products of float32."""
    return _gradual.get()


def binding_limit() -> int:
    """Return how many bytes of a buffer one storage binding of this kernel's device shows."""
    return _binding.get()


def compute_type(dtype: DType) -> str:
    """Return the compute type in which values of ``dtype`` are held in the registers of this device's kernels."""
    native = spec.compute_type(dtype)
    return _PAIR_OF.get(native, native) if _paired.get() else native
