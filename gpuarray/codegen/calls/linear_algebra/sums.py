"""Sums of several numbers of each invocation over a workgroup.

Neighbours exchange halves of their numbers: after as many steps as it takes, each of them has the sum of one number
over a few of them, and goes on with that one alone. The order of additions depends on the numbers of the invocations.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gpuarray.codegen.collectives import Collectives, uses_subgroups
from gpuarray.codegen.storage import register_type
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType

#: Neighbours whose sums are known together, where they do not exchange numbers in registers.
_SPAN: Final = 32


def span_of(count: int, workgroup: int, dtype: DType, capabilities: Capabilities) -> int:
    """Return how many neighbours of a workgroup sum ``count`` numbers each together."""
    together = capabilities.subgroup_size
    is_exchanged = uses_subgroups([dtype], capabilities) and count <= together <= workgroup
    return together if is_exchanged else min(_SPAN, workgroup)


class CollectiveSums:
    """The sums of the variables ``names``, whose number is a power of two; all invocations have to come here.

    Parameters
    ----------
    collectives : Collectives
        Of all invocations of the workgroup.
    names : sequence of str
        Of variables.
    dtype : dtype
        Of these.

    Attributes
    ----------
    span : int
        Invocations whose sums :meth:`of_neighbours` finds.
    is_shared : bool
        Whether they are of several subgroups, which exchange sums in workgroup memory.
    """

    def __init__(self, collectives: Collectives, names: Sequence[str], dtype: DType) -> None:
        kernel, workgroup, capabilities = collectives.kernel, collectives.size, collectives.capabilities
        self._kernel, self._names, self._dtype, self._workgroup = kernel, list(names), dtype, workgroup
        together = capabilities.subgroup_size
        self._exchanges = uses_subgroups([dtype], capabilities) and len(names) <= together <= workgroup
        self.span = span_of(len(names), workgroup, dtype, capabilities)
        self.is_shared = not self._exchanges and 0 < together < self.span
        self._all, self._few = collectives, replace(collectives, size=self.span)
        if self._exchanges:
            # two halves in turn: one is still read when the other is written
            count = 2 * workgroup // together * len(names)
            kernel.module.append(f"var<workgroup> summed: array<{register_type(dtype)}, {count}>;")
            kernel.line("var summed_half = 0u;")

    def over_all(self) -> None:
        """Emit statements after which the variables have their sums over the workgroup."""
        if not self._exchanges:
            self._reduce(self._all)
            return
        count, span, first = len(self._names), self.span, self._names[0]
        parts = self._workgroup // span
        self._exchange()
        kind = register_type(self._dtype)
        self._kernel.line(
            f"if (local % {span}u < {count}u) {{",
            f"summed[summed_half + local / {span}u * {count}u + local % {span}u] = {first};",
            "}",
            "workgroupBarrier();",
            f"{first} = {kind}();",
        )
        for start in range(0, parts * count, span):
            inside = f"if (local % {span}u < {parts * count - start}u) " if parts * count - start < span else ""
            self._kernel.line(f"{inside}{{ {first} += summed[summed_half + {start}u + local % {span}u]; }}")
        self._add(count)
        self._kernel.line(
            f"summed_half = {parts * count}u - summed_half; let found = {first};",
            *(f"{name} = subgroupShuffle(found, {n}u);" for n, name in enumerate(self._names)),
        )

    def of_neighbours(self, line: str) -> None:
        """Emit statements that sum over each ``span`` of neighbours.

        Parameters
        ----------
        line : str
            A statement that some neighbours run, each for one variable: ``{value}`` is its sum, and ``{number}`` its
            number.
        """
        count, span = len(self._names), self.span
        if self._exchanges:
            self._exchange()
            what = line.format(value=self._names[0], number=f"(local % {span}u)")
            self._kernel.line(f"if (local % {span}u < {count}u) {{ {what} }}")
            return
        self._reduce(self._few)
        lines = (line.format(value=name, number=f"{n}u") for n, name in enumerate(self._names))
        self._kernel.line(f"if (local % {span}u == 0u) {{", *lines, "}")

    def _reduce(self, collectives: Collectives) -> None:
        states = dict.fromkeys(self._names, self._dtype)
        collectives.reduce(states, lambda second: " ".join(f"{d} += {o};" for d, o in zip(states, second, strict=True)))

    def _exchange(self) -> None:
        """Emit the exchange, after which the first variable of the neighbours is the sum of the one with their number.

        Their numbers begin again after as many neighbours as there are variables.
        """
        half = len(self._names) // 2
        while half:
            for n in range(half):
                low, high = self._names[n], self._names[n + half]
                self._kernel.line(
                    f"{{ let is_upper = (local & {half}u) != 0u; let given = select({high}, {low}, is_upper);",
                    f"{low} = select({low}, {high}, is_upper) + subgroupShuffleXor(given, {half}u); }}",
                )
            half //= 2
        self._add(len(self._names))

    def _add(self, reach: int) -> None:
        """Emit the sum of the first variable over the neighbours that have the same one."""
        first = self._names[0]
        while reach < self.span:
            self._kernel.line(f"{first} += subgroupShuffleXor({first}, {reach}u);")
            reach *= 2
