"""Teams: invocations of a workgroup that fold their values into one, or scan them.

A team is as many neighbouring invocations as a power of two says; a workgroup holds one or several. Where the device
has subgroups, their members hand each other values without memory and without waiting, and only what subgroups found
goes through workgroup memory; elsewhere, and for values of 64 bits, all of it does. Which value meets which depends on
the numbers of the invocations alone, so results are reproducible.

A subgroup's members are taken to be neighbours in the workgroup, and nothing is assumed about how many they are but the
device's least number; the kernel asks for the number itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: What subgroups can hand over: 32-bit words, and vectors of them.
_HANDED: Final = ("bool", "u32", "i32", "f32", "vec2<f32>", "vec2<u32>")


def uses_subgroups(kinds: Iterable[DType], capabilities: Capabilities) -> bool:
    """Whether values of these dtypes go through subgroups."""
    return capabilities.subgroup_size > 0 and all(register_type(kind) in _HANDED for kind in kinds)


def held(value: str, dtype: DType) -> str:
    """Return a value as it lies in scratch and workgroup memory: booleans as words, which have a layout everywhere."""
    return f"select(0u, 1u, {value})" if dtype == dtypes.bool_ else value


def seen(value: str, dtype: DType) -> str:
    """Return the value that scratch or workgroup memory holds."""
    return f"({value} != 0u)" if dtype == dtypes.bool_ else value


def held_type(dtype: DType) -> str:
    """Return the WGSL type of :func:`held`."""
    return "u32" if dtype == dtypes.bool_ else register_type(dtype)


@dataclass
class Team:
    """The teams of ``size`` invocations in a kernel's workgroups."""

    kernel: Kernel
    size: int
    capabilities: Capabilities
    shared: dict[str, str] = field(default_factory=dict)

    def fold(self, states: Mapping[str, DType], meet: Callable[[Sequence[str]], str]) -> None:
        """Emit statements after which the variables ``states`` of all invocations are what their team's folded to.

        ``meet`` gives the statement that folds other states into the variables. All invocations of a workgroup have
        to come here.
        """
        if self.size == 1:
            return
        if uses_subgroups(states.values(), self.capabilities):
            self._fold_subgroups(states, meet)
        else:
            self._fold_in_memory(states, meet)

    def _fold_in_memory(self, states: Mapping[str, DType], meet: Callable[[Sequence[str]], str]) -> None:
        kernel, size = self.kernel, self.size
        places = self._places(states, kernel.workgroup)
        stores = [f"{place}[local] = {held(s, k)};" for place, (s, k) in zip(places, states.items(), strict=True)]
        place = f"local & {size - 1}u" if size < kernel.workgroup else "local"
        first = f"local & {~(size - 1) & 0xFFFFFFFF}u" if size < kernel.workgroup else "0"
        kernel.line(*stores, "workgroupBarrier();")
        kernel.line(f"for (var half = {size // 2}u; half > 0u; half >>= 1u) {{", f"if (({place}) < half) {{")
        kernel.line(meet(self._seen(states, places, "local + half")), *stores, "}", "workgroupBarrier();", "}")
        found = zip(states, self._seen(states, places, first), strict=True)
        kernel.line(*(f"{state} = {value};" for state, value in found), "workgroupBarrier();")

    def _fold_subgroups(self, states: Mapping[str, DType], meet: Callable[[Sequence[str]], str]) -> None:
        kernel, size, least = self.kernel, self.size, self.capabilities.subgroup_size
        kernel.subgroups = True
        span = f"{size}u" if size <= least else f"min({size}u, together)"
        self._exchange(states, meet, span)
        if size <= least:
            return
        places = self._places(states, kernel.workgroup // least, "part")
        kernel.line("{", f"let span = {span};", "if ((member & (span - 1u)) == 0u) {")
        kernel.line(*(f"{p}[local / span] = {held(s, k)};" for p, (s, k) in zip(places, states.items(), strict=True)))
        kernel.line("}", "workgroupBarrier();", f"let parts = {size}u / span;")
        kernel.line(f"let start = local / {size}u * parts;" if size < kernel.workgroup else "let start = 0u;")
        first = self._seen(states, places, "start + (member & (parts - 1u))")
        kernel.line(*(f"{state} = {value};" for state, value in zip(states, first, strict=True)))
        kernel.line("for (var part = member + together; part < parts; part += together) {")
        kernel.line(meet(self._seen(states, places, "start + part")), "}")
        self._exchange(states, meet, "min(parts, together)")
        kernel.line("}")

    def _exchange(self, states: Mapping[str, DType], meet: Callable[[Sequence[str]], str], span: str) -> None:
        """Emit the fold over ``span`` neighbours in a subgroup, after which all have what the first of them has."""
        others = [seen(f"subgroupShuffleXor({held(s, k)}, reach)", k) for s, k in states.items()]
        names = [f"other{n}" for n in range(len(states))]
        self.kernel.line(
            f"for (var reach = 1u; reach < {span}; reach <<= 1u) {{",
            *(f"let {name} = {other};" for name, other in zip(names, others, strict=True)),
            meet(names),
            "}",
        )
        # two that met each other need not agree on the last bit, nor on the sign of a zero
        first = f"member & ~({span} - 1u)"
        for state, kind in states.items():
            given = seen(f"subgroupShuffle({held(state, kind)}, {first})", kind)
            self.kernel.line(f"{state} = {given};")

    def _seen(self, states: Mapping[str, DType], places: Sequence[str], index: str) -> list[str]:
        return [seen(f"{place}[{index}]", kind) for place, kind in zip(places, states.values(), strict=True)]

    def _places(self, states: Mapping[str, DType], count: int, prefix: str = "") -> list[str]:
        """Return the names of arrays in workgroup memory for some states.

        Those without a prefix are used again by the next fold, whose turn a barrier keeps apart; the others are the
        states' own.
        """
        names: list[str] = []
        for number, (state, dtype) in enumerate(states.items()):
            kind = held_type(dtype)
            name = f"{prefix}_{state}" if prefix else f"shared{number}_{kind.replace('<', '_').replace('>', '')}"
            if name not in self.shared:
                self.shared[name] = kind
                self.kernel.module.append(f"var<workgroup> {name}: array<{kind}, {count}>;")
            names.append(name)
        return names
