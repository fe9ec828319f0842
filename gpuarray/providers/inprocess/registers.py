"""Registers: scratch memory in which the values of a program are, while something reads them."""

from collections.abc import Iterable

from gpuarray.dtypes import DType
from gpuarray.fusion.steps import FULL, OUTER
from gpuarray.graph.layouts import Shape
from gpuarray.providers.inprocess.views import Register


class Registers:
    """Hands out the registers of one program; memory that is free is handed out again first.

    Attributes
    ----------
    known : dict of Register
        All registers that were handed out, by name.
    slots : dict of list
        Bytes per element of each slot of scratch memory, by level.
    """

    __slots__ = ("_borrowed", "_free", "_results", "known", "slots")

    def __init__(self) -> None:
        self.known: dict[str, Register] = {}
        self.slots: dict[int, list[int]] = {FULL: [], OUTER: []}
        self._free: dict[int, list[int]] = {FULL: [], OUTER: []}
        self._results: dict[int, Register] = {}
        self._borrowed: list[Register] = []

    def take(self, level: int, dtype: DType, axes: Shape | None = None) -> Register:
        """Return a register that nothing uses."""
        widths, free = self.slots[level], self._free[level]
        slot = free.pop() if free else len(widths)
        if slot == len(widths):
            widths.append(0)
        widths[slot] = max(widths[slot], dtype.itemsize)
        register = Register(level, slot, dtype, axes)
        self.known.setdefault(register.name, register)
        return register

    def free(self, register: Register) -> None:
        """Let the memory of a register be used again."""
        self._free[register.level].append(register.slot)

    def borrow(self, level: int, dtype: DType, axes: Shape | None) -> Register:
        """Return a register that is free again after the next line."""
        register = self.take(level, dtype, axes)
        self._borrowed.append(register)
        return register

    def end_line(self) -> None:
        """Take back the registers that were borrowed for a line."""
        while self._borrowed:
            self.free(self._borrowed.pop())

    def hold(self, number: int, register: Register) -> None:
        """Note that a register has the value of an instruction."""
        self._results[number] = register

    def inherit(self, numbers: Iterable[int], level: int, dtype: DType, axes: Shape | None) -> Register | None:
        """Return a register of this kind that has one of some values, which are not read any more."""
        for number in numbers:
            register = self._results.get(number)
            if register is not None and (register.level, register.dtype, register.axes) == (level, dtype, axes):
                return self._results.pop(number)
        return None

    def release(self, number: int) -> None:
        """Free the register of a value that is not read any more, if it has one."""
        register = self._results.pop(number, None)
        if register is not None:
            self.free(register)
