"""What NumPy's arrays have and these do not, with the reason and what to use instead.

A missing name stays missing (``hasattr`` is False, as code that asks for features expects), but says why.
"""

from typing import Any, Final, NoReturn

_MEMORY: Final = "the elements are in a device's memory, which has no address here; use gpuarray.asnumpy(x)"
_FIELDS: Final = "structured dtypes are not supported; use x.view(dtype), or keep such data in NumPy arrays"

#: Why arrays lack an attribute, by its name; an empty reason is the plain one.
ABSENT: Final[dict[str, str]] = {
    "__array_finalize__": "",
    "__array_interface__": "",
    "__array_struct__": "",
    "__array_wrap__": "",
    "__buffer__": "",
    "__cuda_array_interface__": "",
    "__setstate__": "",
    "ctypes": _MEMORY,
    "data": f"{_MEMORY}.data",
    "getfield": _FIELDS,
    "setfield": _FIELDS,
    "itemset": "NumPy 2 has no such method; use x[position] = value",
    "newbyteorder": "NumPy 2 has no such method, and elements are in the machine's byte order",
    "numpy": "use gpuarray.asnumpy(x)",
    "cpu": 'use x.to_device("cpu")',
    "cuda": 'use x.to_device("wgpu")',
}


class Absent:
    """A missing attribute of a class: looking it up raises an AttributeError that says why.

    A descriptor for each name, and no ``__getattr__`` for all: NumPy asks every array that it is given for attributes
    which are missing, and each question would take as long as recording an operation.
    """

    __slots__ = ("_name", "_reason")

    def __init__(self, name: str, reason: str) -> None:
        self._name = name
        self._reason = reason

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        message = f"{owner.__name__!r} object has no attribute {self._name!r}: {self._reason}"
        raise AttributeError(message, name=self._name, obj=instance)
