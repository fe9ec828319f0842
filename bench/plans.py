"""``python -m bench.plans``: what the workloads would launch and move on a GPU, without one.

A provider with the limits and the profile of a large GPU takes the steps of plans, generates their kernels and computes
nothing; what is read from it is zero. So the counts do not depend on the machine, and are there in seconds for the full
sizes. A line has launches, bytes read and written, their ratio to the minimum of the workload, and operations.
``--against`` compares with the file that ``--json`` wrote for another state of the sources.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

import gpuarray as xp
from bench.__main__ import among, members
from bench.peers import Ours
from bench.workloads import ALL, TOPICS, Workload
from gpuarray.codegen import emit
from gpuarray.codegen.programs import Program
from gpuarray.device import Capabilities, Device
from gpuarray.fusion.costs import Cost, cost
from gpuarray.fusion.steps import Step
from gpuarray.providers import registry
from gpuarray.providers.base import Kernel, Task

#: The name of the provider.
NAME: Final = "planned"
#: A large GPU: what an H100 reports through Vulkan.
LARGE: Final = Capabilities(
    adapter="a large GPU",
    kind="DiscreteGPU",
    binding_limit=(1 << 31) - 4,
    storage_bindings=64,
    workgroup_memory=48 << 10,
    workgroup_size=1024,
    subgroup_size=32,
)


@dataclass
class Buffer:
    """No memory."""

    nbytes: int
    is_shared: bool = False

    def release(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Prepared:
    """What a step costs, and how many launches it is."""

    cost: Cost
    launches: int


class Planned:
    """A provider that counts the steps that it is to run, and runs none."""

    def __init__(self, number: int = 0, capabilities: Capabilities = LARGE) -> None:
        self.device = Device(f"{NAME}:{number}")
        self.capabilities = capabilities
        self.ran: list[Prepared] = []

    def allocate(self, nbytes: int) -> Buffer:
        return Buffer(nbytes)

    def allocate_all(self, sizes: Sequence[int]) -> list[Any]:
        return [Buffer(nbytes) for nbytes in sizes]

    def adopt(self, handle: Any, nbytes: int) -> Buffer:
        return Buffer(nbytes)

    def export(self, buffer: Buffer) -> Any:
        return None

    def write(self, buffer: Buffer, array: npt.NDArray[Any]) -> None:
        pass

    def read(self, buffer: Buffer, array: npt.NDArray[Any]) -> None:
        array[...] = 0

    def supports(self, step: Step) -> str | None:
        return emit.unsupported(step, self.capabilities)

    def translate(self, step: Step) -> Program:
        return emit.emit(step, self.capabilities, fast=False, gradual=True)

    def prepare(self, step: Step, translated: Program | None = None) -> Prepared:
        program = self.translate(step) if translated is None else translated
        return Prepared(cost(step), len(program.launches))

    def run(self, tasks: Sequence[Task], wanted: Any = None) -> None:
        self.ran += [task.prepared for task in tasks]

    def synchronize(self) -> None:
        pass

    def stats(self) -> Mapping[str, int]:
        return {}

    def reset_stats(self) -> None:
        pass

    def restart_peak(self) -> None:
        pass

    def collect(self) -> None:
        pass

    def describe(self, prepared: Prepared) -> list[Kernel]:
        return []

    def launch_count(self, prepared: Prepared) -> int:
        return prepared.launches

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Counts:
    """What one run of a workload launches, moves and computes, and the least bytes that it has to move."""

    launches: int
    read: int
    written: int
    operations: int
    least: int

    @property
    def share(self) -> float:
        """The bytes that are moved, relative to the least."""
        return (self.read + self.written) / max(1, self.least)


def counts(workload: Workload, scale: Fraction, *, compiled: bool = False) -> Counts:
    """Return the counts of a workload that was run before, with or without ``jit``."""
    registry.register(NAME, Planned)
    peer = Ours(NAME, compiled)
    provider: Any = registry.open_device(Device(f"{NAME}:0"))
    size = max(1, int(workload.size * scale)) if workload.scaled else workload.size
    with peer.scope():
        arrays = [xp.asarray(array) for array in workload.inputs(size)]
        peer.wait(arrays)
        step = partial(workload.run, peer.xp, size)
        function = peer.compile(step) if workload.steps == 1 else peer.repeat(step, workload.steps)
        for _ in range(3):
            provider.ran.clear()
            result = function(*arrays)
            peer.wait([result] if hasattr(result, "dtype") else [a for a in result if hasattr(a, "dtype")])
    costs = [prepared.cost for prepared in provider.ran]
    return Counts(
        sum(prepared.launches for prepared in provider.ran),
        sum(c.read for c in costs),
        sum(c.written for c in costs),
        sum(c.operations for c in costs),
        workload.nbytes(size),
    )


def _line(name: str, result: Counts, before: Mapping[str, int] | None) -> str:
    mib = [f"{n / 2**20:10.1f}" for n in (result.read, result.written)]
    text = f"{name:31}{result.launches:7}{mib[0]}{mib[1]}{result.share:9.2f}{result.operations / 1e6:12.0f}"
    now = asdict(result)
    return text + "".join(f"  {k} were {n:,}" for k, n in (before or now).items() if n != now[k])


def main() -> int:
    """Print the table, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.plans")
    parser.add_argument("--workloads", type=among([*TOPICS, *ALL]), default=["all"], help="as of python -m bench")
    parser.add_argument("--scale", type=Fraction, default=Fraction(1, 16), help="fraction of the full sizes")
    parser.add_argument("--jit", action="store_true", help="run the functions with gpuarray.jit")
    parser.add_argument("--json", type=Path, help="output file")
    parser.add_argument("--against", type=Path, help="an earlier output file")
    given = parser.parse_args()
    chosen = {name for word in given.workloads for name in members(word)}
    before = json.loads(given.against.read_text(encoding="utf-8")) if given.against else {}
    rows = {}
    print(f"{'':31}launches  MiB read   written of least  million operations")
    for name, workload in ALL.items():
        if name not in chosen or not isinstance(workload, Workload) or "gpu" not in workload.places:
            continue
        with np.errstate(all="ignore"):
            result = counts(workload, given.scale, compiled=given.jit)
        rows[name] = asdict(result)
        print(_line(name, result, before.get(name)), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
