"""Comparison of derivatives with finite differences, for tests."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.autodiff import containers
from gpuarray.autodiff.arguments import Function, P
from gpuarray.autodiff.linearized import array_of
from gpuarray.autodiff.transforms import jvp, vjp


def check_grads(
    fun: Function[P],
    args: Sequence[Any],
    order: int = 2,
    modes: str | Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Raise an AssertionError unless the derivatives of a function agree with finite differences.

    Derivatives in a random direction are compared with central differences, in forward mode, and in reverse mode by
    the product with a random cotangent. Derivatives of higher order are those of the derivative that was checked.

    Parameters
    ----------
    fun : callable
        NumPy code, whose results are arrays or nested containers of them. It should not write to its arguments.
    args : sequence
        The arguments, float64 or complex128 arrays, or nested containers of them.
    order : int
        The highest order of derivatives to check.
    modes : {"fwd", "rev"} or sequence of these
        The modes to check: forward, reverse, or both.
    atol, rtol : float, optional
        Absolute and relative tolerances; 1e-5 by default, and 1e-2 for arrays of less precision.
    eps : float, optional
        Half of the distance between the two points of a difference; 1e-5 by default, and 1e-2 for less precision.

    Raises
    ------
    AssertionError
        If a derivative and a difference disagree; the message names the mode and the order.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> from gpuarray.testing import check_grads
    >>> check_grads(np.sin, (xp.asarray([0.5, 1.0]),), order=2)
    """
    wanted_modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not {*wanted_modes} <= {"fwd", "rev"}:
        raise ValueError(f"modes are 'fwd' and 'rev', not {modes!r}")
    arrays = [array_of(leaf, "an argument") for leaf in containers.leaves(tuple(args))]
    is_coarse = any(array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1) < 8 for array in arrays)
    default = 1e-2 if is_coarse else 1e-5
    limits = (default if atol is None else atol, default if rtol is None else rtol, default if eps is None else eps)
    random = np.random.default_rng(0)
    _check(fun, tuple(args), order, wanted_modes, limits, random, "")


def _check(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: Sequence[str],
    limits: tuple[float, float, float],
    random: np.random.Generator,
    path: str,
) -> None:
    atol, rtol, eps = limits
    direction = containers.rebuilt(args, lambda leaf: _direction(leaf, random))
    after, before = (_values(fun(*_moved(args, direction, step))) for step in (eps, -eps))
    desired = [(a - b) / (2 * eps) for a, b in zip(after, before, strict=True)]
    for mode in modes:
        name = f"{path}{mode}"
        if mode == "fwd":
            slope = _values(jvp(fun, args, direction)[1])
            for actual, expected in zip(slope, desired, strict=True):
                np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol, err_msg=f"derivative ({name})")
        else:
            out, pullback = vjp(fun, *args)
            ct = containers.rebuilt(out, lambda leaf: _direction(leaf, random))
            pulled = _paired(_values(pullback(ct)), _values(direction))
            expected = _paired(_values(ct), desired)
            np.testing.assert_allclose(pulled, expected, rtol=rtol, atol=atol, err_msg=f"derivative ({name})")
        if order > 1:
            derivative = _derivative(fun, mode, direction, fun(*args))
            _check(derivative, args, order - 1, modes, limits, random, f"{name} of ")


def _derivative(fun: Callable[..., Any], mode: str, direction: Any, out: Any) -> Callable[..., Any]:
    if mode == "fwd":
        return lambda *args: jvp(fun, args, direction)[1]
    random = np.random.default_rng(1)
    ct = containers.rebuilt(out, lambda leaf: _direction(leaf, random))
    return lambda *args: vjp(fun, *args)[1](ct)


def _direction(leaf: Any, random: np.random.Generator) -> GpuArray:
    array = array_of(leaf, "an argument")
    values = random.standard_normal(array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * random.standard_normal(array.shape)
    if array.dtype.kind not in "fc":
        values = np.zeros(array.shape)
    return array_of(values.astype(array.dtype), "a direction") if array.shape else array * 0 + array.dtype.type(values)


def _moved(args: Any, direction: Any, step: float) -> Any:
    steps = iter(containers.leaves(direction))
    return containers.rebuilt(args, lambda leaf: leaf + step * next(steps))


def _values(tree: Any) -> list[Any]:
    return [array_of(leaf, "a result").get() for leaf in containers.leaves(tree)]


def _paired(first: Sequence[Any], second: Sequence[Any]) -> Any:
    return sum(np.sum(np.real(a * b)) for a, b in zip(first, second, strict=True))
