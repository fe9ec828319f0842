"""Comparison with NumPy, for the tests of this package and of programs that use it.

:func:`assert_same` compares a result with NumPy's: structure, shape, dtype and elements. :func:`check_function` runs a
function with NumPy arrays and with arrays on each device, and compares what it returns, writes and raises. The
assertions of :mod:`numpy.testing`, which take arrays of both packages, are here too. :func:`failing` lets one call of a
provider fail.

:data:`TOLERANCES` is the only table of tolerances. ``import gpuarray`` does not import this module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numpy.testing import (
    assert_allclose,
    assert_approx_equal,
    assert_array_almost_equal,
    assert_array_almost_equal_nulp,
    assert_array_equal,
    assert_array_less,
    assert_array_max_ulp,
    assert_raises,
    assert_raises_regex,
    assert_string_equal,
)

from gpuarray.array import GpuArray
from gpuarray.autodiff.checks import check_grads
from gpuarray.autodiff.containers import leaves, rebuilt
from gpuarray.config import using
from gpuarray.device import Device
from gpuarray.functions.absent import missing
from gpuarray.functions.creation import asarray
from gpuarray.functions.evaluation import devices as available_devices
from gpuarray.functions.evaluation import evaluate

__all__ = [
    "TOLERANCES", "Fault", "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp",
    "assert_equal", "assert_raises", "assert_raises_regex", "assert_same", "assert_string_equal", "check_function",
    "check_grads", "failing",
]  # fmt: skip

if not TYPE_CHECKING:  # a checker would take any name for one of the module's
    __getattr__ = missing("testing")

#: Relative tolerances by the precision of a dtype, for functions of many operations whose order is not NumPy's, such as
#: sums and products of matrices. Other dtypes must be equal.
TOLERANCES: Final[Mapping[str, float]] = MappingProxyType(
    {"float16": 2e-2, "float32": 1e-5, "float64": 1e-11, "complex64": 1e-5, "complex128": 1e-11}
)

Tolerance = float | Mapping[str, float]
_F = TypeVar("_F", bound=Callable[..., None])


def _of_host_copies(function: _F) -> _F:
    """Return an assertion of NumPy, which takes arrays of other packages for scalars, for copies on the host."""

    @wraps(function)
    def compare(actual: Any, desired: Any, *args: Any, **kwargs: Any) -> None:
        function(_hosted(actual), _hosted(desired), *args, **kwargs)

    return cast(_F, compare)


def _hosted(value: Any) -> Any:
    """Replace arrays by host copies, also in containers."""
    return rebuilt(value, lambda leaf: leaf.get() if isinstance(leaf, GpuArray) else leaf)


assert_almost_equal = _of_host_copies(np.testing.assert_almost_equal)
assert_equal = _of_host_copies(np.testing.assert_equal)


def assert_same(
    actual: Any,
    desired: Any,
    *,
    ulp: float = 0,
    rtol: Tolerance = 0,
    atol: float = 0,
    signed_zeros: bool = True,
    message: str = "",
) -> None:
    """Raise an AssertionError unless a result is the one that NumPy computed.

    Lists, tuples and dictionaries are compared item by item. Where `desired` has a NumPy array or scalar, `actual` must
    have an array of this package with the same shape, dtype and elements. NaN equals NaN. Other objects must have the
    same type and be equal.

    Parameters
    ----------
    actual : GpuArray or object
        The result to check.
    desired : ndarray or object
        The result of NumPy.
    ulp : float, optional
        Number of units in the last place of the desired element by which a floating-point element may differ. A unit is
        not smaller than the smallest normal number. The parts of a complex element count together: its distance is
        compared with `ulp` times four times the machine epsilon times its modulus, which counts as at least 1/4.
    rtol : float or mapping, optional
        A relative tolerance, or one for each name of a dtype, such as :data:`TOLERANCES`. An element may differ by
        ``rtol * (abs(element) + min(1, scale))``, where ``scale`` is the largest finite modulus in the desired array.
    atol : float, optional
        An absolute tolerance, for functions whose exact result is zero.
    signed_zeros : bool, optional
        If True, zeros must have the same sign. Only checked if no tolerance is given.
    message : str, optional
        The beginning of the error message.

    Raises
    ------
    AssertionError
        If the results differ.

    See Also
    --------
    check_function : Compare a function on several devices with NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> from gpuarray.testing import assert_same
    >>> x = np.arange(5.0)
    >>> assert_same(xp.asarray(x) + 1, x + 1)
    >>> assert_same(np.exp(xp.asarray(x)), np.exp(x), ulp=4)
    """
    if isinstance(desired, np.ndarray | np.generic):
        _require(isinstance(actual, GpuArray), message, f"a GpuArray is desired, not {type(actual).__name__}")
        _assert_same_array(actual, np.asarray(desired), ulp, rtol, atol, signed_zeros, message)
    elif isinstance(desired, list | tuple | dict):
        compare = partial(assert_same, ulp=ulp, rtol=rtol, atol=atol, signed_zeros=signed_zeros)
        _assert_same_items(actual, desired, compare, message)
    else:
        name = type(desired).__name__
        _require(type(actual) is type(desired), message, f"a {name} is desired, not {type(actual).__name__}")
        _require(actual == desired, message, f"{desired!r} is desired, not {actual!r}")


def check_function(
    function: Callable[..., Any],
    *arguments: Any,
    devices: Iterable[str | Device] | None = None,
    ulp: float = 0,
    rtol: Tolerance = TOLERANCES,
) -> None:
    """Call a function with NumPy arrays and with arrays on each device, and compare results and errors.

    The results are compared, the arrays among the arguments after the call, to which the function may write, and
    errors: where NumPy raises an exception, each device must raise one of the same public class or of a subclass. Each
    call gets copies. NumPy's warnings of floating-point errors are off.

    Parameters
    ----------
    function : callable
        A function of arrays that calls NumPy's functions, array methods or operators.
    *arguments : ndarray or object
        Its arguments. NumPy arrays, also in lists, tuples and dictionaries, are put on the device; other objects are
        passed as they are.
    devices : iterable of Device or str, optional
        The devices; all available ones if None.
    ulp, rtol : float or mapping, optional
        The tolerances of :func:`assert_same`. `rtol` is :data:`TOLERANCES` by default.

    Raises
    ------
    AssertionError
        If a result, an argument after the call, or an error differs. The message names the device.

    See Also
    --------
    assert_same : Compare one result with NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> from gpuarray.testing import check_function
    >>> def standardize(x):
    ...     return (x - x.mean(axis=0)) / x.std(axis=0)
    >>> check_function(standardize, np.arange(12.0).reshape(4, 3), devices=["cpu"])
    """
    host = [_map_arrays(argument, np.array) for argument in arguments]
    desired, expected_error = _outcome(function, host)
    for device in available_devices() if devices is None else devices:
        message = f"on {device}"
        with using(device=device):
            put = [_map_arrays(argument, asarray) for argument in arguments]
            actual, error = _outcome(function, put)
            if expected_error is not None:
                kind = _public_class(expected_error)
                _require(error is not None, message, f"{kind.__name__} is desired, but the function returned")
                if not isinstance(error, kind):
                    raise AssertionError(f"{message}: {kind.__name__} is desired, not {error!r}") from error
                continue
            if error is not None:
                raise AssertionError(f"{message}: {error!r} was raised, but NumPy returned") from error
            assert_same(actual, desired, ulp=ulp, rtol=rtol, message=f"{message}, result")
            for number, (here, there) in enumerate(zip(put, host, strict=True)):
                assert_same(here, there, ulp=ulp, rtol=rtol, message=f"{message}, argument {number} after the call")


def _outcome(function: Callable[..., Any], arguments: list[Any]) -> tuple[Any, Exception | None]:
    """Return the evaluated result of a call, or the exception that it raised."""
    try:
        with np.errstate(all="ignore"):
            result = function(*arguments)
            evaluate(*[leaf for leaf in leaves((result, arguments)) if isinstance(leaf, GpuArray)])  # may raise errors
    except Exception as error:
        return None, error
    return result, None


def _public_class(error: Exception) -> type[BaseException]:
    """Return the first public class of an exception, because NumPy's ``UFuncTypeError`` and others are private."""
    return next(
        kind for kind in type(error).__mro__ if not kind.__name__.startswith("_") and "._" not in kind.__module__
    )


