"""The target of a kernel: the WGSL compiler that reads it, and the facts of a device on which its text depends.

All of code generation asks here instead of passing the answers through every function. The target is that of the
innermost :func:`for_target`, which :mod:`gpuarray.codegen.emit` enters for each step; outside of it, a device with
64-bit integers whose kernels naga compiles.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from gpuarray.device import Capabilities
from gpuarray.dtypes import ALL, DType
from gpuarray.ops import spec

#: The compute types of pairs of 32-bit words, and the 64-bit integers that they replace.
PAIRS: Final = spec.GROUPS["pair"]
_PAIR_OF: Final = {"i64": "i64p", "u64": "u64p"}
#: The compute types of dtypes, by whether the target has 64-bit integers.
_COMPUTE_TYPES: Final = {
    False: {dtype: _PAIR_OF.get(kind, kind) for dtype in ALL for kind in (spec.compute_type(dtype),)},
    True: {dtype: spec.compute_type(dtype) for dtype in ALL},
}

#: The directives that a compiler of WGSL wants at the start of a kernel that uses subgroups. Tint, the compiler of
#: Chromium and Dawn, wants the extension named; and it does not see that scans call subgroup operations in uniform
#: control flow. naga, the compiler of wgpu and Firefox, rejects the first line.
_SUBGROUP_DIRECTIVES: Final = {
    "naga": (),
    "tint": ("enable subgroups;", "diagnostic(off, subgroup_uniformity);"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """The properties of a device on which the text of a kernel depends.

    Attributes
    ----------
    compiler : str
        ``"naga"`` or ``"tint"``.
    wide_integers : bool
        Whether there are 64-bit integers. Otherwise kernels compute with pairs of 32-bit words.
    fast : bool
        Whether single-precision functions may be the driver's own, which are less exact.
    gradual : bool
        Whether kernels have to keep subnormal float32 sums and products, because the device does not.
    binding_limit : int
        Bytes of a buffer that one storage binding shows.
    """

    compiler: str = "naga"
    wide_integers: bool = True
    fast: bool = False
    gradual: bool = False
    binding_limit: int = 1 << 62


_current: ContextVar[Target] = ContextVar("target", default=Target())  # noqa: B039  # it is frozen


@contextmanager
def for_target(capabilities: Capabilities, *, fast: bool = False, gradual: bool = False) -> Iterator[None]:
    """Generate code for a device during the block.

    Parameters
    ----------
    capabilities : Capabilities
        The device.
    fast : bool
        Whether single-precision functions may be the driver's own.
    gradual : bool
        Whether sums and products keep subnormal numbers, by integer arithmetic where the device flushes them to zero.
    """
    target = Target(
        compiler=capabilities.compiler,
        wide_integers=capabilities.native_int64,
        fast=fast,
        gradual=gradual and not fast and not capabilities.subnormal_float32,
        binding_limit=capabilities.binding_limit,
    )
    token = _current.set(target)
    try:
        yield
    finally:
        _current.reset(token)


def has_wide_integers() -> bool:
    """Whether the target has 64-bit integers."""
    return _current.get().wide_integers


def is_fast() -> bool:
    """Whether single-precision functions of the kernel may be the driver's own."""
    return _current.get().fast


def makes_underflow_gradual() -> bool:
    """Whether the kernel has to keep subnormal float32 sums and products by integer arithmetic."""
    return _current.get().gradual


def binding_limit() -> int:
    """Return how many bytes of a buffer one storage binding of the target shows."""
    return _current.get().binding_limit


def compute_type(dtype: DType) -> str:
    """Return the compute type in which the target's kernels hold values of ``dtype`` in registers."""
    return _COMPUTE_TYPES[_current.get().wide_integers][dtype]


def directives(text: str) -> tuple[str, ...]:
    """Return the lines that the target's compiler wants before the declarations of a kernel with this text."""
    return _SUBGROUP_DIRECTIVES[_current.get().compiler] if "subgroup" in text else ()
