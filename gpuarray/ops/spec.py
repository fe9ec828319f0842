"""The records of operations, which have everything that the package knows about them.

A record has the name, the NumPy reference that the in-process provider executes and that tests compare with, the dtype
rule, the WGSL forms, the cost, and what is known of its values. No other module has a list of operations: a rule that
holds for some of them reads a column here. Constructing a record registers and checks it. Records are compared and
hashed by identity.

Costs are in units of one float32 addition of values in registers. An exponential costs about 10. There is no default
cost, so that each operation has an estimate.

WGSL forms are templates keyed by the *compute type* of the operands (see :data:`COMPUTE_TYPES`), or by a group of
compute types (:data:`GROUPS`); the most specific key wins. In a template ``{0}``, ``{1}``, ``{2}`` are operand
expressions, ``{T}`` is the compute type of the operands (the first, where they differ, and ``{U}`` of the last),
``{R}`` that of the result, and ``{bits}`` the width in bits of the operands' *dtype* (8 for int8, whose compute type is
i32). Names of functions in ``codegen/math`` may be used
freely; the emitter adds what is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from string import Formatter
from typing import Any, Final

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.ops.columns import ORDINARY_VALUES, Kind, NumPyForm, Quirk, Shapes, ValueFacts, Work

#: Compute types. Complex numbers are pairs: c64 is ``vec2<f32>``, c128 ``vec2<f64>``. Booleans compute as ``bool``, 8-
#: and 16-bit integers as i32 and u32 (results are wrapped to their width by the emitter), float16 as f32 (results are
#: rounded to float16 by the emitter after every operation). On devices without 64-bit integers, i64p and u64p stand for
#: i64 and u64: ``vec2<u32>``, the low word first.
COMPUTE_TYPES: Final = ("bool", "i32", "u32", "i64", "u64", "i64p", "u64p", "f32", "f64", "c64", "c128")

#: Pairs are integers whose operators are functions: a form for "int" serves them if it uses none but those on bits.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "pair": ("i64p", "u64p"),
    "signed": ("i32", "i64"),
    "unsigned": ("u32", "u64"),
    "int": ("i32", "u32", "i64", "u64", "i64p", "u64p"),
    "float": ("f32", "f64"),
    "complex": ("c64", "c128"),
    "real": ("i32", "u32", "i64", "u64", "f32", "f64"),
    "any": COMPUTE_TYPES,
}

_COMPUTE: Final[Mapping[DType, str]] = {
    dtypes.bool_: "bool",
    dtypes.int8: "i32",
    dtypes.int16: "i32",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.uint8: "u32",
    dtypes.uint16: "u32",
    dtypes.uint32: "u32",
    dtypes.uint64: "u64",
    dtypes.float16: "f32",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
    dtypes.complex64: "c64",
    dtypes.complex128: "c128",
}


def compute_type(dtype: DType) -> str:
    """Return the compute type in which values of ``dtype`` are held in a kernel's registers."""
    return _COMPUTE[dtype]


@dataclass(frozen=True)
class Signature:
    """The dtypes that one call of an elementwise operation computes in: operands are cast to ``inputs`` first."""

    inputs: tuple[DType, ...]
    output: DType


DTypeRule = Callable[..., Signature]

OPS: Final[dict[str, "Op"]] = {}
#: An element that costs more operations makes :attr:`GenerateOp.is_costly` true.
_COSTLY: Final = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class Op:
    """Base of the records of operations: a unique name and one sentence about it."""

    name: str
    doc: str

    def __post_init__(self) -> None:
        if self.name in OPS:
            raise ValueError(f"operation {self.name!r} is declared twice")
        OPS[self.name] = self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return op_named, (self.name,)


#: Modules whose operations are declared on first use and not with the package, which they would slow down.
_LAZY_MODULES: Final = ("gpuarray.ops.special",)


def op_named(name: str) -> Op:
    """Return the operation of a name, importing the lazy modules of operations if no other module declares it.

    Raises
    ------
    KeyError
        If no module declares an operation of this name.
    """
    if name not in OPS:
        for module in _LAZY_MODULES:
            import_module(module)
    return OPS[name]


