"""Pieces of kernels: parameter words, bindings, and the text of one instruction.

A :class:`Kernel` collects what a source consists of and puts it together in a fixed order, so that equal structure
gives equal text. Sizes and values enter as parameter words only.

Invariant: every index of a source is in range, whatever the buffers hold. Indices that are computed from the launch's
own numbers are by construction; a position that comes from a buffer is clamped to, or compared with, the extent of what
it selects from. Sources say so (:data:`gpuarray.codegen.programs.IN_RANGE`), and run without bounds checks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import intern
from typing import Any, Final, TypeVar

from gpuarray.codegen import casts, library
from gpuarray.codegen.programs import IN_RANGE, Binding, Launch, ScalarParameter
from gpuarray.codegen.storage import LANES, Access, parameter_expression, register_type, scalar_expression, word_count
from gpuarray.codegen.target import (
    PAIRS,
    binding_limit,
    compute_type,
    directives,
    has_wide_integers,
    is_fast,
    makes_underflow_gradual,
)
from gpuarray.dtypes import DType, canonical, complex64, float32, uint32
from gpuarray.graph.moving import is_moving
from gpuarray.ops.columns import Kind
from gpuarray.ops.spec import GenerateOp, MapOp, wgsl_template

A = TypeVar("A", bound=Access)

WORKGROUP = 256
#: Windows begin at multiples of this, in bytes, and end at multiples of :data:`WINDOW_END`: buffers have that slack.
WINDOW_START = 256
WINDOW_END = 64


@dataclass
class Kernel:
    """One source under construction, with the numbers of one launch of it."""

    label: str
    accesses: list[Access] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    parameters: list[int] = field(default_factory=lambda: [0])
    scalars: list[ScalarParameter] = field(default_factory=list)
    module: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    workgroup: int = WORKGROUP

    def parameter(self, value: int) -> str:
        """Add a parameter word; return the expression that reads it. Negative values wrap where they are packed."""
        moving: Any = value
        if is_moving(moving):
            self.scalars.append(ScalarParameter(len(self.parameters), moving.symbol, uint32, moving.scale, moving.base))
            value = 0
        self.parameters.append(value)
        return parameter_expression(len(self.parameters) - 1)

    def scalar(self, slot: int, dtype: DType) -> str:
        """Add the run-time scalar ``slot``; return the expression that reads it."""
        for known in self.scalars:
            if known.slot == slot and known.scale is None:
                return scalar_expression(known.word, dtype)
        start = len(self.parameters)
        self.parameters += [0] * word_count(dtype)
        self.scalars.append(ScalarParameter(start, slot, dtype))
        return scalar_expression(start, dtype)

    def bind(self, access: Access, binding: Binding) -> Access:
        """Add a storage binding."""
        self.accesses.append(access)
        self.bindings.append(binding)
        return access

    def show(self, access: A, binding: Binding) -> A:
        """Add the storage bindings that show what one might not; return the access through all of them."""
        each = window_bytes(binding_limit())
        if binding.nbytes <= each:
            self.bind(access, binding)
            return access
        shown = replace(access, windows=-(-binding.nbytes // each), reach=each // access.item_bytes)
        self.bind_parts(shown, binding, each)
        self.module += shown.functions
        return shown

    def bind_parts(self, access: Access, binding: Binding, apart: int) -> None:
        """Add the storage bindings of an access of several, which begin at equal distances in bytes."""
        for number, window in enumerate(access.parts):
            begin = number * apart
            nbytes = min(window_bytes(binding_limit()), binding.nbytes - begin)
            self.bind(window, replace(binding, offset=binding.offset + begin, nbytes=nbytes))

    def array(
        self,
        kind: str,
        slot: int,
        size: int,
        dtype: DType,
        *,
        first: int = 0,
        name: str = "",
        wide: bool = False,
        item: str = "",
        writable: bool | None = None,
    ) -> Access:
        """Bind ``size`` elements of an input or output, from number ``first`` on; only outputs are writable."""
        writable = kind == "output" if writable is None else writable
        binding, _ = window(kind, slot, first, first + size - 1, dtype, writable=writable)
        return self.show(Access(name or f"{kind}{slot}", dtype, wide, writable, item=item), binding)

    def scratch(
        self,
        slot: int,
        size: int,
        dtype: DType,
        *,
        writable: bool,
        name: str = "",
        wide: bool = False,
        item: str = "",
    ) -> Access:
        """Bind a scratch buffer of ``size`` elements."""
        binding = Binding("scratch", slot, 0, scratch_bytes(size, dtype), writable)
        return self.show(Access(name or f"scratch{slot}", dtype, wide, writable, item=item), binding)

    def line(self, *lines: str) -> None:
        """Add statements to the entry point."""
        self.body += lines

    def launch(self, groups: int, limit: int) -> Launch:
        """Return the launch of the finished kernel with ``groups`` workgroups in all."""
        words = self.parameters + [0] * (-len(self.parameters) % 4)
        # as many rows of groups as it takes, and no longer than that: groups with nothing to do cost time too
        down = -(-groups // limit)
        across = -(-groups // down) if down else 0
        return Launch(
            self._source(len(words)),
            self.label,
            tuple(self.bindings),
            tuple(words),
            tuple(self.scalars),
            (across, down, 1),
        )

    def _source(self, words: int) -> str:
        head = [
            f"// {self.label}",
            f"struct Parameters {{ words: array<vec4<u32>, {words // 4}> }}",
            "@group(0) @binding(0) var<uniform> parameters: Parameters;",
            *(access.declaration(number + 1) for number, access in enumerate(self.accesses)),
            # Mesa compiles again with the values of parameters that a branch depends on alone: this zero would be known
            # then, but for the index that is itself a parameter
            "fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }",
        ]
        entry = [
            f"@compute @workgroup_size({self.workgroup})",
            "fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, "
            "@builtin(local_invocation_index) local: u32) {",
            *(f"  {line}" for line in self.body),
            "}",
        ]
        own_source = "\n".join([*self.module, *entry])
        helpers = library.functions(library.names_in(own_source))
        text = "\n".join([*head, *([helpers] if helpers else []), own_source])
        return intern("\n".join([IN_RANGE, *directives(text), text]) + "\n")  # programs of many steps keep it


def scratch_bytes(size: int, dtype: DType) -> int:
    """Return the bytes of a scratch buffer of ``size`` elements."""
    return -(-max(size, 1) * dtype.itemsize // WINDOW_END) * WINDOW_END


def window_bytes(limit: int) -> int:
    """Return how many bytes of an array each of several bindings shows, where one shows no more than ``limit``."""
    return limit // WINDOW_START * WINDOW_START


def window(kind: str, slot: int, low: int, high: int, dtype: DType, *, writable: bool) -> tuple[Binding, int]:
    """Return the binding that shows elements ``low`` to ``high`` of a buffer, and the element at which it begins."""
    first = low * dtype.itemsize // WINDOW_START * WINDOW_START
    last = -(-max(high + 1, 1) * dtype.itemsize // WINDOW_END) * WINDOW_END
    return Binding(kind, slot, first, max(last - first, WINDOW_END), writable), first // dtype.itemsize


def apply_expression(
    op: MapOp, operands: Sequence[str], sources: Sequence[DType], dtype: DType, *, plain: bool = False
) -> str:
    """Return an elementwise operation over expressions, as a value of ``dtype``.

    Where it is ``plain``, sums and products are the device's, even if it flushes subnormal numbers.
    """
    return _form(op, tuple(sources), dtype, plain, has_wide_integers(), makes_underflow_gradual()).format(*operands)


@lru_cache(maxsize=4096)
def _form(op: MapOp, sources: tuple[DType, ...], dtype: DType, plain: bool, *_target: bool) -> str:
    """Return the WGSL template of an operation; the key has the properties of the target on which it depends."""
    operands = [f"{{{number}}}" for number in range(len(sources))]
    if op.kind is Kind.CONVERSION:
        return casts.cast_expression(operands[0], sources[0], dtype)
    if op.kind is Kind.REINTERPRETATION:
        return casts.bitcast_expression(operands[0], sources[0], dtype)
    template = (None if plain else _gradual_template(op, sources)) or template_of(op, sources)
    if template is None:
        raise ValueError(f"{op.name} has no WGSL form for {[s.name for s in sources]}")
    return casts.wrap_expression(_filled(template, operands, sources, dtype), dtype)


#: The kinds of operations that underflow, and whose plain form is the device's arithmetic.
UNDERFLOWING: Final = frozenset((Kind.SUM, Kind.PRODUCT, Kind.SCALING))


def _gradual_template(op: MapOp, sources: Sequence[DType]) -> str | None:
    """Return the form that keeps subnormal numbers where this kernel's device does not."""
    if not makes_underflow_gradual() or op.kind not in UNDERFLOWING or sources[0] not in (float32, complex64):
        return None
    return f"gradual_{op.name}_{{T}}({', '.join(f'{{{i}}}' for i in range(op.arity))})"


