"""Arguments of the namespace's functions: made into arrays, devices and shapes, and results written to ``out``."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from gpuarray.array import GpuArray, as_node, default_device, device_of, make, wrap
from gpuarray.config import config, strictness, using
from gpuarray.device import Device
from gpuarray.dtypes import DType
from gpuarray.graph import build, standard
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.runtime import evaluate

ArrayLike: TypeAlias = Any
Axis: TypeAlias = int | tuple[int, ...] | None
DeviceLike: TypeAlias = Device | str | None
DTypeLike: TypeAlias = npt.DTypeLike | None
F = TypeVar("F", bound=Callable[..., Any])

_LARGEST = np.iinfo(np.intp).max


def as_array(value: ArrayLike, device: Device | None = None) -> GpuArray:
    """Return an array, a scalar or a sequence as an array; itself if it is one."""
    if isinstance(value, GpuArray):
        return value
    return make(as_node(value), device or device_of(value) or default_device())


def as_arrays(*values: ArrayLike) -> list[GpuArray]:
    """Return values as arrays, those that are none yet on the device of those that are."""
    device: Device | None = None
    for value in values:
        if type(value) is not GpuArray or (device is not None and value.device is not device):
            break
        device = value.device
    else:
        return [*values]
    device = device_of(*values)
    return [as_array(value, device) for value in values]


def result(node: Node, *operands: Any) -> GpuArray:
    """Return an array of ``node`` on the joint device of the operands it was made of."""
    return wrap(node, device_of(*operands) or default_device())


def wanted_device(device: DeviceLike, *operands: Any) -> Device:
    """Return the device that a function's argument names; without one that of the operands, or the default.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    if device is None:
        return device_of(*operands) or default_device()
    wanted = Device(device)
    if wanted.kind not in ("auto", "cpu"):
        evaluate.check_device(wanted)
    return wanted


def standard_function(function: F) -> F:
    """Have the arrays given to a function of the standard checked where ``config.strict_array_api`` is on.

    What the function does with them is no part of the standard, and is not checked. Functions that are recorded often
    call :func:`gpuarray.graph.standard.require` themselves, which costs less.
    """
    given = inspect.signature(function).parameters.values()
    arrays = sum(p.kind is p.POSITIONAL_ONLY and p.name.startswith("x") for p in given)

    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if not (strictness.possible and config.current.strict_array_api):
            return function(*arguments, **keywords)
        scalar = (bool, int, float, complex)
        standard.require(function.__name__, *(v if type(v) in scalar else as_array(v) for v in arguments[:arrays]))
        with using(strict_array_api=False):
            return function(*arguments, **keywords)

    return cast(F, checked)


def checked_shape(shape: Any, dtype: DType) -> Shape:
    """Return a shape argument as a tuple, if an array of that shape can exist.

    Raises
    ------
    ValueError
        If the elements would take more bytes than addresses can count.
    """
    extents = build.resolve_shape(shape)
    check_nbytes(extents, dtype)
    return extents


def check_nbytes(shape: Shape, dtype: DType) -> None:
    """Raise ValueError, as NumPy does, if an array of ``shape`` would be larger than what addresses can count."""
    nbytes = dtype.itemsize
    for extent in shape:
        nbytes *= extent or 1
    if nbytes > _LARGEST and 0 not in shape:
        raise ValueError(
            f"array is too big; an array of shape {shape} and dtype {dtype.name} takes {nbytes} bytes, and the largest "
            f"possible size is {_LARGEST}"
        )


def write_out(value: GpuArray, out: Any) -> Any:
    """Return ``value``, or ``out`` with it written there: an array of this package or a NumPy array.

    Raises
    ------
    TypeError
        If ``out`` is no array, or the dtype cannot be cast to its dtype by the rule ``same_kind``.
    ValueError
        If the shapes differ.
    """
    if out is None:
        return value
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if not isinstance(out, GpuArray | np.ndarray):
        raise TypeError(f"return arrays must be of ArrayType, not {type(out).__name__}")
    if out.shape != value.shape:
        raise ValueError(
            f"output array does not match the result: its shape is {out.shape}, the result's {value.shape}"
        )
    if not np.can_cast(value.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast output from {value.dtype!r} to {out.dtype!r} with casting rule 'same_kind'")
    if isinstance(out, GpuArray):
        out.assign(value)
    else:
        np.copyto(out, np.asarray(value), casting="same_kind")
    return out
