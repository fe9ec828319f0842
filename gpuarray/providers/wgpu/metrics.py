"""What happened on a device: counters of events, and the time of each launch while ``config.debug`` is 2 or more.

Invariant: counting never waits for the device; timing does, so it is off unless asked for. The provider owns one
:class:`Counters`; the dispatcher calls :class:`LaunchTimer`.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import wgpu

from gpuarray.providers.wgpu.driver import Command, PublicDriver


@dataclass(slots=True)
class Counters:
    """Events since the provider was opened or since the last reset."""

    launches: int = 0
    compiles: int = 0
    submits: int = 0
    bytes_uploaded: int = 0
    bytes_downloaded: int = 0

    def reset(self) -> None:
        """Set all counters to zero."""
        for field in fields(self):
            setattr(self, field.name, 0)

    def as_dict(self) -> dict[str, int]:
        """Return the counters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


#: Launches that are timed together; a query set holds two timestamps of each.
_BATCH: Final = 256


class LaunchTimer:
    """Runs commands in a compute pass each, and prints how long the device took for each."""

    def __init__(self, driver: PublicDriver) -> None:
        self._driver = driver
        self._possible = "timestamp-query" in driver.device.features
        if self._possible:
            usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
            self._queries = driver.device.create_query_set(type="timestamp", count=2 * _BATCH)
            self._resolved = driver.create_buffer(16 * _BATCH, usage)
            self._staging = driver.create_staging(16 * _BATCH)

    def objects(self) -> Iterator[Any]:
        """Yield the wgpu objects that this timer holds."""
        if self._possible:
            yield from (self._queries, self._resolved, self._staging.gpu)

    def submit(self, commands: Sequence[Command], labels: Sequence[str]) -> None:
        """Run commands and print a line for each: the time in microseconds and the label."""
        if not self._possible:
            self._driver.submit(commands)
            for label in labels:
                print(f"gpuarray: launch {label}", file=sys.stderr)
            return
        for start in range(0, len(commands), _BATCH):
            batch = commands[start : start + _BATCH]
            for label, elapsed_ns in zip(labels[start : start + _BATCH], self._measure(batch), strict=True):
                print(f"gpuarray: launch {elapsed_ns / 1e3:12,.1f} us  {label}", file=sys.stderr)

    def _measure(self, commands: Sequence[Command]) -> list[float]:
        encoder = self._driver.device.create_command_encoder()
        for i, (pipeline, group, offset, workgroups) in enumerate(commands):
            writes = {
                "query_set": self._queries,
                "beginning_of_pass_write_index": 2 * i,
                "end_of_pass_write_index": 2 * i + 1,
            }
            compute = encoder.begin_compute_pass(timestamp_writes=writes)
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group, [offset])
            compute.dispatch_workgroups(*workgroups)
            compute.end()
        encoder.resolve_query_set(self._queries, 0, 2 * len(commands), self._resolved, 0)
        self._driver.queue.submit([encoder.finish()])
        ticks = np.empty(2 * len(commands), np.uint64)
        self._driver.start_read(self._resolved, 0, self._staging, ticks.nbytes)
        self._driver.finish_read(self._staging, ticks.view(np.uint8))
        elapsed = (ticks[1::2] - ticks[::2]).astype(np.float64) * self._driver.tick_ns()
        return [float(value) for value in elapsed]
