"""Functions at a point: results, and the linear maps between tangents and cotangents there."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from gpuarray.array import GpuArray, wrap
from gpuarray.array.operands import as_node, default_device, joint_device_of
from gpuarray.autodiff import at_once as _at_once  # noqa: F401  # sets a method of subgraphs
from gpuarray.autodiff import containers
from gpuarray.autodiff import transposes as _transposes  # noqa: F401  # sets another
from gpuarray.autodiff.pieces import Pullback
from gpuarray.autodiff.subgraph import Subgraph, differentiated, zeros_like
from gpuarray.config import config, using
from gpuarray.device import Device
from gpuarray.errors import DerivativeError
from gpuarray.graph import build, tape
from gpuarray.graph.nodes import Node
from gpuarray.settings import strictness

_UNCHANGED: Final = nullcontext()


def permissive() -> AbstractContextManager[Any]:
    """Return a context in which derivatives are computed by NumPy's rules, not by the stricter ones of the standard."""
    is_strict = strictness.possible and config.current.strict_array_api
    return using(strict_array_api=False) if is_strict else _UNCHANGED


def array_of(value: Any, what: str) -> GpuArray:
    """Return an argument as an array.

    Raises
    ------
    DerivativeError
        If it is neither an array nor a number.
    """
    if isinstance(value, GpuArray):
        return value
    try:
        return wrap(as_node(value), default_device())
    except (TypeError, ValueError) as error:
        raise DerivativeError(f"{what} must be an array or a number, not a {type(value).__name__}") from error


class Point:
    """A function at a point: its results there, and the subgraph of its derivative.

    Parameters
    ----------
    function : callable
        Called with the primals; returns a container of arrays, or with ``has_aux`` a pair of it and anything.
    primals : sequence
        The arguments, containers of arrays and numbers.
    has_aux : bool
        Whether the function returns auxiliary data too.
    """

    def __init__(self, function: Callable[..., Any], primals: Sequence[Any], has_aux: bool = False) -> None:
        self.primals = tuple(primals)
        self.arrays = [array_of(leaf, "what is differentiated") for leaf in containers.leaves(self.primals)]
        self.device = joint_device_of(self.arrays) or default_device()
        with permissive():
            self._run(function, has_aux)

    def _run(self, function: Callable[..., Any], has_aux: bool) -> None:
        with differentiated([array.node() for array in self.arrays]) as (record, variables):
            own = [
                _argument(node, array.device, array._access) for node, array in zip(variables, self.arrays, strict=True)
            ]
            result = function(*containers.with_leaves(self.primals, own))
            self.aux = None
            if has_aux:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise TypeError(f"with has_aux=True the function must return a pair, not a {type(result).__name__}")
                result, self.aux = result
            self.results = [array_of(leaf, "what the function returns") for leaf in containers.leaves(result)]
            self.out = containers.with_leaves(result, self.results)
            self.nodes = [array.node() for array in self.results]
            self.subgraph = Subgraph(self.nodes, variables, record, self.device)
            for array, inner, node in zip(self.arrays, own, variables, strict=True):
                if inner._cell.node is not node:  # the function has written to its argument
                    array[...] = inner

    def pull(self, cotangents: Sequence[GpuArray | None], pullback: Pullback | None = None) -> list[GpuArray]:
        """Return the cotangents of the leaves of the primals."""
        with permissive():
            return self._like_given(self.subgraph.pull(cotangents, pullback))

    def gradient(self, pullback: Pullback) -> list[GpuArray]:
        """Return the cotangents of the leaves of the primals, if the result is one number, whose cotangent is 1."""
        (node,) = self.nodes
        with permissive():
            gradients = Subgraph.at_once(self.subgraph, [node.dtype.type(1)])
            if gradients is None:
                one = build.full((), 1, node.dtype)
                one.origin = node.origin
                gradients = self.subgraph.pull([wrap(one, self.device)], pullback)
            return self._like_given(gradients)

    def _like_given(self, gradients: Sequence[GpuArray | None]) -> list[GpuArray]:
        return [zeros_like(array) if ct is None else ct for ct, array in zip(gradients, self.arrays, strict=True)]

    def pushed(self) -> Callable[[Sequence[GpuArray]], list[GpuArray]]:
        """Return the map of tangents of the primals to those of the results: the transpose of the transpose."""
        sources = [build.full(node.shape, 0, node.dtype) for node in self.nodes]
        # deep graphs are not computed in parts, as only their coefficients are needed
        settings = using(strict_array_api=False, pending_limit=tape.UNBOUNDED)
        with settings, differentiated(sources) as (record, variables):
            cts = self.subgraph.pull([wrap(node, self.device) for node in variables], Pullback(is_forward=True))
            depending = [(number, ct.node()) for number, ct in enumerate(cts) if ct is not None]
            transpose = Subgraph([node for _, node in depending], variables, record, self.device)

        def push(tangents: Sequence[GpuArray]) -> list[GpuArray]:
            with permissive():
                gradients = transpose.pull([tangents[number] for number, _ in depending])
            return [
                zeros_like(array) if tangent is None else tangent
                for tangent, array in zip(gradients, self.results, strict=True)
            ]

        return push


def _argument(node: Node, device: Device, access: int) -> GpuArray:
    array = wrap(node, device)
    array._access = access
    return array


def tangent_of(value: Any, like: GpuArray, what: str) -> GpuArray:
    """Return a tangent or cotangent as an array of the shape and dtype of a value.

    Raises
    ------
    TypeError, ValueError
        If it is not of that dtype or shape.
    """
    array = value if isinstance(value, GpuArray) else wrap(as_node(value, like.dtype), like.device)
    if array.shape != like.shape:
        raise ValueError(f"{what} must have the shape {like.shape} of the value, not {array.shape}")
    if array.dtype != like.dtype:
        if isinstance(value, GpuArray) and like.dtype.kind not in "biu":
            raise TypeError(f"{what} must have the dtype {like.dtype.name} of the value, not {array.dtype.name}")
        array = array.astype(like.dtype)
    return array


def tangents_of(tree: Any, like: Any, arrays: Sequence[GpuArray], what: str) -> list[GpuArray]:
    """Return the leaves of a container of tangents or cotangents, checked."""
    containers.require_same(tree, like, what)
    return [tangent_of(leaf, tangent, what) for leaf, tangent in zip(containers.leaves(tree), arrays, strict=True)]
