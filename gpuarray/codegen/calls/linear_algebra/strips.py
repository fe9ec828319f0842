"""Strips of a panel: columns in the registers of one workgroup, of which each invocation has some rows."""

from dataclasses import dataclass

from gpuarray.device import Capabilities

#: Bytes of a strip in the registers of an invocation, and the rows of an invocation, if the workgroup can be so large.
_HELD, _ROWS = 128, 4
#: Sizes of workgroups. There are few, as each is a kernel.
_WORKGROUPS = (64, 256, 512, 1024)


@dataclass(frozen=True)
class Strip:
    """How a panel is divided: invocations, the rows of each, and the columns of a strip."""

    workgroup: int
    rows: int
    columns: int

    def at(self, r: int) -> str:
        """Return row ``r`` of an invocation; its rows are as far apart as the workgroup is large."""
        return f"(local + {r * self.workgroup}u)"

    def registers(self, r: int, first: int = 0) -> list[tuple[int, str]]:
        """Return the columns from the ``first`` on, and the registers that hold them in row ``r``."""
        return [(c, f"x{r}_{c}") for c in range(first, self.columns)]


def strip_of(rows: int, itemsize: int, capabilities: Capabilities) -> Strip:
    """Return the division of a panel into strips, given its number of rows."""
    smallest = next((size for size in _WORKGROUPS if size * _ROWS >= rows), _WORKGROUPS[-1])
    workgroup = min(capabilities.workgroup_size, smallest)
    each = max(_ROWS, 1 << (-(-rows // workgroup) - 1).bit_length())
    return Strip(workgroup, each, max(1, _HELD // itemsize // each))