def _check_templates(name: str, forms: Mapping[str, str], arity: int) -> None:
    for key, template in forms.items():
        if key not in COMPUTE_TYPES and key not in GROUPS:
            raise ValueError(f"operation {name!r}: {key!r} is neither a compute type nor a group of them")
        for _, placeholder, _, _ in Formatter().parse(template):
            if placeholder is None or placeholder in ("T", "U", "R", "bits"):
                continue
            if not placeholder.isdigit() or int(placeholder) >= arity:
                raise ValueError(f"operation {name!r}: template {template!r} does not fit {arity} operands")


@lru_cache(maxsize=8192)
def wgsl_template(op: "MapOp | GenerateOp", compute: str) -> str | None:
    """Return the template for operands of a compute type, the most specific key first, or None."""
    forms = op.wgsl
    if compute in forms:
        return forms[compute]
    for group in ("pair", "signed", "unsigned", "float", "complex", "int", "real", "any"):
        if group in forms and compute in GROUPS[group]:
            return forms[group]
    return None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MapOp(Op):
    """An elementwise operation.

    Attributes
    ----------
    numpy : callable
        The reference, called as ``numpy(*operands, out=scratch)``; the ufunc itself wherever there is one.
    cost : int
        Operations that one evaluation takes: 1 for an addition, 10 for an exponential, 30 for a power.
    accepts : str
        The dtypes that the Array API standard's function of this name takes, in its words (``"numeric"``); empty where
        the standard has no such function. ``config.strict_array_api`` refuses others.
    arity : int
        Number of operands.
    output : int
        Which output of ``numpy`` this operation is, for ufuncs with several (``divmod``, ``frexp``, ``modf``).
    dtypes : callable, optional
        ``rule(*operand_dtypes) -> Signature``, where an operand may also be the Python type ``int``, ``float`` or
        ``complex`` (a weak scalar). By default NumPy's own resolution of the ufunc ``numpy``.
    wgsl : mapping
        Templates; no form for a compute type means that such a step runs in-process.
    ulp : float
        Largest error promised, in units in the last place, for real floating types.
    kind : Kind
        The category of the operation, if a rule depends on it.
    values : ValueFacts
        Range and subnormal behaviour of float32 results.
    identity : int or None
        The second operand with which an integer first operand stays what it is.
    numpy_forms : tuple of NumPyForm
        Faster alternatives to ``numpy`` for some operands; the first that fits is used.
    quirks : Quirk
        Defects of ``numpy``.
    bounds : callable or None
        ``bounds(*bounds_of_operands)``: numbers between which results are that do not wrap, for integers; or None. See
        :mod:`gpuarray.ops.integer_bounds`.
    atomic : str
        WGSL's function that combines a 32-bit integer in memory with another one; empty if there is none.
    """

    numpy: Callable[..., Any]
    arity: int
    cost: int
    accepts: str = ""
    output: int = 0
    dtypes: DTypeRule | None = None
    wgsl: Mapping[str, str] = field(default_factory=dict)
    ulp: float = 0.5
    kind: Kind = Kind.FUNCTION
    values: ValueFacts = ORDINARY_VALUES
    identity: int | None = None
    numpy_forms: tuple[NumPyForm, ...] = ()
    quirks: Quirk = Quirk.NONE
    bounds: Callable[..., tuple[int, int] | None] | None = None
    atomic: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_templates(self.name, self.wgsl, self.arity)
        if self.dtypes is None and not isinstance(self.numpy, np.ufunc):
            raise ValueError(f"operation {self.name!r}: a reference that is no ufunc needs a dtype rule")

    @property
    def numpy_calls(self) -> int:
        """About how many NumPy functions the reference calls: one written in Python, one for each operation."""
        return 1 if isinstance(self.numpy, np.ufunc) else self.cost

    @property
    def is_associative(self) -> bool:
        """Whether folds may combine neighbours first. NumPy states the identity of such ufuncs, except of extremes."""
        return self.kind is Kind.EXTREME or getattr(self.numpy, "identity", None) is not None

    def resolve(self, *operands: Any) -> Signature:
        """Return the signature for operand dtypes, of which Python scalar types are weak.

        Raises
        ------
        TypeError
            As NumPy does, when the operation does not accept these dtypes.
        """
        return _resolve(self, operands)


