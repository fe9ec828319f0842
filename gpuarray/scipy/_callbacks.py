"""Functions of SciPy that call functions of the user, which compute on a device while SciPy iterates on the host.

Values cross the border between both: what SciPy passes to a function of the user becomes an array of this package, and
what that function returns becomes NumPy's. Each read of a result from a device counts as a transfer, at the line that
calls SciPy.
"""

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from inspect import signature
from typing import Any, Final

import numpy as np
from scipy import optimize

from gpuarray import dtypes
from gpuarray.array import GpuArray, default_device, joint_device_of
from gpuarray.config import config
from gpuarray.device import Device
from gpuarray.functions.arguments import gpu_arrays
from gpuarray.functions.creation import asarray
from gpuarray.functions.evaluation import evaluate
from gpuarray.graph import tape
from gpuarray.runtime import telemetry
from gpuarray.source_locations import Origin, find_origin, frame_at

#: Arguments that SciPy passes on to functions of the user, and does not compute with.
_PASSED: Final = frozenset(("args", "consargs", "xdata"))
#: Functions with an interface of their own: that of ``minimize``, and that of ``map``.
_TAKEN: Final = frozenset(("method", "workers"))
#: SciPy's classes whose attributes are arrays and functions.
_CONSTRAINTS: Final = (optimize.Bounds, optimize.LinearConstraint, optimize.NonlinearConstraint)


class Border:
    """The border between SciPy and functions of the user during one call.

    Parameters
    ----------
    name : str
        The name of SciPy's function.
    device : Device
        Where the functions of the user compute.
    where : Origin or None
        The line that calls SciPy.
    """

    def __init__(self, name: str, device: Device, where: Origin | None) -> None:
        self.name, self.device, self.where = name, device, where

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "where": None}  # for processes that SciPy starts

    def inward(self, value: Any, name: str = "") -> Any:
        """Return an argument, or a result of a function of the user, for SciPy."""
        if name in _PASSED:
            return self.outward(value)
        if isinstance(value, GpuArray):
            return self._values(value)
        if type(value) in (list, tuple):
            return type(value)([self.inward(item) for item in value])
        if isinstance(value, dict):
            return _mapped(self.inward, value)
        if isinstance(value, _CONSTRAINTS):
            constraints = copy(value)
            for attribute, item in vars(value).items():
                setattr(constraints, attribute, self.inward(item))
            return constraints
        if name in _TAKEN or not callable(value) or isinstance(value, type) or _is_of_scipy(value):
            return value
        return Callback(value, self)

    def outward(self, value: Any, name: str = "") -> Any:
        """Return a value of SciPy with arrays of this package in place of NumPy's; numbers stay numbers."""
        if isinstance(value, np.ndarray):
            return asarray(value, device=self.device) if dtypes.is_supported(value.dtype) else value
        if type(value) in (list, tuple):
            return type(value)([self.outward(item) for item in value])
        return _mapped(self.outward, value) if isinstance(value, dict) else value

    def _values(self, array: GpuArray) -> Any:
        if tape.state.tapes:
            tape.check_reader(array.settled(), self.where and (self.name, self.where))
        telemetry.transfer(self.name, array.nbytes, array.device, where=self.where)
        return array.get()[()]


class Callback:
    """A function of the user, as SciPy calls it. Its attributes are those of the function.

    Parameters
    ----------
    function : callable
        The function.
    border : Border
        Through which its arguments and results pass.
    """

    def __init__(self, function: Callable[..., Any], border: Border) -> None:
        vars(self).update(__wrapped__=function, _border=border)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        border = vars(self)["_border"]
        result = vars(self)["__wrapped__"](*border.outward(args), **border.outward(kwargs))
        evaluate(*gpu_arrays(result))
        return border.inward(result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(vars(self)["__wrapped__"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["__wrapped__"], name, value)


def called(original: Callable[..., Any], name: str, prepare: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function of SciPy, with functions among its arguments, that takes and returns arrays of this package.

    Parameters
    ----------
    original : callable
        SciPy's function.
    name : str
        Its dotted name.
    prepare : callable, optional
        Changes the arguments, which it gets in a dictionary.
    """
    parameters = signature(original)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = parameters.bind(*args, **kwargs)
        joint = joint_device_of(gpu_arrays([args, kwargs]))
        with nullcontext() if joint is None else config.using(device=str(joint)):  # new arrays are there, too
            border = Border(name, joint or default_device(), find_origin(frame_at(1)))
            given = bound.arguments
            if prepare is not None:
                prepare(given)
            for key, value in given.items():
                given[key] = border.inward(value, key)
            return border.outward(original(*bound.args, **bound.kwargs))

    return call


def _mapped(change: Callable[[Any, str], Any], value: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary, or a result of SciPy, with other items."""
    result = copy(value)
    for key, item in value.items():
        result[key] = change(item, key)
    return result


def _is_of_scipy(value: Any) -> bool:
    """Whether a function, or the class of an object, is SciPy's own."""
    modules = type(value).__module__, getattr(value, "__module__", None) or ""
    return any(module.startswith("scipy.") for module in modules)
