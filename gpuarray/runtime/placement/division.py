"""The division of the steps of a plan between host and device that takes the least total time.

The total time is the sum of the times of the steps where they run, of one transfer for each value that is used at the
other place, and of the use of the device at all. The optimal division is a minimum cut of a network whose edges have
these times as capacities. A maximum flow finds it exactly (Ford and Fulkerson; Stone applied it to programs on two
processors in "Multiprocessor scheduling with the aid of network flow algorithms", 1977). So a step that would be faster
on the device stays on the host if transfers of its operands would take longer.

Times are integers, in nanoseconds. Called by the runtime for plans on the device ``"auto"``.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

#: More than any time, for edges that must not be cut.
NEVER: Final = 1 << 60

HOST: Final = 0
DEVICE: Final = 1


@dataclass(frozen=True, slots=True)
class Value:
    """A value that steps write or read.

    Attributes
    ----------
    producer : int or None
        The step that writes it; None for a leaf.
    consumers : tuple of int
        The steps that read it.
    places : tuple of bool
        Whether it is on the host and on the device before the run; used if there is no producer.
    wanted : tuple of int
        The cost of leaving it on the host and on the device: ``NEVER`` where it must not stay.
    upload, download : int
        The times of copies to the device and to the host.
    """

    producer: int | None
    consumers: tuple[int, ...]
    places: tuple[bool, bool]
    wanted: tuple[int, int]
    upload: int
    download: int


def divide(steps: Sequence[tuple[int, int]], values: Sequence[Value], use: int) -> tuple[list[int], int]:
    """Return the place of each step, and the total time.

    Parameters
    ----------
    steps : sequence of (int, int)
        Time of each step on the host and on the device; ``NEVER`` where it cannot run.
    values : sequence of Value
        The values that they read and write.
    use : int
        Time to use the device at all.
    """
    network = _Network(len(steps) + 3 + 2 * len(values))
    host, device, used = len(steps), len(steps) + 1, len(steps) + 2
    network.join(host, used, use)
    for number, (on_host, on_device) in enumerate(steps):
        network.join(host, number, on_device)
        network.join(number, device, on_host)
        network.join(used, number, NEVER)
    for number, value in enumerate(values):
        up, down = len(steps) + 3 + 2 * number, len(steps) + 4 + 2 * number
        makers = [value.producer] if value.producer is not None else []
        if value.producer is None:
            makers = [host] if value.places == (True, False) else [device] if value.places == (False, True) else []
        for maker in makers:
            network.join(maker, up, value.upload)
            network.join(down, maker, value.download)
        for consumer in value.consumers:
            network.join(up, consumer, NEVER)
            network.join(consumer, down, NEVER)
        if value.producer is not None:
            network.join(value.producer, device, value.wanted[HOST])
            network.join(host, value.producer, value.wanted[DEVICE])
    total = network.flow(host, device)
    beyond = network.reached(host)
    return [HOST if beyond[number] else DEVICE for number in range(len(steps))], total


class _Network:
    """A directed network with capacities, and Dinic's maximum flow through it."""

    def __init__(self, size: int) -> None:
        self._edges: list[list[int]] = [[] for _ in range(size)]
        self._heads: list[int] = []
        self._left: list[int] = []

    def join(self, tail: int, head: int, capacity: int) -> None:
        """Add an edge; edge ``n ^ 1`` is the way back along edge ``n``."""
        if capacity <= 0:
            return
        for start, stop, room in ((tail, head, capacity), (head, tail, 0)):
            self._edges[start].append(len(self._heads))
            self._heads.append(stop)
            self._left.append(room)

    def flow(self, source: int, sink: int) -> int:
        """Send the maximum flow from source to sink, and return it."""
        total = 0
        while True:
            level = self._levels(source)
            if level[sink] < 0:
                return total
            start = [0] * len(self._edges)
            while sent := self._augment(source, sink, level, start):
                total += sent

    def reached(self, source: int) -> list[bool]:
        """Return which nodes can still be reached, which is the source's side of the minimum cut."""
        return [depth >= 0 for depth in self._levels(source)]

    def _levels(self, source: int) -> list[int]:
        level = [-1] * len(self._edges)
        level[source] = 0
        waiting = deque((source,))
        while waiting:
            node = waiting.popleft()
            for edge in self._edges[node]:
                head = self._heads[edge]
                if self._left[edge] > 0 and level[head] < 0:
                    level[head] = level[node] + 1
                    waiting.append(head)
        return level

    def _augment(self, source: int, sink: int, level: list[int], start: list[int]) -> int:
        """Send flow along one path of rising levels, without recursion because plans may be long."""
        path: list[int] = []
        node = source
        while node != sink:
            while start[node] < len(self._edges[node]):
                edge = self._edges[node][start[node]]
                head = self._heads[edge]
                if self._left[edge] > 0 and level[head] == level[node] + 1:
                    break
                start[node] += 1
            else:
                if not path:
                    return 0
                node = self._heads[path.pop() ^ 1]  # a dead end: back, and not this way again
                start[node] += 1
                continue
            path.append(edge)
            node = head
        sent = min(self._left[edge] for edge in path)
        for edge in path:
            self._left[edge] -= sent
            self._left[edge ^ 1] += sent
        return sent