def _map_arrays(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return a value with a function applied to the NumPy arrays in its containers."""
    return rebuilt(value, lambda leaf: function(leaf) if isinstance(leaf, np.ndarray) else leaf)


def _require(condition: bool, message: str, text: str) -> None:
    if not condition:
        raise AssertionError(f"{message}: {text}" if message else text)


def _assert_same_items(actual: Any, desired: Any, compare: Callable[..., None], message: str) -> None:
    kind = dict if isinstance(desired, dict) else list if isinstance(desired, list) else tuple
    _require(isinstance(actual, kind), message, f"a {kind.__name__} is desired, not {type(actual).__name__}")
    _require(len(actual) == len(desired), message, f"{len(desired)} items are desired, not {len(actual)}")
    for key, item in desired.items() if kind is dict else enumerate(desired):
        _require(kind is not dict or key in actual, message, f"no item {key!r}")
        compare(actual[key], item, message=f"{message}[{key!r}]")


def _assert_same_array(
    actual: GpuArray,
    desired: npt.NDArray[Any],
    ulp: float,
    rtol: Tolerance,
    atol: float,
    signed_zeros: bool,
    message: str,
) -> None:
    for array in (actual, np.asarray(actual)):  # an array states shape and dtype before it has elements
        _require(array.shape == desired.shape, message, f"shape {desired.shape} is desired, not {array.shape}")
        _require(array.dtype == desired.dtype, message, f"dtype {desired.dtype} is desired, not {array.dtype}")
    result = np.asarray(actual)
    limit = rtol.get(desired.dtype.name, 0) if isinstance(rtol, Mapping) else rtol
    if desired.dtype.kind in "fc" and (ulp or limit or atol):
        with np.errstate(all="ignore"):
            _assert_close(result, desired, ulp, limit, atol, message)
        return
    np.testing.assert_array_equal(result, desired, err_msg=message, strict=True)
    if desired.dtype.kind in "fc" and signed_zeros:
        for name in ("real", "imag")[: 1 + (desired.dtype.kind == "c")]:
            part, wanted = getattr(result, name), getattr(desired, name)
            numbers = ~np.isnan(wanted)
            signs = f"{message} (signs of zeros)".strip()
            np.testing.assert_array_equal(np.signbit(part[numbers]), np.signbit(wanted[numbers]), err_msg=signs)


def _assert_close(
    result: npt.NDArray[Any], desired: npt.NDArray[Any], ulp: float, rtol: float, atol: float, message: str
) -> None:
    """Compare elements that are not finite exactly, and the others with the largest of the tolerances."""
    finite = np.isfinite(desired)
    np.testing.assert_array_equal(result[~finite], desired[~finite], err_msg=message)
    wide = np.complex128 if desired.dtype.kind == "c" else np.float64
    wanted = desired[finite].astype(wide)
    apart = np.abs(result[finite].astype(wide) - wanted)
    size = np.abs(wanted)
    information = np.finfo(desired.dtype)
    if desired.dtype.kind == "c":
        unit = np.maximum(float(information.eps) * 4 * size, float(information.eps))
    else:
        below = np.minimum(np.abs(desired[finite]), information.max / 2)  # the spacing of the largest number is inf
        unit = np.maximum(np.spacing(below), information.tiny).astype(np.float64)
    relative = rtol * size + rtol * min(1.0, float(size.max(initial=0)))
    allowed = np.maximum(np.maximum(ulp * unit, relative), atol)
    wrong = ~(apart <= allowed)
    if wrong.any():
        worst = float((apart / unit).max())
        raise AssertionError(
            f"{message}\n{int(wrong.sum())} of {desired.size} elements differ by more than is allowed, "
            f"the worst by {worst:.3g} units in the last place\n actual: {result}\n desired: {desired}".lstrip()
        )


class Fault(Exception):  # noqa: N818  # the name of the concept
    """The default error of a call that :func:`failing` lets fail."""


#: The methods of a provider that may fail.
_CALLS: Final = (
    "allocate",
    "allocate_all",
    "prepare",
    "write",
    "read",
    "read_words",
    "run",
    "repeat",
    "synchronize",
    "export",
    "adopt",
)


@contextmanager
def failing(
    provider: Any, number: int, *, after: bool, error: Callable[[str], BaseException] = Fault
) -> Iterator[list[str]]:
    """Let one call of a provider fail while the context is active.

    Parameters
    ----------
    provider : Provider
        The provider.
    number : int
        Which call fails, counted from 0.
    after : bool
        Whether the call takes effect before it fails.
    error : callable, optional
        Returns the exception for a message.

    Yields
    ------
    list of str
        The names of the calls so far.
    """
    calls: list[str] = []

    def wrapped(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            calls.append(name)
            if len(calls) - 1 != number:
                return call(*arguments, **keywords)
            if after:
                call(*arguments, **keywords)
            raise error(f"call {number} of the device, {name}, was made to fail")

        return wrapper

    names = [name for name in _CALLS if hasattr(provider, name)]
    for name in names:
        setattr(provider, name, wrapped(name, getattr(provider, name)))
    try:
        yield calls
    finally:
        for name in names:
            delattr(provider, name)
