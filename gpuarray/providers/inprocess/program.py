"""Programs: a tiled loop written as two Python functions that call NumPy's ufuncs on registers.

``uniform`` computes the values that are the same for all elements, and ``body`` one tile. A register is scratch memory
of the tile's shape, or with one value a row, and is reused as soon as its value is dead. The last instruction before a
store writes to the output itself. The text is what runs and what ``explain`` shows. Equal texts are compiled once.
:class:`~gpuarray.providers.inprocess.loops.TiledLoop` calls :func:`write` and the functions.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from keyword import iskeyword
from types import CodeType
from typing import Any, Final, assert_never

import numpy as np
import numpy.typing as npt

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
    needed,
    operands_of,
)
from gpuarray.graph.layouts import Layout, Shape, contiguous
from gpuarray.ops import elementwise
from gpuarray.ops.columns import Kind, NumPyForm, Quirk
from gpuarray.providers.inprocess import reductions
from gpuarray.providers.inprocess.broadcast import repeats, take_lines
from gpuarray.providers.inprocess.registers import Registers
from gpuarray.providers.inprocess.tiles import Tile, Tiling
from gpuarray.providers.inprocess.views import Register, View, kept_axes


@dataclass(frozen=True)
class Program:
    """The functions of a tiled loop, and the arrays to call them with.

    ``body`` takes the tile, then arrays in the order of ``uniforms``, ``whole``, ``views`` (cut to the tile), ``parts``
    and ``registers``; ``uniform`` those of ``uniforms`` and ``whole``.

    Attributes
    ----------
    uniforms : list of (dtype, int)
        0-d arrays; the number of the scalar that each holds at first, or -1.
    whole, views : list of View
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
    whole: list[View]
    views: list[View]
    parts: dict[int, Fold]
    registers: list[Register]
    full_slots: list[int]
    row_slots: list[int]
    calls: int


#: Dtypes whose deviations from the mean are folded faster from elements that were not shifted.
_SHIFTED: Final = (dtypes.float32, dtypes.float64)


@lru_cache(maxsize=1024)
def _compiled(text: str) -> CodeType:
    return compile(text, "<gpuarray loop>", "exec")


