"""The array class: a storage cell seen through a layout, with the interface of NumPy and the array API standard.

Modules: :mod:`storage` has cells and views, :mod:`compaction` boolean selection, :mod:`selection`
indexing, :mod:`operators` recording, :mod:`methods` NumPy's methods, :mod:`arrays` conversions and protocols. Other
packages import from here.
"""

from gpuarray.array.arrays import GpuArray, apply, are_known, from_host, made_of, make, wrap
from gpuarray.array.cells import AUTO, CPU, Cell, is_cpu, joint_device
from gpuarray.array.compaction import Compaction, compaction
from gpuarray.array.operands import (
    WEAK,
    as_element,
    as_node,
    as_operand,
    assigned_node,
    default_device,
    default_dtype,
    device_of,
    dtype_of,
    holds_arrays,
    joint_device_of,
    placed_node,
    weak_node,
)
from gpuarray.array.recorded import recorded

__all__ = [
    "AUTO", "CPU", "WEAK", "Cell", "Compaction", "GpuArray", "apply", "are_known", "as_element", "as_node",
    "as_operand", "assigned_node", "compaction", "default_device", "default_dtype", "device_of", "dtype_of",
    "from_host", "holds_arrays", "is_cpu", "joint_device", "joint_device_of", "made_of", "make", "placed_node",
    "recorded", "weak_node", "wrap",
]  # fmt: skip