def _filled(template: str, operands: Sequence[str], sources: Sequence[DType], dtype: DType) -> str:
    first, last, result = compute_type(sources[0]), compute_type(sources[-1]), compute_type(dtype)
    return template.format(*operands, T=first, U=last, R=result, bits=8 * sources[0].itemsize)


_CALL = re.compile(r"(\w+)\([^()]*\)")


def fast_path_function(op: MapOp, sources: Sequence[DType]) -> str | None:
    """Return the library function with a fast path that an operation is, called with all of its operands; or None."""
    return _fast_path_function(op, tuple(sources), is_fast(), has_wide_integers())


@lru_cache(maxsize=4096)
def _fast_path_function(op: MapOp, sources: tuple[DType, ...], *_target: bool) -> str | None:
    template = template_of(op, sources)
    call = _CALL.fullmatch(template.replace("{T}", compute_type(sources[0]))) if template is not None else None
    return call[1] if call and call[1] in library.fast_path_names() else None


def template_of(op: MapOp, sources: Sequence[DType]) -> str | None:
    """Return the WGSL form of an operation for operand dtypes, or None."""
    return _template_of(op, tuple(sources), has_wide_integers())


@lru_cache(maxsize=4096)
def _template_of(op: MapOp, sources: tuple[DType, ...], _wide: bool) -> str | None:
    if op.kind.converts:
        return op.name
    kinds = [compute_type(source) for source in sources]
    # one pair among the operands is enough to need the form for pairs
    return wgsl_template(op, next((kind for kind in kinds if kind in PAIRS), kinds[0]))


