"""The types of the columns of operations: its kind, the range of its values, the kind of its work.

:mod:`gpuarray.ops.spec` has the records of operations. A new fact about an operation is a column there, with a type
here if it needs one; the packages that use it read the column.
"""

from collections.abc import Callable, Sequence
from enum import Enum, Flag, auto
from functools import cached_property
from typing import Final, NamedTuple

from gpuarray.dtypes import DType


class Kind(Enum):
    """The structure of an elementwise operation, where the graph, the planner or code generation has a rule for it."""

    FUNCTION = auto()
    """None of the following: no rule but those of the other columns."""
    SUM = auto()
    """x + y or x - y."""
    PRODUCT = auto()
    """x * y, or x * x of a single operand."""
    SCALING = auto()
    """x times a constant below 2**6."""
    QUOTIENT = auto()
    """x / y."""
    SIGN = auto()
    """x or -x: the magnitude is the operand's."""
    POWER = auto()
    """x to the power y, which is an error for integers to a negative power."""
    COMPARISON = auto()
    """A truth about two operands, which Python integers beyond the range of the dtype have, too."""
    EXTREME = auto()
    """The larger or the smaller of two operands, so that a fold gives the same in any order."""
    SELECTION = auto()
    """The second or the third operand, by the truth of the first."""
    CONVERSION = auto()
    """The value in the dtype that the node names; ``codegen/casts.py`` has its WGSL."""
    REINTERPRETATION = auto()
    """The bits in the dtype that the node names; ``codegen/casts.py`` has its WGSL."""

    @cached_property
    def converts(self) -> bool:
        """Whether the node names the result's dtype, and the operation has no WGSL of its own."""
        return self is Kind.CONVERSION or self is Kind.REINTERPRETATION


class FastDomain(NamedTuple):
    """Where the fast path of a WGSL function is right, as exponents of 2 of float32 magnitudes.

    Attributes
    ----------
    operands_below, results_below : int
        Bounds of the operands and of the result.
    first_at_least : int or None
        The least magnitude of the first operand.
    """

    operands_below: int
    results_below: int
    first_at_least: int | None = None


class ValueFacts(NamedTuple):
    """Facts about the float32 results of an operation. Kernels for devices that flush subnormals rely on them.

    Attributes
    ----------
    below : int
        Results are below ``2**below`` in magnitude, or infinite or NaN.
    never_subnormal : bool
        Whether no result is subnormal.
    one_near_zero : bool
        Whether the result is 1 for every operand below ``2**-60`` in magnitude.
    fast_domain : FastDomain or None
        Where the fast path of the WGSL function is right, if that bounds anything.
    """

    below: int = 128
    never_subnormal: bool = False
    one_near_zero: bool = False
    fast_domain: FastDomain | None = None


#: Nothing is known.
ORDINARY_VALUES: Final = ValueFacts()


class Quirk(Flag):
    """Weaknesses of NumPy's own function (measured with NumPy 2.0 to 2.5)."""

    NONE = 0
    SLOW_UNCACHED = auto()
    """The float32 loop takes twice as long for operands that are not in a cache: a copy comes first."""
    WRONG_WITH_GAPS = auto()
    """Results are wrong where the elements of ``out`` have gaps between them."""


class NumPyForm(NamedTuple):
    """A faster composition of NumPy calls than the reference, for some operands, on a tile that is in the cache.

    Attributes
    ----------
    function : callable
        Called with the operands, the output, which may be the first operand, and the scratch arrays.
    dtypes : tuple of dtype
        The dtypes of all operands and of the result that it is for.
    calls : int
        About how many NumPy functions it calls.
    scratch : int
        How many arrays like the output it needs.
    uniform : tuple of bool or None
        Which operands have to be one number for all elements, and which must not; None for no matter.
    order : tuple of int or None
        The operands in the order in which the function takes them, if it is another.
    """

    function: Callable[..., None]
    dtypes: tuple[DType, ...]
    calls: int
    scratch: int = 0
    uniform: tuple[bool, ...] | None = None
    order: tuple[int, ...] | None = None


class Work(Enum):
    """The kind of work that limits an operation. The rate of each is measured at each place (``placement/rates``)."""

    GATHER = "gather"
    """Elements read or written at positions in any order."""
    SCAN = "scan"
    """Elements folded with those before them."""
    PRODUCT = "product"
    """Multiplications and additions of matrix products."""
    SORT = "sort"
    """Elements compared and moved, for each of the binary digits of their number."""
    TRANSFORM = "transform"
    """Elements of Fourier transforms, for each of the binary digits of their number."""


Shapes = Sequence[tuple[int, ...]]