@lru_cache(maxsize=16)
def _pattern(shape: Shape, strides: Shape) -> npt.NDArray[np.int64]:
    """Return the positions that a layout names, from position 0."""
    positions = np.zeros(shape, np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(extent, dtype=np.int64) * stride
        positions += steps.reshape(extent, *(1,) * (len(shape) - axis - 1))
    return positions


def write(loop: Loop, tiling: Tiling) -> Program:
    """Return the program of a loop whose rows ``tiling`` keeps whole, or whose folds are only stored."""
    return _Writer(loop, tiling).program()


class _Writer:
    def __init__(self, loop: Loop, tiling: Tiling) -> None:
        self.loop, self.shifts = _shifts(loop)
        self.tiling = tiling
        self.is_whole = tiling.parts <= 1
        self.space = loop.outer + loop.inner
        self.scope: dict[str, Any] = {"copyto": np.copyto}
        self.names: dict[int, str] = {}
        self.uniform_lines: list[str] = []
        self.lines: list[str] = []
        self.uniforms: dict[str, tuple[DType, int]] = {}
        self.whole: dict[str, View] = {}
        self.views: dict[str, View] = {}
        self.parts: dict[int, Fold] = {}
        self.registers = Registers()
        self.calls = 0

    def program(self) -> Program:
        loop = self.loop
        used = sorted(needed(loop.instructions, loop.wanted).union(self.shifts.values()))
        self.uses = Counter(o for n in used for o in operands_of(loop.instructions[n]))
        self.uses.update(loop.wanted)
        self.repeats = repeats(loop, self.tiling, used)
        self.products = self._products(used)
        self.last = {o: n for n in used for o in self._read(n)}
        for operand in loop.wanted:
            self.last[operand] = len(loop.instructions)
        self.direct = self._direct_stores()
        within = {self._position_of(number) for number in self.repeats.lines}
        within.update(operands_of(loop.instructions[number])[0] for number in self.products)
        for number in used:
            if number not in within:
                self._instruction(number)
        for number, store in enumerate(loop.stores):
            self._store(number, store)
        return self._assembled()

    def _assembled(self) -> Program:
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

    def _products(self, used: list[int]) -> dict[int, tuple[int, int]]:
        """Return for each sum of products that nothing else reads the two factors."""
        found = {}
        for number in used:
            item = self.loop.instructions[number]
            product = self.loop.instructions[item.operand] if isinstance(item, Fold) else None
            if isinstance(item, Fold) and isinstance(product, Apply) and reductions.adds_products(item):
                factors = product.operands * (2 if product.op is elementwise.square else 1)
                is_product = product.op in (elementwise.multiply, elementwise.square)
                is_plain = {*product.sources} == {item.source} and self.uses[item.operand] == 1
                if is_product and is_plain and all(self._fills(factor) for factor in factors):
                    found[number] = factors[0], factors[1]
        return found

    def _fills(self, number: int) -> bool:
        """Whether a value differs between all elements of a tile."""
        return self.loop.instructions[number].level == FULL and number not in self.repeats.axes

    def _read(self, number: int) -> tuple[int, ...]:
        """Return the values that the line of an instruction reads."""
        return self.products.get(number) or operands_of(self.loop.instructions[number])

    def _position_of(self, number: int) -> int:
        item = self.loop.instructions[number]
        assert isinstance(item, Take)
        return item.position

    def _uniform(self, number: int, dtype: DType, slot: int = -1) -> str:
        name = f"c{number}"
        self.uniforms[name] = dtype, slot
        return name

    def _load(self, number: int, item: Load) -> None:
        name = self.names[number] = f"x{number}"
        if item.level == UNIFORM:
            shape, strides = item.layout.shape, item.layout.strides
            offset = item.layout.offset * item.dtype.itemsize
            self.whole[name] = View(item.slot, False, item.dtype, shape, strides, offset, True)
            return
        view = self._view(item.slot, False, item.layout, item.dtype)
        self.views[name] = view
        if number in self.repeats.axes:
            kept = self.repeats.axes[number]
            key = ", ".join(":" if axis in kept else ":1" for axis in range(len(self.tiling.order)))
            self.names[number] = f"{name}[{key}]"
        elif item.level == FULL and self.uses[number] > 1 and view.is_awkward(self.tiling.block):
            target = self._target(number, FULL, item.dtype)
            self._line(FULL, f"copyto({target}, {name})")

    def _take(self, number: int, item: Take) -> None:
        source = f"x{number}"
        self.whole[source] = View(item.slot, False, item.dtype, (item.extent,), (item.dtype.itemsize,), 0, True)
        if number in self.repeats.lines:
            self.scope["take_lines"] = take_lines
            operands = ", ".join(self.names[operand] for operand in self.repeats.lines[number])
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
                wide = self.registers.take(item.level, dtypes.int64, self.repeats.axes.get(item.position))
                self._line(item.level, f"copyto({wide.name}, {positions})")
                positions = wide.name
        # mode "clip" is the only one without checks and temporaries; positions are known to be in range
        target = self._target(number, item.level, item.dtype)
        self._line(item.level, f"{source}.take({positions}, None, {target}, 'clip')")
        if wide is not None:
            self.registers.free(wide)

    def _index(self, number: int, item: Index) -> None:
        name = f"{self._function_name(item.op.name)}_{number}"
        self.scope[name] = _generator(item, self.tiling, len(self.loop.outer), self.repeats.axes.get(number))
        parameters = []
        for slot in item.parameters:
            parameter = f"p{slot}"
            self.uniforms[parameter] = self.loop.scalar_dtypes[slot], slot
            parameters.append(parameter)
        self.names[number] = target = f"g{number}" if item.level != UNIFORM else self._uniform(number, item.dtype)
        call = f"{name}({', '.join(['at' if item.level != UNIFORM else 'None', *parameters])})"
        self._line(item.level, f"{target} = {call}" if item.level != UNIFORM else f"copyto({target}, {call})")
        self._count(item.level, item.op.numpy_calls)

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
            if number in self.direct:
                values = ", ".join(
                    self._replaced(o, target, self.loop.stores[self.direct[number]]) for o in item.operands
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
        axes = self.repeats.axes.get(number)
        spare = [self._spare(f"c{number}_{k}", item.level, item.dtype, axes) for k in range(form.scratch)]
        self._line(item.level, f"{function}({', '.join([*values, target, *spare])})")
        self._count(item.level, form.calls - 1)

    def _streams(self, item: Apply) -> bool:
        """Whether a function would read uncached memory at less than half its speed."""
        operand = item.operands[0]
        is_read = self.names[operand] in self.views and self.loop.instructions[operand].level == FULL
        is_slow = Quirk.SLOW_UNCACHED in item.op.quirks and item.sources == (dtypes.float32,)
        return is_slow and is_read and item.level == FULL and self.tiling.tiles > 1

    def _apply_several(self, number: int, item: Apply, outputs: tuple[DType, ...], call: str) -> None:
        """Write the call of a ufunc with several outputs, of which one is wanted."""
        targets = []
        for position, dtype in enumerate(outputs):
            if position == item.op.output:
                targets.append(self._target(number, item.level, item.dtype))
            else:
                axes = self.repeats.axes.get(number)
                targets.append(self._spare(f"c{number}_{position}", item.level, dtype, axes))
        self._line(item.level, f"{call}, out=({', '.join(targets)}), casting='unsafe')")

    def _fold(self, number: int, item: Fold) -> None:
        dtype = reductions.computing_dtype(item)
        copy = None
        if number in self.products:
            first, second = self.products[number]
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
        shift = self.names[self.shifts[number]] if number in self.shifts else "0"
        also = "" if parts is None else f", {shift}, {'None' if spare is None else spare.name}"
        name = f"{self._function_name(item.op.name)}_{number}"
        if self.is_whole:
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

    def _direct_stores(self) -> dict[int, int]:
        """Return the number of the store for each value that is computed directly into an output."""
        found: dict[int, int] = {}
        for number, store in enumerate(self.loop.stores):
            item = self.loop.instructions[store.value]
            is_full = item.level == FULL and store.layout.shape == self.space
            is_row = item.level == OUTER and store.layout.shape == self.loop.outer and self.is_whole
            is_computed = isinstance(item, Apply | Take) or (isinstance(item, Fold) and self.is_whole)
            once = self.uses[store.value] == 1 or store.layout.is_contiguous
            is_placed = store.position is not None
            if any(store.slot == written for _, written in self.loop.updates):
                is_computed = isinstance(item, Apply) and self._may_update(item, store)
            if isinstance(item, Apply) and Quirk.WRONG_WITH_GAPS in item.op.quirks and not store.layout.is_contiguous:
                is_computed = False
            if store.value in self.repeats.axes:
                is_computed = False
            if (is_full or is_row) and is_computed and once and not is_placed and item.dtype == store.dtype:
                found.setdefault(store.value, number)
        return found

    def _may_update(self, item: Apply, store: Store) -> bool:
        """Whether an operation may write to what it reads: ufuncs may, and selections that replace one value."""
        if isinstance(item.op.numpy, np.ufunc):
            return True
        is_replaced = [self._is_updated(operand, store) for operand in item.operands]
        return item.op.kind is Kind.SELECTION and not is_replaced[0] and sum(is_replaced) < 2

    def _replaced(self, operand: int, target: str, store: Store) -> str:
        """Return the name of an operand: that of the target, if the operation replaces the operand's elements."""
        item = self.loop.instructions[operand]
        if isinstance(item, Load) and self._is_updated(operand, store) and item.layout == store.layout:
            return target
        return self.names[operand]

    def _is_updated(self, operand: int, store: Store) -> bool:
        """Whether an operand is loaded from the buffer that a store updates."""
        item = self.loop.instructions[operand]
        return isinstance(item, Load) and (item.slot, store.slot) in self.loop.updates

    def _store(self, number: int, store: Store) -> None:
        item = self.loop.instructions[store.value]
        if self.direct.get(store.value) == number or (isinstance(item, Fold) and not self.is_whole):
            return
        name, level = f"y{number}", FULL
        if store.position is not None:
            self.whole[name] = View(store.slot, True, store.dtype, (store.extent,), (store.dtype.itemsize,), 0, True)
            self.scope["place"] = _place
            self._line(FULL, f"place({name}, {self.names[store.value]}, {self.names[store.position]})")
            return
        if item.level == UNIFORM and not store.layout.shape:
            level, offset = UNIFORM, store.layout.offset * store.dtype.itemsize
            self.whole[name] = View(store.slot, True, store.dtype, (), (), offset, True)
        else:
            self.views[name] = self._view(store.slot, True, store.layout, store.dtype)
        casting = "" if item.dtype == store.dtype else ", 'unsafe'"
        self._line(level, f"copyto({name}, {self.names[store.value]}{casting})")

    def _view(self, slot: int, is_output: bool, layout: Layout, dtype: DType) -> View:
        return View.of(slot, is_output, layout, dtype, self.tiling, len(self.loop.outer))

    # ---- registers

    def _target(self, number: int, level: int, dtype: DType, in_place: Iterable[int] = ()) -> str:
        """Return the name of the array that instruction ``number`` writes to, which becomes the name of its value."""
        if level == UNIFORM:
            name = self._uniform(number, dtype)
        elif number in self.direct:
            store = self.loop.stores[self.direct[number]]
            name = f"y{self.direct[number]}"
            self.views[name] = self._view(store.slot, True, store.layout, store.dtype)
        else:
            axes = self.repeats.axes.get(number)
            dead = [operand for operand in in_place if self.last[operand] == number]
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

    def _release(self, number: int) -> None:
        for operand in set(self._read(number)):
            if self.last[operand] == number:
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


def _shifts(loop: Loop) -> tuple[Loop, dict[int, int]]:
    """Return ``loop`` with deviations from the mean folded without a shift before, and the shifts of these folds.

    Subtracting one value from all elements of a row changes no deviation. The fold itself finds out whether the mean is
    so much larger than the deviations that it needs the shift.
    """
    items, shifts = list(loop.instructions), {}
    for number, item in enumerate(loop.instructions):
        takes_shift = isinstance(item, Fold) and item.op.numpy is not None and item.op.numpy.takes_shift
        if isinstance(item, Fold) and takes_shift and item.source in _SHIFTED:
            operand = loop.instructions[item.operand]
            if (
                isinstance(operand, Apply)
                and operand.op is elementwise.subtract
                and operand.sources == (item.source,) * 2
            ):
                shifted, shift = operand.operands
                by_row = loop.instructions[shift]
                if loop.instructions[shifted].level == FULL and isinstance(by_row, Load) and by_row.level == OUTER:
                    items[number] = replace(item, operand=shifted)
                    shifts[number] = shift
    return replace(loop, instructions=tuple(items)) if shifts else loop, shifts


@lru_cache(maxsize=4096)
def _output_dtypes(ufunc: np.ufunc, sources: tuple[DType, ...]) -> tuple[DType, ...]:
    """Return what ``ufunc`` gives for operands that need no cast; as many booleans if there is no such loop."""
    try:
        return ufunc.resolve_dtypes((*sources, *([None] * ufunc.nout)))[ufunc.nin :]
    except TypeError:  # its rule allows more dtypes than the ufunc; unsafe casting then finds the loop
        return (dtypes.bool_,) * ufunc.nout


def _place(target: npt.NDArray[Any], values: npt.NDArray[Any], positions: npt.NDArray[Any]) -> None:
    """Write values at positions of a target, and drop those beyond its end."""
    values, positions = np.broadcast_arrays(values, positions)
    there = positions < target.size
    target[positions[there]] = values[there]


def _generator(item: Index, tiling: Tiling, outer: int, axes: Shape | None) -> Callable[..., Any]:
    """Return ``generate(tile, *parameters)``, the values of a generator for the elements of a tile.

    They have extent 1 along all axes but ``axes``, if these are given.
    """
    function, dtype = item.op.numpy, item.dtype
    layout = item.layout if item.level != UNIFORM else contiguous(())._replace(offset=item.layout.offset)
    if item.level == UNIFORM:
        return lambda at, *parameters: function(np.array(layout.offset), *(p[()] for p in parameters), dtype=dtype)
    _, strides, offset = tiling.place(layout, outer)
    is_row = len(layout.shape) != len(tiling.order)
    takes_range = strides == (1,) and item.op.takes_range

    def made(shape: Shape, base: int, *parameters: Any) -> Any:
        index = range(base, base + shape[0]) if takes_range else _pattern(shape, strides) + base
        return function(index, *parameters, dtype=dtype)

    # what is repeated within a tile is small, and mostly the same in the next one
    found = made if axes is None or dtype.kind not in "iu" else lru_cache(maxsize=2)(made)

    def generate(at: Tile, *parameters: Any) -> Any:
        shape = tiling.row_shape(at.shape) if is_row else at.shape
        shape = shape if axes is None else kept_axes(shape, axes)
        base = offset + sum(begin * stride for begin, stride in zip(at.start, strides, strict=True))
        return found(shape, base, *(p[()] for p in parameters))

    return generate


def _function(name: str, parameters: list[str], lines: list[str]) -> str:
    body = "\n".join(f"    {line}" for line in lines or ["pass"])
    return f"def {name}({', '.join(parameters)}):\n{body}\n"
