"""Attributes of NumPy's and other libraries' arrays that `GpuArray` does not have, with the reason and the alternative.

``hasattr`` is False for them, as feature tests expect, and the AttributeError gives the reason.
"""

from typing import Any, Final, NoReturn

from gpuarray.source_locations import frame_at

_MEMORY: Final = "the elements are in a device's memory, which has no address here; use gpuarray.asnumpy(x)"
_FIELDS: Final = "structured dtypes are not supported; use x.view(dtype), or keep such data in NumPy arrays"

#: Why arrays lack an attribute, by its name; an empty reason is the plain one.
ABSENT: Final[dict[str, str]] = {
    "__array_finalize__": "",
    "__array_interface__": f"{_MEMORY}, as in PIL.Image.fromarray(gpuarray.asnumpy(x))",
    "__array_struct__": "",
    "__array_wrap__": "",
    "__buffer__": "",
    "__cuda_array_interface__": "",
    "__setstate__": "",
    "ctypes": _MEMORY,
    "data": f"{_MEMORY}.data",
    "getfield": _FIELDS,
    "setfield": _FIELDS,
    "factorize": "use pandas.factorize(gpuarray.asnumpy(x))",
    "bit_count": "use int(x).bit_count(), or gpuarray.bitwise_count(x)",
    "denominator": "use x.item().denominator",
    "name": "use pandas.Series(x, name=name)",
    "hex": "use float(x).hex()",
    "itemset": "NumPy 2 has no such method; use x[position] = value",
    "numerator": "use x.item().numerator",
    "newbyteorder": "NumPy 2 has no such method, and elements are in the machine's byte order",
    # CuPy
    "set": "use x[...] = values",
    "toDlpack": "use x.__dlpack__(), or the from_dlpack of the other package",
    # JAX
    "at": "arrays can be changed: use x[i] = v, or gpuarray.add.at(x, i, v)",
    "block_until_ready": "use gpuarray.synchronize()",
    # PyTorch
    "add_": "use x += y",
    "backward": "use gpuarray.grad of a function",
    "clamp": "use x.clip",
    "clone": "use x.copy()",
    "contiguous": "use gpuarray.ascontiguousarray(x)",
    "cpu": 'use x.to_device("cpu")',
    "cuda": 'use x.to_device("wgpu")',
    "dim": "use x.ndim",
    "detach": "arrays record no gradients; omit it",
    "double": "use x.astype(gpuarray.float64)",
    "expand": "use gpuarray.broadcast_to(x, shape)",
    "fill_": "use x[...] = value",
    "float": "use x.astype(gpuarray.float32)",
    "gather": "use gpuarray.take_along_axis(x, i, axis)",
    "half": "use x.astype(gpuarray.float16)",
    "index_add_": "use gpuarray.add.at(x, i, v)",
    "int": "use x.astype(gpuarray.int32)",
    "is_cuda": "use x.device",
    "long": "use x.astype(gpuarray.int64)",
    "masked_fill": "use gpuarray.where(mask, value, x)",
    "mul_": "use x *= y",
    "numel": "use x.size",
    "numpy": "use gpuarray.asnumpy(x)",
    "permute": "use x.transpose",
    "requires_grad": "arrays record no gradients, which gpuarray.grad computes of functions",
    "scatter_add_": "use gpuarray.add.at(x, i, v)",
    "t": "use x.T",
    "to": "use x.to_device(device) or x.astype(dtype)",
    "topk": "use gpuarray.argpartition and gpuarray.sort",
    "unsqueeze": "use x[None] or gpuarray.expand_dims(x, axis)",
    "zero_": "use x[...] = 0",
}


class Absent:
    """A missing attribute, whose lookup raises an AttributeError that gives the reason.

    There is a descriptor per name instead of ``__getattr__``, because NumPy looks up missing attributes of every array,
    and each failing ``__getattr__`` would take as long as recording an operation.
    """

    __slots__ = ("_message",)

    def __init__(self, name: str, reason: str) -> None:
        self._message = f"'GpuArray' object has no attribute {name!r}: {reason}"

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(self._message)  # its name and object, for suggestions, would take half of the time


class AbsentName(Absent):
    """The missing name of arrays, for which ``groupby`` of pandas asks keys before it calls those of other classes."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        if str(frame_at(1).f_globals.get("__name__")).startswith("pandas.core.groupby"):
            raise TypeError("groupby of pandas takes no GpuArray as keys; write frame.groupby(gpuarray.asnumpy(keys))")
        super().__get__(instance, owner)
