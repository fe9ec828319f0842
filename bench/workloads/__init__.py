"""The workloads: functions of an array namespace, with their inputs and the minimum bytes they move."""

from collections.abc import Sequence

from bench.workloads import (
    counting,
    derivatives,
    elementwise,
    fourier,
    images,
    learning,
    linear_algebra,
    movement,
    overhead,
    processors,
    products,
    random,
    reductions,
    runmat,
    signals,
    simulations,
    sorting,
    systems,
    transfers,
)
from bench.workloads.base import Probe, Workload

TOPICS: dict[str, Sequence[Workload | Probe]] = {
    "elementwise": [*elementwise.WORKLOADS, *runmat.ELEMENTWISE],
    "reductions": reductions.REDUCTIONS,
    "rows": [*reductions.EACH_ROW, *runmat.ROWS],
    "random": [*runmat.RANDOM, *random.WORKLOADS],
    "pairs": products.PAIRS,
    "simulations": simulations.WORKLOADS,
    "products": products.PRODUCTS,
    "movement": movement.WORKLOADS,
    "scans": reductions.SCANS,
    "sorting": sorting.WORKLOADS,
    "counting": counting.WORKLOADS,
    "fourier": fourier.WORKLOADS,
    "images": images.WORKLOADS,
    "signals": signals.WORKLOADS,
    "systems": systems.WORKLOADS,
    "linear_algebra": linear_algebra.WORKLOADS,
    "learning": learning.WORKLOADS,
    "derivatives": derivatives.WORKLOADS,
    "transfers": transfers.WORKLOADS,
    "processors": processors.WORKLOADS,
    "overhead": overhead.WORKLOADS,
}
"""Workloads and probes by topic. The first is the limit of most others."""

ALL: dict[str, Workload | Probe] = {workload.name: workload for topic in TOPICS.values() for workload in topic}
"""Every workload by name."""

TOPIC_OF: dict[str, str] = {workload.name: topic for topic, members in TOPICS.items() for workload in members}
"""The topic of every workload, by name."""

__all__ = ["ALL", "TOPICS", "TOPIC_OF", "Probe", "Workload"]
