"""Programs: a tiled loop written as two Python functions that call NumPy's ufuncs on registers.

``uniform`` computes the values that are the same for all elements, and ``body`` one tile. A register is scratch memory
of the tile's shape, or with one value a row, and is reused as soon as its value is dead. The last instruction before a
store writes to the output itself. The text is what runs and what ``explain`` shows. Equal texts are compiled once.
:class:`~gpuarray.providers.inprocess.loops.TiledLoop` calls :func:`write` and the functions.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from keyword import iskeyword
from types import CodeType
from typing import Any, assert_never

import numpy as np

from gpuarray import dtypes
from gpuarray.dtypes import DType
from gpuarray.fusion.costs import calls_of_fold
from gpuarray.fusion.steps import (
    FULL,
    OUTER,
    UNIFORM,
    Apply,
    Fold,
    Index,
    Load,
    Loop,
    Scalar,
    Store,
    Take,
)
from gpuarray.graph.layouts import Layout, Shape
from gpuarray.ops.columns import Kind, NumPyForm, Quirk
from gpuarray.providers.inprocess import chains, reductions
from gpuarray.providers.inprocess.broadcast import take_lines
from gpuarray.providers.inprocess.dataflow import Dataflow
from gpuarray.providers.inprocess.registers import Registers
from gpuarray.providers.inprocess.tile_functions import generator, place
from gpuarray.providers.inprocess.tiles import Tiling
from gpuarray.providers.inprocess.views import Register, StridedView


@dataclass(frozen=True)
class Program:
    """The functions of a tiled loop, and the arrays to call them with.

    ``body`` takes the tile, then arrays in the order of ``uniforms``, ``whole``, ``views`` (cut to the tile), ``parts``
    and ``registers``; ``uniform`` those of ``uniforms`` and ``whole``.

    Attributes
    ----------
    uniforms : list of (dtype, int)
        0-d arrays; the number of the scalar that each holds at first, or -1.
    whole, views : list of StridedView
        Memory that every tile sees as a whole, and memory of which each tile sees its part.
    parts : dict of int and Fold
        The folds whose rows are spread over several tiles, by the number of the instruction.
    full_slots, row_slots : list of int
        Bytes per element of each slot of scratch memory, with a value for each element and for each row.
    calls : int
        About how many NumPy functions ``body`` calls.
    """

    text: str
    uniform: Callable[..., None] | None
    body: Callable[..., None]
    uniforms: list[tuple[DType, int]]
    whole: list[StridedView]
    views: list[StridedView]
    parts: dict[int, Fold]
    registers: list[Register]
    full_slots: list[int]
    row_slots: list[int]
    calls: int


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    return compile(text, "<gpuarray loop>", "exec")


def write(loop: Loop, tiling: Tiling) -> Program:
    """Return the program of a loop whose rows ``tiling`` keeps whole, or whose folds are only stored."""
    return _Writer(loop, tiling).program()


class _Writer:
    def __init__(self, loop: Loop, tiling: Tiling) -> None:
        self.flow = Dataflow(loop, tiling)
        self.loop = self.flow.loop
        self.tiling = tiling
        self.scope: dict[str, Any] = {"copyto": np.copyto}
        self.names: dict[int, str] = {}
        self.uniform_lines: list[str] = []
        self.lines: list[str] = []
        self.uniforms: dict[str, tuple[DType, int]] = {}
        self.whole: dict[str, StridedView] = {}
        self.views: dict[str, StridedView] = {}
        self.parts: dict[int, Fold] = {}
        self.registers = Registers()
        self.chain: dict[int, Apply] = {}
        self.chained_level = FULL
        self.calls = 0

    def program(self) -> Program:
        """Write the lines, and return the program."""
        for number in self.flow.written:
            self._instruction(number)
        self._end_chain()
        for number, store in enumerate(self.loop.stores):
            self._store(number, store)
        fixed = [*self.uniforms, *self.whole]
        names = ["at", *fixed, *self.views, *(f"q{number}" for number in self.parts), *self.registers.known]
        text = _function("body", names, self.lines)
        if self.uniform_lines:
            text = _function("uniform", fixed, self.uniform_lines) + text
        exec(_compiled(text), self.scope)
        return Program(
            text,
            self.scope["uniform"] if self.uniform_lines else None,
            self.scope["body"],
            list(self.uniforms.values()),
            list(self.whole.values()),
            list(self.views.values()),
            self.parts,
            list(self.registers.known.values()),
            self.registers.slots[FULL],
            self.registers.slots[OUTER],
            max(self.calls, 1),
        )

    # ---- instructions

    def _instruction(self, number: int) -> None:
        item = self.loop.instructions[number]
        if isinstance(item, Apply) and self._is_chained(number, item):
            if self.chain and (len(self.chain) == chains.MOST or self.chained_level != item.level):
                self._end_chain()
            self.chain[number], self.chained_level = item, item.level
            return
        if not isinstance(item, Scalar | Load):
            self._end_chain()
        match item:
            case Scalar():
                self.names[number] = self._uniform(number, item.dtype, item.slot)
            case Load():
                self._load(number, item)
            case Take():
                self._take(number, item)
            case Index():
                self._index(number, item)
            case Apply():
                self._apply(number, item)
            case Fold():
                self._fold(number, item)
            case _:
                assert_never(item)
        self._release(number)

    def _uniform(self, number: int, dtype: DType, slot: int = -1) -> str:
        name = f"c{number}"
        self.uniforms[name] = dtype, slot
        return name

    def _load(self, number: int, item: Load) -> None:
        name = self.names[number] = f"x{number}"
        if item.level == UNIFORM:
            shape, strides = item.layout.shape, item.layout.strides
            offset = item.layout.offset * item.dtype.itemsize
            self.whole[name] = StridedView(item.slot, False, item.dtype, shape, strides, offset, True)
            return
        view = self._view(item.slot, False, item.layout, item.dtype)
        self.views[name] = view
        if number in self.flow.repeats.axes:
            varying = self.flow.repeats.axes[number]
            key = ", ".join(":" if axis in varying else ":1" for axis in range(len(self.tiling.order)))
            self.names[number] = f"{name}[{key}]"
        elif item.level == FULL and self.flow.uses[number] > 1 and view.is_awkward(self.tiling.block):
            target = self._target(number, FULL, item.dtype)
            self._line(FULL, f"copyto({target}, {name})")

    def _take(self, number: int, item: Take) -> None:
        source = f"x{number}"
        self.whole[source] = StridedView(item.slot, False, item.dtype, (item.extent,), (item.dtype.itemsize,), 0, True)
        if number in self.flow.repeats.lines:
            self.scope["take_lines"] = take_lines
            operands = ", ".join(self.names[operand] for operand in self.flow.repeats.lines[number])
            self._line(FULL, f"take_lines({source}, {operands}, {self._target(number, FULL, item.dtype)})")
            self._release(item.position)
            return
        positions = self.names[item.position]
        wide = None
        if self.loop.instructions[item.position].dtype != dtypes.int64:
            if item.level == UNIFORM:
                self.scope["int64"] = dtypes.int64
                positions = f"{positions}.astype(int64)"
            else:
                wide = self.registers.take(item.level, dtypes.int64, self.flow.repeats.axes.get(item.position))
                self._line(item.level, f"copyto({wide.name}, {positions})")
                positions = wide.name
        # mode "clip" is the only one without checks and temporaries; positions are known to be in range
        target = self._target(number, item.level, item.dtype)
        self._line(item.level, f"{source}.take({positions}, None, {target}, 'clip')")
        if wide is not None:
            self.registers.free(wide)

    def _index(self, number: int, item: Index) -> None:
        name = f"{self._function_name(item.op.name)}_{number}"
        self.scope[name] = generator(item, self.tiling, len(self.loop.outer), self.flow.repeats.axes.get(number))
        parameters = []
        for slot in item.parameters:
            parameter = f"p{slot}"
            self.uniforms[parameter] = self.loop.scalar_dtypes[slot], slot
            parameters.append(parameter)
        self.names[number] = target = f"g{number}" if item.level != UNIFORM else self._uniform(number, item.dtype)
        call = f"{name}({', '.join(['at' if item.level != UNIFORM else 'None', *parameters])})"
        self._line(item.level, f"{target} = {call}" if item.level != UNIFORM else f"copyto({target}, {call})")
        self._count(item.level, item.op.numpy_calls)

    def _is_chained(self, number: int, item: Apply) -> bool:
        """Return whether an operation can be one of a chain, with others of its level."""
        is_repeated = number in self.flow.repeats.axes
        return not is_repeated and not self._streams(item) and chains.covers(item.op, item.sources, item.dtype)

    def _end_chain(self) -> None:
        """Write the call of the chain; a single operation is written as such."""
        items, self.chain = self.chain, {}
        if len(items) > 1:
            end = max(items)
            level = items[end].level
            targets = {
                number: self._target(number, level, item.dtype)
                for number, item in items.items()
                if self.flow.last[number] > end
            }
            chain = chains.chain(items, self.names, targets)
            name = f"chain_{end}"
            self.scope[name] = chain.function
            (self.uniform_lines if level == UNIFORM else self.lines).extend(chain.lines)
            self._line(level, f"{name}({', '.join(chain.arrays)})")
        else:
            for number, item in items.items():
                self._apply(number, item)
        for number in items:
            self._release(number)

    def _apply(self, number: int, item: Apply) -> None:
        uniform = tuple(self.loop.instructions[o].level == UNIFORM for o in item.operands)
        for form in item.op.numpy_forms:
            if item.dtype in form.dtypes and {*item.sources} == {item.dtype} and form.uniform in (None, uniform):
                self._apply_form(number, item, form)
                return
        function = self._function_name(item.op.name)
        ufunc = self.scope[function] = item.op.numpy
        values = ", ".join(self.names[o] for o in item.operands)
        if not isinstance(ufunc, np.ufunc):
            target = self._target(number, item.level, item.dtype)
            if number in self.flow.direct:
                values = ", ".join(
                    self._replaced(o, target, self.loop.stores[self.flow.direct[number]]) for o in item.operands
                )
            if item.op.kind is Kind.CONVERSION and not (item.sources[0].kind == "c" and item.dtype.kind not in "cb"):
                # its reference does the same, but takes ten times as long for a small tile
                self._line(item.level, f"copyto({target}, {values}, 'unsafe')")
                return
            self._line(item.level, f"{function}({values}, out={target})")
            self._count(item.level, item.op.numpy_calls)
            return
        outputs = _output_dtypes(ufunc, item.sources)
        if ufunc.nout > 1:
            self._apply_several(number, item, outputs, f"{function}({values}")
            return
        target = self._target(number, item.level, item.dtype, item.operands)
        if self._streams(item):
            self._line(item.level, f"copyto({target}, {values})")
            values = target
        exact, unsafe = outputs == (item.dtype,), ", casting='unsafe'"
        line = f"{function}({values}, out={target}{'' if exact else unsafe})"
        if item.level == FULL and item.dtype.kind in "iu" and item.op.identity is not None:
            # positions mostly have strides of 1 and offsets of 0, which are known only at run time
            first, second = item.operands
            if self.names[first] == target and self.loop.instructions[second].level == UNIFORM:
                line = f"if {self.names[second]} != {item.op.identity}: {line}"
        self._line(item.level, line)

    def _apply_form(self, number: int, item: Apply, form: NumPyForm) -> None:
        """Write the call of a faster composition of NumPy calls."""
        function = self._function_name(form.function.__name__)
        self.scope[function] = form.function
        values = [self.names[item.operands[k]] for k in form.order or range(len(item.operands))]
        target = self._target(number, item.level, item.dtype, item.operands)
        axes = self.flow.repeats.axes.get(number)
        spare = [self._spare(f"c{number}_{k}", item.level, item.dtype, axes) for k in range(form.scratch)]
        self._line(item.level, f"{function}({', '.join([*values, target, *spare])})")
        self._count(item.level, form.calls - 1)

    def _streams(self, item: Apply) -> bool:
        """Whether a function would read uncached memory at less than half its speed."""
        operand = item.operands[0]
        is_read = self.names.get(operand) in self.views and self.loop.instructions[operand].level == FULL
        is_slow = Quirk.SLOW_UNCACHED in item.op.quirks and item.sources == (dtypes.float32,)
        return is_slow and is_read and item.level == FULL and self.tiling.tiles > 1

    def _apply_several(self, number: int, item: Apply, outputs: tuple[DType, ...], call: str) -> None:
        """Write the call of a ufunc with several outputs, of which one is wanted."""
        targets = []
        for position, dtype in enumerate(outputs):
            if position == item.op.output:
                targets.append(self._target(number, item.level, item.dtype))
            else:
                axes = self.flow.repeats.axes.get(number)
                targets.append(self._spare(f"c{number}_{position}", item.level, dtype, axes))
        self._line(item.level, f"{call}, out=({', '.join(targets)}), casting='unsafe')")

    def _fold(self, number: int, item: Fold) -> None:
        dtype = reductions.computing_dtype(item)
        copy = None
        if number in self.flow.products:
            first, second = self.flow.products[number]
            copy = self.registers.take(FULL, dtype)
            operand = f"({self.names[first]}, {self.names[second]}, {copy.name})"
        else:
            operand = self.names[item.operand]
        if copy is None and (item.source != dtype or self.loop.instructions[item.operand].level != FULL):
            copy = self.registers.take(FULL, dtype)
            self._line(FULL, f"copyto({copy.name}, {operand}, 'unsafe')")
            operand = copy.name
        parts = item.op.numpy
        # a fold that takes spare memory may overwrite the copy
        spare = copy or (self.registers.take(FULL, dtype) if parts is not None and parts.takes_spare else None)
        shift = self.names[self.flow.shifts[number]] if number in self.flow.shifts else "0"
        also = "" if parts is None else f", {shift}, {'None' if spare is None else spare.name}"
        name = f"{self._function_name(item.op.name)}_{number}"
        if self.flow.is_whole:
            self.scope[name] = reductions.whole(item, self.tiling)
            self._line(OUTER, f"{name}({operand}, {self._target(number, OUTER, item.dtype)}{also})")
        else:
            self.scope[name] = reductions.partial(item, self.tiling)
            self.parts[number] = item
            self._line(OUTER, f"{name}(at, {operand}, q{number}{also})")
        self._count(OUTER, calls_of_fold(item.op) - 1)
        if spare is not None:
            self.registers.free(spare)

    # ---- stores

    def _store(self, number: int, store: Store) -> None:
        item = self.loop.instructions[store.value]
        if self.flow.direct.get(store.value) == number or (isinstance(item, Fold) and not self.flow.is_whole):
            return
        name, level = f"y{number}", FULL
        if store.position is not None:
            self.whole[name] = StridedView(
                store.slot, True, store.dtype, (store.extent,), (store.dtype.itemsize,), 0, True
            )
            self.scope["place"] = place
            self._line(FULL, f"place({name}, {self.names[store.value]}, {self.names[store.position]})")
            return
        if item.level == UNIFORM and not store.layout.shape:
            level, offset = UNIFORM, store.layout.offset * store.dtype.itemsize
            self.whole[name] = StridedView(store.slot, True, store.dtype, (), (), offset, True)
        else:
            self.views[name] = self._view(store.slot, True, store.layout, store.dtype)
        casting = "" if item.dtype == store.dtype else ", 'unsafe'"
        self._line(level, f"copyto({name}, {self.names[store.value]}{casting})")

    def _view(self, slot: int, is_output: bool, layout: Layout, dtype: DType) -> StridedView:
        return StridedView.of(slot, is_output, layout, dtype, self.tiling, len(self.loop.outer))

    # ---- registers

    def _target(self, number: int, level: int, dtype: DType, in_place: Iterable[int] = ()) -> str:
        """Return the name of the array that instruction ``number`` writes to, which becomes the name of its value."""
        if level == UNIFORM:
            name = self._uniform(number, dtype)
        elif number in self.flow.direct:
            store = self.loop.stores[self.flow.direct[number]]
            name = f"y{self.flow.direct[number]}"
            self.views[name] = self._view(store.slot, True, store.layout, store.dtype)
        else:
            axes = self.flow.repeats.axes.get(number)
            dead = [operand for operand in in_place if self.flow.last[operand] == number]
            register = self.registers.inherit(dead, level, dtype, axes) or self.registers.take(level, dtype, axes)
            self.registers.hold(number, register)
            name = register.name
        self.names[number] = name
        return name

    def _spare(self, name: str, level: int, dtype: DType, axes: Shape | None = None) -> str:
        """Return the name of scratch memory for the next line: a register, or a 0-d array ``name``."""
        if level == UNIFORM:
            self.uniforms[name] = dtype, -1
            return name
        return self.registers.borrow(level, dtype, axes).name

    def _replaced(self, operand: int, target: str, store: Store) -> str:
        """Return the name of an operand: that of the target, if the operation replaces the operand's elements."""
        item = self.loop.instructions[operand]
        if isinstance(item, Load) and self.flow.is_updated(operand, store) and item.layout == store.layout:
            return target
        return self.names[operand]

    def _release(self, number: int) -> None:
        for operand in set(self.flow.read(number)):
            if self.flow.last[operand] == number:
                self.registers.release(operand)

    # ---- small things

    def _line(self, level: int, line: str) -> None:
        (self.uniform_lines if level == UNIFORM else self.lines).append(line)
        self._count(level, 1)
        self.registers.end_line()

    def _count(self, level: int, calls: int) -> None:
        self.calls += 0 if level == UNIFORM else calls

    def _function_name(self, name: str) -> str:
        # y0 is a function, and the name of a value
        taken = iskeyword(name) or not name.isidentifier() or name[1:].isdigit()
        return name + "_" if taken else name


@lru_cache(maxsize=4096)
def _output_dtypes(ufunc: np.ufunc, sources: tuple[DType, ...]) -> tuple[DType, ...]:
    """Return the dtypes of results of ``ufunc`` for operands without casts; booleans if there is no such loop."""
    try:
        return ufunc.resolve_dtypes((*sources, *([None] * ufunc.nout)))[ufunc.nin :]
    except TypeError:  # its rule allows more dtypes than the ufunc; unsafe casting then finds the loop
        return (dtypes.bool_,) * ufunc.nout


def _function(name: str, parameters: list[str], lines: list[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines or ["pass"])
    return f"def {name}({', '.join(parameters)}):\n{body}\n"
