"""Functions with user-defined derivatives, constants, and functions that are computed again for their derivative."""

import functools
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any

from gpuarray.array import GpuArray, wrap
from gpuarray.autodiff import containers
from gpuarray.autodiff.arguments import Function, P
from gpuarray.autodiff.linearized import Point, array_of, tangents_of
from gpuarray.autodiff.pieces import Pullback
from gpuarray.autodiff.subgraph import Cotangents, Subgraph, differentiated, unshared, zeros_like
from gpuarray.device import Device
from gpuarray.errors import DerivativeError
from gpuarray.functions.arguments import device_among
from gpuarray.graph import build, tape
from gpuarray.graph.nodes import Map, Node
from gpuarray.ops import elementwise as ops

__all__ = ["checkpoint", "custom_jvp", "custom_vjp", "stop_gradient"]

_Pull = Callable[[dict[int, GpuArray], Pullback], Cotangents]


class _Rule:
    """The joint of the results of a function and its arguments."""

    def __init__(self, inputs: Sequence[Node], pull: _Pull) -> None:
        self.inputs = tuple(inputs)
        self._pull = pull

    def pull(
        self, cotangents: dict[int, GpuArray], needed: Sequence[bool], device: Device, pullback: Pullback
    ) -> Cotangents:
        """Return the cotangents of the arguments, given those of some results."""
        return self._pull(cotangents, pullback)


_CONSTANT = _Rule((), lambda _cts, _pullback: ())


def _is_differentiated(arguments: Any) -> bool:
    """Return whether arrays in containers depend on a variable of a derivative."""
    if not tape.state.tapes:
        return False
    record = tape.active()
    if record is not None and record.variables:
        return True
    arrays = (leaf for leaf in containers.leaves(arguments) if isinstance(leaf, GpuArray))
    return any(tape.varying(array.node()) for array in arrays)  # of a variable of another thread


def _marked(array: GpuArray, rule: _Rule, number: int) -> GpuArray:
    """Return a result whose derivative a rule knows."""
    return array if array.dtype.kind not in "fc" else wrap(_mark(array.node(), rule, number), array.device)


def _mark(node: Node, rule: _Rule, number: int) -> Node:
    marked = Map(ops.positive, (node,), node.shape, node.dtype)
    tape.replace(marked, rule, number)
    return marked


def _with_rule(
    result: GpuArray, operands: Sequence[GpuArray], pull: Callable[..., Sequence[GpuArray | None]]
) -> GpuArray:
    values = [wrap(operand.node(), operand.device) for operand in operands]  # the program may write to the operands
    return _marked(result, _Rule([array.node() for array in values], lambda cts, _pullback: pull(cts[0], *values)), 0)


tape.state.with_rule = _with_rule
tape.state.constant = lambda node: _mark(node, _CONSTANT, 0)


def stop_gradient(x: Any) -> Any:
    """Return arrays that are constant with respect to differentiation.

    Parameters
    ----------
    x : GpuArray or container
        An array, or nested containers; values that are not arrays are returned unchanged.

    Returns
    -------
    GpuArray or container
        Arrays with the same elements.

    Examples
    --------
    >>> import gpuarray as xp
    >>> float(xp.grad(lambda x: x * xp.stop_gradient(x))(xp.asarray(3.0)))
    3.0
    """

    def stopped(leaf: Any) -> Any:
        if not isinstance(leaf, GpuArray):
            return leaf
        return _marked(leaf, _CONSTANT, 0) if _is_differentiated(leaf) else wrap(leaf.node(), leaf.device)

    return containers.rebuilt(x, stopped)


