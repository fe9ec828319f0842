"""Operators, indexing and conversions of small arrays in host memory, in C where the package was built with a compiler.

A loop over elements calls them once or several times for each element, and in Python each call takes a multiple of the
time that NumPy takes. The functions in C handle operands with values in host memory and call the methods in Python for
all others. Without the extension module the methods in Python do everything, with the same results.
"""

from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import TYPE_CHECKING, Any, Final

from gpuarray import extensions
from gpuarray.runtime import telemetry
from gpuarray.runtime.history import without_frames
from gpuarray.runtime.placement import trials

#: The version of the interface between the extension module and this package; the source of the module states it too.
_VERSION: Final = 18
_compiled: Final = extensions.load("gpuarray.array._compiled", _VERSION)

if TYPE_CHECKING or _compiled is None:

    class CompiledOperators:
        """The base of a class with compiled operators, of which there are none."""

        __slots__ = ()

else:
    CompiledOperators = _compiled.CompiledOperators

#: Whether operators are compiled.
IS_COMPILED: Final = _compiled is not None


def _not_compiled(*arguments: Any) -> Any:
    """Return None, as nothing is compiled."""


def _not_called(*arguments: Any) -> Any:
    """Return NotImplemented, as nothing is compiled."""
    return NotImplemented


#: ``apply(op, *values)``: what the method ``_apply`` of the class returns, which it calls unless arrays are small; None
#: if nothing is compiled.
apply: Final[Callable[..., Any] | None] = None if _compiled is None else _compiled.apply
#: ``call(function, arguments, keywords, most, growth, may_be_view)``: the result of a function of NumPy for small
#: arrays whose sizes have a product of at most ``most``, or whose result is small for another reason; None if the call
#: is not a plain one. A large or otherwise unusual result is an array of NumPy.
call: Final[Callable[..., Any]] = _not_compiled if _compiled is None else _compiled.call
#: ``call_with_values(function, arguments, keywords, positional, rules)``: what a function returns that only reads the
#: elements of arrays, with arrays of this package; NotImplemented if the rules do not allow the call.
call_with_values: Final[Callable[..., Any]] = _not_called if _compiled is None else _compiled.call_with_values
#: The growth of results of ``call``: they have at most the product of the sizes of several arrays, the shape of the
#: arrays if they have one, the size of the array times the integers, that of a factor whose other one is a vector, as
#: many elements as the integers say, the square of the largest extent, or the product of the sizes, which is no larger
#: than that of arrays that are computed at once. Sums of these have the least of several.
PRODUCTS, ELEMENTS, MULTIPLES, VECTORS, INTEGERS, MATRICES, PAIRS = 1, 2, 4, 8, 16, 32, 64
#: Other bounds of arrays that are made of numbers than a power of their product: the first argument is the data
#: (numbers, sequences of them, or an array of NumPy), or the shape; the first three are the ends and the step of a
#: range, or the ends and the number of elements.
DATA, SHAPE, RANGE, SPACED = 0, -1, -2, -3
#: ``view(array, name, arguments)``: the view of a small array that a method of NumPy returns; None if it is no view of
#: the array's memory.
view: Final[Callable[..., Any]] = _not_compiled if _compiled is None else _compiled.view


def of_values(general: Callable[..., Any], function: Callable[..., Any], positional: int, rules: Any) -> Any:
    """Return a function that calls another one with the elements of small arrays, without a step in Python.

    Parameters
    ----------
    general : callable
        The function, which is called where ``call_with_values`` returns NotImplemented.
    function : callable
        The function that is called with the elements, which it only reads.
    positional, rules
        Those of ``call_with_values``.

    Returns
    -------
    callable
        The general function itself, if nothing is compiled.
    """
    if _compiled is None:
        return general
    return update_wrapper(_compiled.of_values(general, function, positional, rules), general)


def of_numpy(general: Callable[..., Any], shown: Callable[..., Any], function: Callable[..., Any], *rules: Any) -> Any:
    """Return a function that calls one of NumPy with the elements of small arrays, without a step in Python.

    Parameters
    ----------
    general : callable
        ``general(result, arguments, keywords)`` returns the result of any other call; ``result`` is NumPy's, if that is
        large or otherwise unusual, or None.
    shown : callable
        The function whose name, signature and docstring it has.
    function : callable
        The function of NumPy.
    *rules
        The others of ``_compiled.of_numpy``.
    """
    if _compiled is not None:
        return update_wrapper(_compiled.of_numpy(general, function, *rules), shown)

    @without_frames
    @wraps(shown)
    def run(*arguments: Any, **keywords: Any) -> Any:
        return general(None, arguments, keywords)

    return run


def of_ufunc(general: Callable[..., Any], ufunc: Any) -> Any:
    """Return a function that applies a ufunc to small arrays without a step in Python; a general one does the rest."""
    if _compiled is None:
        return without_frames(general)
    return update_wrapper(_compiled.of_ufunc(general, ufunc), general)


def of_numbers(
    general: Callable[..., Any], of_arrays: Callable[..., Any], function: Callable[..., Any], bound: int
) -> Any:
    """Return a function that calls one of NumPy to make small arrays of numbers, without a step in Python.

    Parameters
    ----------
    general : callable
        The function, which is called otherwise.
    of_arrays : callable
        The function that it calls if the first argument is an array of this package.
    function : callable
        The function of NumPy.
    bound : int
        An array has at most as many elements as the product of the numbers to this power, or one of DATA, SHAPE, RANGE
        and SPACED.

    Returns
    -------
    callable
        The general function itself, if nothing is compiled.
    """
    if _compiled is None:
        return general
    return update_wrapper(_compiled.of_numbers(general, of_arrays, function, bound), general)


def install(*arguments: Any) -> None:
    """Put the compiled operators in front of the methods of a class, if there are any.

    The arguments are those of ``_compiled.install``.
    """
    if _compiled is not None:
        _compiled.install(*arguments)
        telemetry.operations_of.append(_compiled.take_count)
        trials.computed_by.append(_compiled.take_midsize)
