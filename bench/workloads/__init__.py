"""What is measured: each workload is one function of an array namespace, with its inputs and the bytes it must move."""

from bench.workloads import chain, host, memory, movement, overhead, products, reductions, runmat
from bench.workloads.base import Probe, Workload

ALL: dict[str, Workload | Probe] = {
    workload.name: workload
    for topic in (memory, movement, chain, runmat, reductions, products, host, overhead)
    for workload in topic.WORKLOADS
}
"""Every workload by name; ``copy`` comes first, because it is the yardstick of the others."""

__all__ = ["ALL", "Probe", "Workload"]