def checkpoint(fun: Function[P]) -> Callable[..., Any]:
    """Return ``fun`` such that derivatives compute it again, instead of keeping its intermediate values.

    Parameters
    ----------
    fun : callable
        NumPy code. Every array with respect to which it is differentiated must be an argument. The function runs again
        for each derivative, and should not write to arrays outside it.

    Returns
    -------
    callable
        Takes and returns what ``fun`` does.

    Raises
    ------
    DerivativeError
        When the function is called: if it uses a variable of the differentiation that is not an argument.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> wave = xp.checkpoint(lambda x: np.sin(np.sin(x)))
    >>> round(float(xp.grad(wave)(xp.asarray(0.0))), 6)
    1.0
    """

    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        if not _is_differentiated((args, kwargs)):
            return fun(*args, **kwargs)
        call = args, kwargs
        arrays = [leaf for leaf in containers.leaves(call) if _is_variable(leaf)]
        snapshots = [wrap(array.node(), array.device) for array in arrays]
        nodes = fun_of(call, [stop_gradient(array) for array in arrays])
        results = _result_arrays(nodes)
        for result in results:
            if tape.varying(result.node()):
                name = getattr(fun, "__qualname__", repr(fun))
                raise DerivativeError(
                    f"checkpoint: {name} depends on a differentiated array that is not one of its arguments; pass the "
                    "array as an argument"
                )

        def pull(cts: dict[int, GpuArray], pullback: Pullback) -> Cotangents:
            point = Point(lambda *values: fun_of(call, values), snapshots)
            return point.subgraph.pull([cts.get(n) for n in range(len(point.results))], pullback)

        rule = _Rule([array.node() for array in snapshots], pull)
        return containers.with_leaves(nodes, [_marked(r, rule, n) for n, r in enumerate(results)])

    def fun_of(call: tuple[Any, Any], values: Sequence[GpuArray]) -> Any:
        remaining = iter(values)
        args, kwargs = containers.rebuilt(call, lambda leaf: next(remaining) if _is_variable(leaf) else leaf)
        return fun(*args, **kwargs)

    return checkpointed


def _is_variable(leaf: Any) -> bool:
    return isinstance(leaf, GpuArray) and leaf.dtype.kind in "fc"


def _result_arrays(result: Any) -> list[GpuArray]:
    return [array_of(leaf, "what the function returns") for leaf in containers.leaves(result)]


class _Custom:
    """A function with derivatives of its own."""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        functools.update_wrapper(self, fun)
        self._fun = fun
        self._constant = frozenset(nondiff_argnums)
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._jvp: Callable[..., Any] | None = None
        self._running: set[int] = set()
        """The threads in which ``fwd`` runs, which may call the function itself."""
        if isinstance(fun, _Custom):
            self._fun = fun._fun
            self._constant |= fun._constant
            self._forward, self._backward, self._jvp = fun._forward, fun._backward, fun._jvp

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Define the derivative by cotangents.

        Parameters
        ----------
        fwd : callable
            Takes the arguments. Returns the result of the function, and the values that ``bwd`` needs.
        bwd : callable
            Takes the arguments of ``nondiff_argnums``, the values from ``fwd``, and the cotangent of the result.
            Returns a tuple with a cotangent for each other argument; None stands for zeros.
        """
        self._forward, self._backward = fwd, bwd

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Define the derivative by tangents.

        Parameters
        ----------
        jvp : callable
            Takes the arguments of ``nondiff_argnums``, a tuple of the other arguments, and a tuple of their tangents,
            in which it must be linear. Returns the result of the function, and its tangent.

        Returns
        -------
        callable
            ``jvp`` itself, so that this method is a decorator.
        """
        self._jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Define the derivative by one function for each argument.

        Parameters
        ----------
        *jvps : callable or None
            Each takes the tangent of its argument, the result, and the arguments. Returns the tangent of the result,
            an array. None stands for zeros.
        """

        def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
            out = self(*primals)
            total: Any = None
            for rule, tangent in zip(jvps, tangents, strict=True):
                if rule is not None:
                    term = rule(tangent, out, *primals)
                    total = term if total is None else total + term
            return out, zeros_like(out) if total is None else total

        self._jvp = jvp

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; its derivative is the one that was defined."""
        if get_ident() in self._running or not _is_differentiated((args, kwargs)):
            return self._fun(*args, **kwargs)
        if self._backward is None and self._jvp is None:
            raise DerivativeError(f"{self!r} has no derivative; define it with defvjp or defjvp")
        if kwargs:
            raise TypeError(f"{self!r} takes positional arguments where it is differentiated, not {sorted(kwargs)}")
        return self._called(args)

    def _called(self, args: tuple[Any, ...]) -> Any:
        chosen = tuple(arg for n, arg in enumerate(args) if n not in self._constant)
        fixed = tuple(arg for n, arg in enumerate(args) if n in self._constant)
        arrays = [array_of(leaf, "an argument") for leaf in containers.leaves(chosen)]
        values = [wrap(array.node(), array.device) for array in arrays]
        self._running.add(get_ident())
        try:
            result, rest = (self._fun(*args), None) if self._forward is None else self._forward(*args)
        finally:
            self._running.discard(get_ident())
        results = _result_arrays(result)
        out = containers.with_leaves(result, results)

        def pull(cts: dict[int, GpuArray], pullback: Pullback) -> Cotangents:
            if self._backward is None or (pullback.is_forward and self._jvp is not None):
                return self._by_tangents(fixed, containers.with_leaves(chosen, values), values, cts)
            whole = [unshared(cts[n]) if n in cts else zeros_like(r) for n, r in enumerate(results)]
            gradients = self._backward(*fixed, rest, containers.with_leaves(out, whole))
            return _checked(gradients, chosen, values)

        rule = _Rule([array.node() for array in values], pull)
        return containers.with_leaves(out, [_marked(r, rule, n) for n, r in enumerate(results)])

    def _by_tangents(
        self, fixed: tuple[Any, ...], primals: Any, values: Sequence[GpuArray], cts: dict[int, GpuArray]
    ) -> Cotangents:
        """Transpose the map of tangents."""
        assert self._jvp is not None
        device = device_among(list(values))
        with differentiated([build.full(a.shape, 0, a.dtype) for a in values]) as (record, variables):
            tangents = containers.with_leaves(primals, [wrap(node, device) for node in variables])
            _, tangent = self._jvp(*fixed, primals, tangents)
            results = _result_arrays(tangent)
            subgraph = Subgraph([array.node() for array in results], variables, record, device)
        return subgraph.pull([cts.get(n) for n in range(len(results))])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {getattr(self._fun, '__qualname__', self._fun)}>"


