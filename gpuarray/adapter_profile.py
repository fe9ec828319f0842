"""The constants by which kernels and plans are tuned to an adapter, measured or derived from its type.

This file states every such constant once, with its unit, where it comes from, and how to derive it again. Planning
(:mod:`gpuarray.fusion`) and code generation (:mod:`gpuarray.codegen`) read them from ``Capabilities.profile``.

Constants that decide in which order a fold adds its elements are not here, or are the same for all GPUs, so that
results are too: see :mod:`gpuarray.codegen.row_schedule`. Matrix products are the exception: their split depends on the
adapter.

``python -m gpuarray calibrate --tune`` measures ``product_speeds``, ``units`` and ``bandwidth``, and keeps them in the
cache folder under the driver's name. A record of another :data:`VERSION` is measured again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gpuarray import disk_cache

#: The kind of record that has measured constants.
RECORD: Final = "tuning"
#: The version of the meaning of measured constants; records of another one are ignored.
VERSION: Final = 1


@dataclass(frozen=True, kw_only=True)
class AdapterProfile:
    """The speeds of an adapter. The defaults are those of an H100.

    Attributes
    ----------
    recompute_limit : int
        Simple operations. An elementwise value that costs no more is computed again by each of its readers rather than
        stored. Derived: arithmetic that fits into the time of a store and a load, ``8 * operations / bandwidth``.
    launch_operations : int
        Simple operations that take as long as one launch. Derived: the time of a launch, some microseconds, times the
        adapter's float32 operations in that time.
    byte_operations : int
        Simple operations that take as long as moving a byte. Submissions of launches are bounded by it. Derived: the
        adapter's float32 operations in the time in which a copy moves a byte.
    row_limit : int
        Elements. A longer row is not walked several times by one kernel. Derived: the length from which a kernel a pass
        is faster than one workgroup a row.
    parallel_rows : int
        Rows that keep the adapter busy, one workgroup each. Derived: half of ``units``, a power of two.
    narrow_product : int
        Columns, or rows, of a matrix product. A narrower product is limited by memory and computes an elementwise
        operand where it reads it. Derived: multiplications in the time in which memory moves four bytes.
    heavy_weight : int
        Simple operations an element. Above it arithmetic takes longer than memory traffic, and an invocation computes
        one element rather than four: the kernel compiles faster, and runs as fast. Derived: the weight at which a chain
        of functions over large arrays becomes slower than a copy.
    register_weight : int
        Simple operations that one invocation may have written out for a row in registers. Software adapters compile
        such text slowly and have a lower limit. Derived: the weight at which compiling takes more than a second.
    cache_bytes : int
        Bytes of the last-level cache. Scattered writes to more memory are sorted by position first. Taken from the
        data sheet; a cache that is taken for larger costs time only.
    selects_boxes : bool
        Whether the elements of a write to a box, or of a concatenation, may be selected by coordinates where they are
        read rather than stored. False in-process, where a copy takes less time than computing positions.
    unrolled_products : bool
        Whether the inner loops of matrix products are written out. False where compiling is slow and registers are few.
    units : int
        Compute units (streaming multiprocessors, cores), each of which runs whole workgroups. Measured: the most tiles
        of a matrix product that take no longer than one.
    unit_rate : float
        Multiplications a microsecond of one unit that is busy. Only its product with ``product_speeds`` counts, and the
        measured speeds make up for it; so it is not measured.
    bandwidth : float
        Bytes a microsecond that a copy reads and writes. Measured: a copy of much memory.
    launch_time : float
        Microseconds that one more launch adds to a matrix product, the idle end of the one before included. Derived:
        a product in one launch against the same product in two.
    product_speeds : tuple of (str, float)
        The share of ``units * unit_rate`` that each tiling of a matrix product reaches, by the tiling's name. Measured:
        a square product with each tiling. Tilings that it lacks have the share that they reach on an H100.
    """

    recompute_limit: int = 32
    launch_operations: int = 1 << 27
    byte_operations: int = 16
    row_limit: int = 1 << 17
    parallel_rows: int = 64
    narrow_product: int = 64
    heavy_weight: int = 100
    register_weight: int = 1024
    cache_bytes: int = 48 << 20
    selects_boxes: bool = True
    unrolled_products: bool = True
    units: int = 132
    unit_rate: float = 2e5
    bandwidth: float = 2.5e6
    launch_time: float = 20.0
    product_speeds: tuple[tuple[str, float], ...] = ()

    def recorded(self, driver: str) -> "AdapterProfile":
        """Return the profile with the constants that were measured on a driver, if they were."""
        return self.with_measured(disk_cache.read(RECORD, driver) or {})

    def record(self, driver: str) -> None:
        """Keep the measured constants for :meth:`recorded`."""
        disk_cache.write(RECORD, driver, self.measured())

    def with_measured(self, measured: Mapping[str, Any]) -> "AdapterProfile":
        """Return the profile with the constants of a record; without change if the record is of another version."""
        if measured.get("version") != VERSION:
            return self
        speeds, units, bandwidth = (measured.get(name) for name in ("product_speeds", "units", "bandwidth"))
        if not (isinstance(speeds, dict) and isinstance(units, int) and isinstance(bandwidth, float)):
            return self
        sound = all(isinstance(speed, float) and speed > 0 for speed in speeds.values())
        if not (sound and speeds and units > 0 and bandwidth > 0):
            return self
        return replace(self, product_speeds=tuple(sorted(speeds.items())), units=units, bandwidth=bandwidth)

    def measured(self) -> dict[str, Any]:
        """Return the record of the measured constants, which :meth:`with_measured` takes."""
        return {
            "version": VERSION,
            "product_speeds": dict(self.product_speeds),
            "units": self.units,
            "bandwidth": self.bandwidth,
        }


#: A GPU that shares the processor's memory: a tenth of the units and a fortieth of the bandwidth of an H100, so that
#: more arithmetic hides behind the memory traffic.
INTEGRATED: Final = AdapterProfile(
    recompute_limit=64,
    launch_operations=1 << 24,
    parallel_rows=16,
    narrow_product=128,
    cache_bytes=4 << 20,
    units=16,
    unit_rate=1.5e5,
    bandwidth=6e4,
)

#: Elements. A GPU computes a loop over no more of them in less time than a launch takes. It is the same for all
#: adapters, since it decides the structure of graphs. Derived: the float64 elements that the integrated GPU copies in
#: its ``launch_time``.
LAUNCH_BOUND: Final = 1 << 16

#: Kernels on the processor's cores. Compiling is slow; the speed of kernels matters less. Products are split as on a
#: large GPU, so that tests without a GPU run the kernels that a GPU runs.
SOFTWARE: Final = AdapterProfile(launch_operations=1 << 18, register_weight=128, unrolled_products=False)


def profile_of(kind: str) -> AdapterProfile:
    """Return the profile of an adapter that was not measured, by its type in WebGPU's words.

    Parameters
    ----------
    kind : str
        ``"DiscreteGPU"``, ``"IntegratedGPU"``, ``"CPU"``, or anything else, which counts as integrated.
    """
    return {"DiscreteGPU": AdapterProfile(), "CPU": SOFTWARE}.get(kind, INTEGRATED)
