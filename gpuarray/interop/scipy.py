"""SciPy: the functions of ``scipy.ndimage`` write to arrays of this package that are given for outputs.

They compute on the host, and write to ``np.asarray(output)``, which is a copy of an array of this package. Here they
write to a copy that is theirs, and its elements are assigned to the array.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature, unwrap
from typing import Any, Final

from scipy import ndimage
from scipy.ndimage import _ndimage_api, _ni_support, _support_alternative_backends

from gpuarray.array import GpuArray
from gpuarray.runtime import telemetry

#: What the parameters are called that functions write to.
OUTPUTS: Final = ("output", "distances", "indices")
#: Functions that write with what the namespace of the arrays has.
_ABLE: Final = frozenset(("vectorized_filter",))


def with_outputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that writes to arrays of this package too, for one that writes to NumPy's."""
    parameters = signature(function)

    @wraps(function)
    def writing(*arguments: Any, **keywords: Any) -> Any:
        given = parameters.bind(*arguments, **keywords)
        outputs = [(name, given.arguments.get(name)) for name in OUTPUTS]
        copies: list[tuple[GpuArray, Any]] = []
        for name, output in outputs:
            if isinstance(output, GpuArray):
                output.check_writeable()
                telemetry.transfer(f"{name}= of scipy.ndimage.{function.__name__}", output.nbytes, output.device)
                given.arguments[name] = copy = output.get()
                copies.append((output, copy))
        result = function(*given.args, **given.kwargs)
        for output, copy in copies:
            output[...] = copy
        return next((output for output, copy in copies if result is copy), result)

    return writing


def _refuse(get_output: Callable[..., Any]) -> Callable[..., Any]:
    """Return SciPy's function that finds what to write to, without arrays of which it would take a copy."""

    @wraps(get_output)
    def checked(output: Any, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(output, GpuArray):
            raise TypeError(
                "output= was given a GpuArray, which a function that was taken from scipy.ndimage before gpuarray was "
                "imported cannot write to; import gpuarray before, or call it as scipy.ndimage.name(...)"
            )
        return get_output(output, *arguments, **keywords)

    return checked


def register() -> None:
    """Let SciPy's functions write to arrays of this package, by whatever name they were imported."""
    for name in _ndimage_api.__all__:
        public = getattr(ndimage, name)
        own = unwrap(public)
        if name in _ABLE or not {*OUTPUTS} & {*signature(own).parameters}:
            continue
        writing = with_outputs(own)
        if public is own:  # SciPy was told not to look at the arrays' namespaces
            for module in (ndimage, _support_alternative_backends, _ndimage_api):
                setattr(module, name, writing)
        else:
            public.__closure__[public.__code__.co_freevars.index("func")].cell_contents = writing
    _ni_support._get_output = _refuse(_ni_support._get_output)