def _checked(rule_cts: Any, chosen: tuple[Any, ...], values: Sequence[GpuArray]) -> list[GpuArray | None]:
    """Return the cotangents that a rule has returned for arguments, of which None stands for zeros."""
    if not isinstance(rule_cts, tuple | list) or len(rule_cts) != len(chosen):
        raise TypeError(f"the rule of defvjp must return a tuple with {len(chosen)} cotangents, one for each argument")
    cts: list[GpuArray | None] = []
    for ct, argument in zip(rule_cts, chosen, strict=True):
        count = len(containers.leaves(argument))
        tangents = values[len(cts) : len(cts) + count]
        cts += [None] * count if ct is None else tangents_of(ct, argument, tangents, "a cotangent of defvjp")
    return cts


class custom_vjp(_Custom):  # noqa: N801  # JAX's name
    """A function whose derivative is defined by cotangents, with :meth:`defvjp`.

    Parameters
    ----------
    fun : callable
        NumPy code, or a :class:`custom_jvp` function, whose derivative by tangents forward mode then uses.
    nondiff_argnums : sequence of int
        Positional arguments that are not differentiated; they may be any objects.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> @xp.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, ct: (np.clip(ct, -1, 1),))
    >>> float(xp.grad(lambda x: 5 * clipped(x))(xp.asarray(2.0)))
    1.0
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums)


class custom_jvp(_Custom):  # noqa: N801  # JAX's name
    """A function whose derivative is defined by tangents, with :meth:`defjvp` or :meth:`defjvps`.

    Parameters
    ----------
    fun : callable
        NumPy code, or a :class:`custom_vjp` function, whose derivative by cotangents reverse mode then uses.
    nondiff_argnums : sequence of int
        Positional arguments that are not differentiated; they may be any objects.

    Examples
    --------
    >>> import numpy as np
    >>> import gpuarray as xp
    >>> @xp.custom_jvp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> log1pexp.defjvps(lambda t, y, x: t * (1 - np.exp(-y)))
    >>> float(xp.grad(log1pexp)(xp.asarray(0.0)))
    0.5
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums)