@lru_cache(maxsize=16384)
def _resolve(op: MapOp, operands: tuple[Any, ...]) -> Signature:
    if op.dtypes is not None:
        return op.dtypes(*operands)
    ufunc = op.numpy
    assert isinstance(ufunc, np.ufunc)
    weak: dict[Any, DType] = {bool: dtypes.bool_}
    if all(operand is int for operand in operands):  # NumPy would compare them as objects
        weak[int] = dtypes.int64
    signature = ufunc.resolve_dtypes((*(weak.get(o, o) for o in operands), *([None] * ufunc.nout)))
    loop = tuple(dtypes.canonical(d) for d in signature[: ufunc.nin])
    return Signature(loop, dtypes.canonical(signature[ufunc.nin + op.output]))


def map_op(name: str) -> MapOp:
    """Return the elementwise operation of a name; see :func:`op_named`.

    Raises
    ------
    KeyError
        If no module declares an elementwise operation of this name.
    """
    op = op_named(name)
    if not isinstance(op, MapOp):
        raise KeyError(name)
    return op


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GenerateOp(Op):
    """An expression of the flat output index: constants, ranges, identity matrices, random bits.

    Attributes
    ----------
    numpy : callable
        ``numpy(flat_index, *parameters, dtype=...) -> ndarray`` with ``flat_index`` an int64 array.
    cost : int
        Operations that one element takes.
    parameters : int
        Number of scalar parameters.
    is_constant : bool
        Whether the value is that of the one parameter at every index.
    bounds : callable or None
        ``bounds(size, dtype, *parameters)``: the exact minimum and maximum of ``size`` integers, or None if they wrap
        around.
    takes_range : bool
        Whether ``numpy`` takes a ``range`` for the flat indices, too, and is faster then.
    whole : callable or None
        ``whole(size, *parameters, dtype=...) -> ndarray`` of all elements, if that takes less time than to write them.
    numpy_calls : int
        About how many NumPy functions ``numpy`` calls; by default one for each operation.
    wgsl : mapping
        Templates keyed by the compute type of the *result*; ``{0}`` is the flat index (u32), ``{1}`` on the parameters,
        which are of compute type ``{R}`` unless ``parameter_types`` says otherwise.
    parameter_types : tuple of str
        A dtype name for each parameter, ``"result"`` for the result's dtype.
    vec4 : mapping
        Templates as ``wgsl``, for a vector of the four elements from ``{0}``, a multiple of four, on: for generators
        that make several elements at once.
    vec8 : mapping
        The same for the eight elements from ``{0}``, a multiple of four, on, as ``low`` and ``high``: for generators
        that make so many at the price of four.
    """

    numpy: Callable[..., Any]
    parameters: int
    cost: int
    is_constant: bool = False
    bounds: Callable[..., tuple[int, int] | None] | None = None
    takes_range: bool = False
    whole: Callable[..., Any] | None = None
    numpy_calls: int = 0
    parameter_types: tuple[str, ...] = ()
    wgsl: Mapping[str, str] = field(default_factory=dict)
    vec4: Mapping[str, str] = field(default_factory=dict)
    vec8: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.numpy_calls:
            object.__setattr__(self, "numpy_calls", self.cost)

    @property
    def is_costly(self) -> bool:
        """Whether an element, such as random bits, costs more than to store it, and much less among four neighbours."""
        return self.cost > _COSTLY


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallOp(Op):
    """An opaque operation on whole arrays.

    Devices run it by the kernels that code generation has for it. For want of some, and in-process, its NumPy reference
    runs.

    Attributes
    ----------
    numpy : callable
        ``numpy(*host_arrays, **parameters) -> ndarray or tuple of ndarray``.
    work : Work
        The kind of work that takes the time.
    cost : callable
        ``cost(operand_shapes, result_shapes)``, the operations of such work.
    by_line : bool
        Whether each line along the last axis of the one operand is computed by itself.
    by_part : bool
        Whether the result is the sum of the results of parts of the first operand, as that of counting is.
    into : callable or None
        ``into(out, *host_arrays, **parameters)``, the same as ``numpy`` in memory that is there, where it needs little
        beside it.
    bounds : callable or None
        ``bounds(shape)``: the exact minimum and maximum of a result of integers, if they follow from its shape.
    """

    numpy: Callable[..., Any]
    work: Work
    cost: Callable[[Shapes, Shapes], int]
    by_line: bool = False
    by_part: bool = False
    into: Callable[..., None] | None = None
    bounds: Callable[[tuple[int, ...]], tuple[int, int]] | None = None
