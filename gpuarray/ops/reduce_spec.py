"""The record of a reduction: five parts, from which kernels and NumPy tiles are made.

A *state* is a small tuple of numbers that stands for some elements. ``identity`` is the state of no elements, ``map``
lifts an element and its position into a state, ``combine`` merges two states, and ``finish`` makes the result of one.
Where the state is one number and an elementwise operation merges two of them, as in a sum, the operation says
everything. Otherwise :class:`KernelParts` has the parts in WGSL, and :class:`NumPyParts` in NumPy.

In templates of WGSL a dollar sign begins a name. ``$x`` is an element, cast to the dtype in which the reduction
accumulates, ``$i`` its position among the elements that are reduced together, and ``$T`` its WGSL type. A number of the
state is named as ``state`` names it, that of another state has a 2 behind its name, and ``$number`` makes names of
functions differ.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from gpuarray.dtypes import DType
from gpuarray.ops.spec import MapOp, Op

#: The name of the dtype in which a reduction accumulates.
ACCUMULATED: Final = "accumulated"
#: The name of the reduction's identity in place of a number.
IDENTITY: Final = "identity"


@dataclass(frozen=True, slots=True)
class Let:
    """A value that several elements have in common, or each of them, before they are lifted.

    Attributes
    ----------
    name : str
        As which later templates know it.
    value : str
        Its template.
    fold : MapOp or None
        The operation that folds the values of all elements into one. Without, there is one value for each element if
        ``each`` is true, and otherwise one for all.
    dtype : str
        What is folded.
    """

    name: str
    value: str
    fold: MapOp | None = None
    each: bool = False
    dtype: str = ACCUMULATED


@dataclass(frozen=True, kw_only=True)
class KernelParts:
    """The five parts in WGSL, for elements of one compute type.

    Attributes
    ----------
    state : mapping
        The names of the numbers, and the names of their dtypes.
    identity : tuple
        Their values before any element.
    map : tuple of str
        The templates of an element's state.
    combine : MapOp or str
        The operation that merges two states of one number, or the template of statements that merge another state into
        the variables of the first.
    finish : str
        The template of the result.
    finish_dtype : str
        The dtype of ``finish``, which is cast to that of the result.
    functions : tuple of str
        Templates of lines that kernels have beside their entry point.
    lets : tuple of Let
        What several elements are lifted with, in order.
    several : tuple of str
        The templates of the state of several elements at once. ``$count`` is their number, and ``$by_count`` divides by
        it. Without, each element is lifted by itself.
    condition : str
        The template of a condition without which several elements leave the state as it is. With it they are merged in
        their order.
    """

    state: Mapping[str, str]
    identity: tuple[Any, ...]
    map: tuple[str, ...]
    combine: MapOp | str
    finish: str
    finish_dtype: str = ACCUMULATED
    functions: tuple[str, ...] = ()
    lets: tuple[Let, ...] = ()
    several: tuple[str, ...] = ()
    condition: str = ""


class Elements(NamedTuple):
    """A tile of elements that NumPy folds: of every row all of them, or a part.

    Attributes
    ----------
    values : ndarray
        The elements, of the dtype that :attr:`NumPyParts.compute` gives, their axes in the order of memory.
    axes : tuple of int
        The axes along which the elements of a row lie.
    spare : ndarray
        Memory of the same shape and dtype, which may be that of the elements; None if the reduction takes none, or the
        elements are few.
    shift : ndarray or 0
        For each row a number near its elements, for reductions that do not depend on what is taken off all elements.
    rows : callable
        ``rows()`` returns the elements of each row, in C order, along the last axis.
    restored : callable
        ``restored(values)`` returns one value for each of ``rows()`` in the tile's order of axes, with extent 1 along
        ``axes``.
    positions : callable
        ``positions(found)`` returns where elements lie in their row, given where they lie in ``rows()``.
    """

    values: Any
    axes: tuple[int, ...]
    spare: Any
    shift: Any
    rows: Callable[[], Any]
    restored: Callable[[Any], Any]
    positions: Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class NumPyParts:
    """The parts of a reduction in NumPy.

    Attributes
    ----------
    state : callable
        ``state(dtype)`` returns the dtypes of the numbers, given that of the elements.
    fold : callable
        ``fold(elements)`` returns the states of the rows of :class:`Elements`: map and combine for many elements.
    combine : callable
        ``combine(*state)`` returns the state of all states along the first axis of arrays.
    finish : callable
        ``finish(*state)`` returns the results.
    result : callable or None
        ``result(elements)`` returns the results of whole rows, where that takes less than their states.
    compute : callable or None
        ``compute(dtype)`` returns the dtype to which elements are cast, given that in which the reduction accumulates.
    takes_spare : bool
        Whether ``fold`` uses spare memory if there are many elements.
    takes_shift : bool
        Whether the result does not depend on what is taken off all elements of a row.
    calls : int
        About how many NumPy functions ``fold`` calls.
    """

    state: Callable[[DType], tuple[DType, ...]]
    fold: Callable[[Elements], tuple[Any, ...]]
    combine: Callable[..., tuple[Any, ...]]
    finish: Callable[..., Any]
    result: Callable[[Elements], Any] | None = None
    compute: Callable[[DType], DType] | None = None
    takes_spare: bool = False
    takes_shift: bool = False
    calls: int = 3


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReduceOp(Op):
    """A reduction and, where one operation merges two results, its scan.

    Attributes
    ----------
    combine : MapOp or None
        The associative operation that merges two results; its NumPy ufunc's ``reduce`` is the reference. Those without
        have no scans, and take neither ``initial`` nor ``dtype``.
    accumulate : callable
        Source dtype to the dtype in which to accumulate (``sum`` of int8 accumulates in int64).
    result : callable or None
        Source dtype to the dtype of results, if it is another.
    identity : mapping
        The element that changes nothing, by dtype kind (``"b" "i" "u" "f" "c"``): a Python scalar, or ``"lowest"`` or
        ``"highest"`` for the dtype's extremes (infinities of floating types and of both parts of complex ones). It is
        the result of empty input, and what kernels pad with. A kind that is missing is not accepted.
    empty_is_error : bool
        Whether empty input raises instead, as ``min`` does.
    kernels : mapping
        The parts in WGSL by compute type. One that is missing has one number, which ``combine`` merges.
    numpy : NumPyParts or None
        The parts in NumPy; None where the ufunc of ``combine`` has them.
    of_equals : callable or None
        ``of_equals(value, count, dtype)`` returns the result, of a dtype, of so many elements that are all one value;
        None if it is not known without a loop.
    cost : int
        Operations that one element takes; by default those of ``combine``.
    bounds : callable or None
        ``bounds(bounds_of_elements, count)``: numbers between which results are, for integers. The bounds of elements
        are None if these are no integers. See :mod:`gpuarray.ops.integer_bounds`.
    """

    combine: MapOp | None = None
    accumulate: Callable[[DType], DType]
    result: Callable[[DType], DType] | None = None
    identity: Mapping[str, Any]
    empty_is_error: bool = False
    kernels: Mapping[str, KernelParts] = field(default_factory=dict)
    numpy: NumPyParts | None = None
    of_equals: Callable[[Any, int, DType], Any] | None = None
    cost: int = 0
    bounds: Callable[[tuple[int, int] | None, int], tuple[int, int] | None] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.combine is None and (self.numpy is None or not self.kernels):
            raise ValueError(f"reduction {self.name!r} has neither an operation that combines nor all of the parts")
        if not self.cost:
            object.__setattr__(self, "cost", 1 if self.combine is None else self.combine.cost)

    def identity_of(self, dtype: DType) -> Any:
        """Return the Python scalar that changes nothing when it is combined with elements of ``dtype``.

        Raises
        ------
        ValueError
            If the reduction has none for this kind of dtype.
        """
        value = self.identity.get(dtype.kind)
        if value is None:
            raise ValueError(f"zero-size array to reduction operation {self.name} which has no identity")
        if value not in ("lowest", "highest"):
            return value
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            return limits.min if value == "lowest" else limits.max
        extreme = -np.inf if value == "lowest" else np.inf
        return complex(extreme, extreme) if dtype.kind == "c" else extreme

    def result_dtype(self, source: DType) -> DType:
        """Return the dtype of results, given that of elements."""
        return self.accumulate(source) if self.result is None else self.result(source)

    def kernel_parts(self, compute: str) -> KernelParts:
        """Return the parts in WGSL for elements of a compute type.

        Raises
        ------
        ValueError
            If there are none.
        """
        parts = self.kernels.get(compute, self._one_number)
        if parts is None:
            raise ValueError(f"{self.name} has no kernel for {compute}")
        return parts

    @cached_property
    def _one_number(self) -> KernelParts | None:
        if self.combine is None:
            return None
        return KernelParts(
            state={"a": ACCUMULATED}, identity=(IDENTITY,), map=("$x",), combine=self.combine, finish="$a"
        )

    @cached_property
    def state_size(self) -> int:
        """How many numbers stand for some elements, at most."""
        return max((len(parts.state) for parts in self.kernels.values()), default=1)