def generate_expression(op: GenerateOp, position: str, parameters: Sequence[str], dtype: DType) -> str:
    """Return a generator at a flat position (a u32 expression)."""
    template = wgsl_template(op, compute_type(dtype))
    if template is None:
        raise ValueError(f"{op.name} has no WGSL form for {dtype.name}")
    return casts.wrap_expression(_filled(template, (position, *parameters), (dtype,), dtype), dtype)


def vector_expression(op: GenerateOp, count: int, position: str, parameters: Sequence[str], dtype: DType) -> str:
    """Return four or eight elements of a generator from a flat position, a multiple of four, on.

    Four are a vector, and eight are two vectors ``low`` and ``high``.
    """
    forms = op.vec4 if count == LANES else op.vec8
    return _filled(forms[compute_type(dtype)], (position, *parameters), (dtype,), dtype)


def parameter_dtypes(op: GenerateOp, dtype: DType) -> list[DType]:
    """Return the dtypes of a generator's parameters for a result of ``dtype``."""
    from_name = op.parameter_types or ("result",) * op.parameters
    return [dtype if name == "result" else canonical(name) for name in from_name]


def combine_expression(op: MapOp, first: str, second: str, dtype: DType) -> str:
    """Return two accumulated values combined, in the compute type and without rounding to 8 or 16 bits."""
    template = template_of(op, (dtype, dtype))
    if template is None:
        raise ValueError(f"{op.name} has no WGSL form for {dtype.name}")
    return _filled(template, (first, second), (dtype, dtype), dtype)


def declare(name: str, dtype: DType, expression: str) -> str:
    """Return a typed let statement."""
    return f"let {name}: {register_type(dtype)} = {expression};"
