"""Workgroup collectives: groups of invocations reduce their values to one, or scan them.

A group is a power of two of invocations of one workgroup, which has one or several groups. With subgroups, members
exchange values in registers, and only the results of subgroups go through workgroup memory. Without them, and for
values of 64 bits, all values do. The order in which values are combined depends on the numbers of the invocations
alone, so results are reproducible.

The members of a subgroup are neighbours in the workgroup. Their number is measured when the device is opened. Devices
that choose it for each kernel count as devices without subgroups.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gpuarray import dtypes
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: The types that subgroups exchange: 32-bit words, and vectors of them.
_EXCHANGED: Final = ("bool", "u32", "i32", "f32", "vec2<f32>", "vec2<u32>")


def uses_subgroups(kinds: Iterable[DType], capabilities: Capabilities) -> bool:
    """Return whether subgroups exchange values of these dtypes."""
    return capabilities.subgroup_size > 0 and all(register_type(kind) in _EXCHANGED for kind in kinds)


def stored(value: str, dtype: DType) -> str:
    """Return a value as it lies in scratch and workgroup memory: booleans as words, which have a layout everywhere."""
    return f"select(0u, 1u, {value})" if dtype == dtypes.bool_ else value


def loaded(value: str, dtype: DType) -> str:
    """Return the value that scratch or workgroup memory holds."""
    return f"({value} != 0u)" if dtype == dtypes.bool_ else value


def stored_type(dtype: DType) -> str:
    """Return the WGSL type of :func:`stored`."""
    return "u32" if dtype == dtypes.bool_ else register_type(dtype)


#: Gives the statement that folds other values of some variables, in their order, into these.
Merge: TypeAlias = Callable[[Sequence[str]], str]


@dataclass
class Collectives:
    """The collective operations of the groups of ``size`` invocations in a kernel's workgroups.

    The members of a group are neighbours. Of ``interleaved`` groups the first members are neighbours, then the second
    ones, and so on.
    """

    kernel: Kernel
    size: int
    capabilities: Capabilities
    interleaved: bool = False
    shared: dict[str, str] = field(default_factory=dict)

    def reduce(self, states: Mapping[str, DType], merge: Merge) -> None:
        """Emit statements after which the variables ``states`` of all invocations hold the merged state of their group.

        All invocations of a workgroup have to come here.
        """
        self.reduce_all([(states, merge)])

    def reduce_all(self, folds: Sequence[tuple[Mapping[str, DType], Merge]]) -> None:
        """Emit several reductions. Those whose values subgroups exchange share their barriers."""
        if self.size == 1:
            return
        exchanged = []
        for states, merge in folds:
            if uses_subgroups(states.values(), self.capabilities) and not self.interleaved:
                exchanged.append((states, merge))
            else:
                self._reduce_in_memory(states, merge)
        if exchanged:
            self._reduce_subgroups(exchanged)

    def _reduce_in_memory(self, states: Mapping[str, DType], merge: Merge) -> None:
        kernel, size = self.kernel, self.size
        arrays = self._arrays(states, kernel.workgroup)
        stores = [f"{memory}[local] = {stored(s, k)};" for memory, (s, k) in zip(arrays, states.items(), strict=True)]
        lane, first, most, least = "local", "0u", size // 2, 1
        if self.interleaved:
            least = kernel.workgroup // size
            most, first = kernel.workgroup // 2, f"local & {least - 1}u"
        elif size < kernel.workgroup:
            lane, first = f"local & {size - 1}u", f"local & {~(size - 1) & 0xFFFFFFFF}u"
        kernel.line(*stores, "workgroupBarrier();")
        kernel.line(f"for (var half = {most}u; half >= {least}u; half >>= 1u) {{", f"if (({lane}) < half) {{")
        kernel.line(merge(self._loaded(states, arrays, "local + half")), *stores, "}", "workgroupBarrier();", "}")
        pairs = zip(states, self._loaded(states, arrays, first), strict=True)
        kernel.line(*(f"{state} = {value};" for state, value in pairs), "workgroupBarrier();")

    def _reduce_subgroups(self, folds: Sequence[tuple[Mapping[str, DType], Merge]]) -> None:
        kernel, size, together = self.kernel, self.size, self.capabilities.subgroup_size
        for states, merge in folds:
            self._exchange(states, merge, min(size, together))
        if size <= together:
            return
        parts = size // together
        arrays = [self._arrays(states, kernel.workgroup // together, "part") for states, _ in folds]
        stores = [
            f"{memory}[local / {together}u] = {stored(state, kind)};"
            for (states, _), memories in zip(folds, arrays, strict=True)
            for memory, (state, kind) in zip(memories, states.items(), strict=True)
        ]
        kernel.line(f"if ((local & {together - 1}u) == 0u) {{", *stores, "}", "workgroupBarrier();")
        for (states, merge), memories in zip(folds, arrays, strict=True):
            self._merge_parts(states, merge, memories, parts)

    def _merge_parts(self, states: Mapping[str, DType], merge: Merge, arrays: Sequence[str], parts: int) -> None:
        """Emit the fold over the results of subgroups, which are in workgroup memory."""
        kernel, together = self.kernel, self.capabilities.subgroup_size
        start = f"local / {self.size}u * {parts}u + " if self.size < kernel.workgroup else ""
        first = self._loaded(states, arrays, f"{start}(local & {min(parts, together) - 1}u)")
        kernel.line(*(f"{state} = {value};" for state, value in zip(states, first, strict=True)))
        if parts > together:
            kernel.line(
                f"for (var part = (local & {together - 1}u) + {together}u; part < {parts}u; part += {together}u) {{"
            )
            kernel.line(merge(self._loaded(states, arrays, f"{start}part")), "}")
        self._exchange(states, merge, min(parts, together))

    def _exchange(self, states: Mapping[str, DType], merge: Merge, span: int) -> None:
        """Emit the fold over ``span`` neighbours in a subgroup, after which all have what the first of them has."""
        reach = 1
        while reach < span:  # written out, since a loop keeps drivers from seeing that all members take part
            others = [loaded(f"subgroupShuffleXor({stored(s, k)}, {reach}u)", k) for s, k in states.items()]
            names = [f"other{n}" for n in range(len(states))]
            lets = (f"let {name} = {value};" for name, value in zip(names, others, strict=True))
            self.kernel.line("{", *lets, merge(names), "}")
            reach *= 2
        # two that met each other need not agree on the last bit, nor on the sign of a zero
        first = f"local & {self.capabilities.subgroup_size - span}u" if span < self.capabilities.subgroup_size else "0u"
        for state, kind in states.items():
            first_value = loaded(f"subgroupShuffle({stored(state, kind)}, {first})", kind)
            self.kernel.line(f"{state} = {first_value};")

    def _loaded(self, states: Mapping[str, DType], arrays: Sequence[str], index: str) -> list[str]:
        return [loaded(f"{memory}[{index}]", kind) for memory, kind in zip(arrays, states.values(), strict=True)]

    def _arrays(self, states: Mapping[str, DType], count: int, prefix: str = "") -> list[str]:
        """Return the names of arrays in workgroup memory for some states.

        Those without a prefix are used again by the next fold, whose turn a barrier keeps apart; the others are the
        states' own.
        """
        names: list[str] = []
        for number, (state, dtype) in enumerate(states.items()):
            kind = stored_type(dtype)
            name = f"{prefix}_{state}" if prefix else f"shared{number}_{kind.replace('<', '_').replace('>', '')}"
            if name not in self.shared:
                self.shared[name] = kind
                self.kernel.module.append(f"var<workgroup> {name}: array<{kind}, {count}>;")
            names.append(name)
        return names

    def scan(self, values: Sequence[str], dtype: DType, combine: Callable[[str, str], str], neutral: str) -> None:
        """Emit the scan of several values of each invocation, where one group is the whole workgroup.

        The order is that of the invocations, first for all the first value, then for all the second. What comes before
        value ``n`` will be ``before{n}``, and the fold of all is ``whole``. The kernel says in ``scans`` how many scans
        came before this one. All invocations of a workgroup have to come here.
        """
        if uses_subgroups([dtype], self.capabilities):
            self._scan_subgroups(values, dtype, combine, neutral)
        else:
            self._scan_in_memory(values, dtype, combine, neutral)

    def _scan_subgroups(
        self, values: Sequence[str], dtype: DType, combine: Callable[[str, str], str], neutral: str
    ) -> None:
        kernel, kind, count = self.kernel, register_type(dtype), range(len(values))
        together = self.capabilities.subgroup_size
        groups, subtotal = self.size // together, stored("part", dtype)
        many = len(values) * groups
        # two halves in turn: one is still read when the other is written
        kernel.module.append(f"var<workgroup> parts: array<{stored_type(dtype)}, {2 * many}>;")
        kernel.line(f"let member = local & {together - 1}u;", f"let own = local / {together}u;")
        kernel.line(f"let half = (scans & 1u) * {many}u;")
        kernel.line(*(f"var run{n}: {kind} = {value};" for n, value in zip(count, values, strict=True)))
        for reach in self._reaches():
            lefts = (f"let left{n} = {self._up(f'run{n}', dtype, reach)};" for n in count)
            runs = (f"run{n} = {combine(f'left{n}', f'run{n}')};" for n in count)
            kernel.line("{", *lefts, f"if (member >= {reach}u) {{", *runs, "} }")
        kernel.line(
            *(f"let up{n} = {self._up(f'run{n}', dtype, 1)};" for n in count),
            f"if (member == {together - 1}u) {{",
            *(f"parts[half + {n * groups}u + own] = {stored(f'run{n}', dtype)};" for n in count),
            "}",
            "workgroupBarrier();",
            "if (own == 0u) {",
            f"var sofar: {kind} = {neutral};",
            f"for (var at = 0u; at < {many}u; at += {together}u) {{",
            "let n = at + member;",
            f"var part: {kind} = {neutral};",
            f"if (n < {many}u) {{ part = {loaded('parts[half + n]', dtype)}; }}",
        )
        for reach in self._reaches():
            left = f"let left = {self._up('part', dtype, reach)};"
            kernel.line("{", left, f"if (member >= {reach}u) {{ part = {combine('left', 'part')}; }}", "}")
        kernel.line(
            f"part = {combine('sofar', 'part')};",
            f"if (n < {many}u) {{ parts[half + n] = {subtotal}; }}",
            f"sofar = {loaded(f'subgroupShuffle({subtotal}, {together - 1}u)', dtype)};",
            "} }",
            "workgroupBarrier();",
        )
        for n in count:
            last = loaded(f"parts[half + {n * groups}u + own - 1u]", dtype)
            kernel.line(
                f"var before{n}: {kind} = {neutral};",
                f"if ({n * groups}u + own > 0u) {{ before{n} = {last}; }}",
                f"if (member > 0u) {{ before{n} = {combine(f'before{n}', f'up{n}')}; }}",
            )
        kernel.line(f"let whole: {kind} = {loaded(f'parts[half + {many - 1}u]', dtype)};")

    def _reaches(self) -> list[int]:
        """Return how far the members of a subgroup reach in the steps of a scan."""
        return [1 << step for step in range(self.capabilities.subgroup_size.bit_length() - 1)]

    def _up(self, value: str, dtype: DType, reach: int) -> str:
        return loaded(f"subgroupShuffleUp({stored(value, dtype)}, {reach}u)", dtype)

    def _scan_in_memory(
        self, values: Sequence[str], dtype: DType, combine: Callable[[str, str], str], neutral: str
    ) -> None:
        kernel, kind, size = self.kernel, register_type(dtype), self.size
        arrays = [f"run[{n * size}u + local]" for n in range(len(values))]
        lefts = [f"run[{n * size}u + local - reach]" for n in range(len(values))]
        kernel.module.append(f"var<workgroup> run: array<{stored_type(dtype)}, {len(values) * size}>;")
        kernel.line(*(f"{p} = {stored(v, dtype)};" for p, v in zip(arrays, values, strict=True)), "workgroupBarrier();")
        kernel.line(f"for (var reach = 1u; reach < {size}u; reach <<= 1u) {{")
        for n, (memory, left) in enumerate(zip(arrays, lefts, strict=True)):
            kernel.line(f"var both{n}: {kind} = {loaded(memory, dtype)};")
            kernel.line(f"if (local >= reach) {{ both{n} = {combine(loaded(left, dtype), f'both{n}')}; }}")
        kernel.line("workgroupBarrier();")
        kernel.line(*(f"{memory} = {stored(f'both{n}', dtype)};" for n, memory in enumerate(arrays)))
        kernel.line("workgroupBarrier();", "}", f"var whole: {kind} = {neutral};")
        for n in range(len(values)):
            last, left = (loaded(f"run[{at}]", dtype) for at in (n * size + size - 1, f"{n * size}u + local - 1u"))
            kernel.line(
                f"var before{n}: {kind} = whole;",
                f"if (local > 0u) {{ before{n} = {combine(f'before{n}', left)}; }}",
                f"whole = {combine('whole', last)};",
            )
        kernel.line("workgroupBarrier();")
