"""Boolean selection: gathering the elements at which a mask is true, in C order.

The running count of the mask is the position of each selected element. The number of selected elements, which is the
shape of the result, is the only number that is downloaded. Selected values are computed where they are written, so a
selection is one kernel after the count. For masks in host memory, NumPy finds the positions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray import dtypes
from gpuarray.device import Device
from gpuarray.graph import build
from gpuarray.graph.indexing import index_dtype
from gpuarray.graph.layouts import Layout
from gpuarray.graph.nodes import Leaf, Node, host_leaf
from gpuarray.graph.shapes import broadcast_to
from gpuarray.graph.walk import current
from gpuarray.immediacy import immediacy
from gpuarray.ops import elementwise as ops
from gpuarray.ops import generators, reductions
from gpuarray.runtime import evaluate

#: Elements of larger values in host memory are selected when they are computed with: threads share the work.
AT_ONCE: Final = 1 << 20


@dataclass(frozen=True)
class Compaction:
    """The positions of the elements that a mask selects.

    Attributes
    ----------
    mask : Node
        The mask.
    count : int
        Number of selected elements.
    counts : Node
        Inclusive running count of the mask, with one axis.
    host : ndarray or None
        The mask, if its elements are in host memory.
    """

    mask: Node
    count: int
    counts: Node
    host: npt.NDArray[Any] | None = None

    @property
    def ranks(self) -> Node:
        """The inclusive running count of the mask, minus one."""
        return build.elementwise(ops.subtract, build.reshape(self.counts, self.mask.shape), 1)

    def take(self, values: Node) -> Node:
        """Return the selected elements of ``values``, which has the shape of the mask, as one axis."""
        if not self.count:
            return build.full((0,), 0, values.dtype)
        if self.host is not None:
            known = evaluate.value_of(current(values)) if values.size <= AT_ONCE and immediacy().limit else None
            if known is not None:  # a gather would need a plan for each number of elements
                return host_leaf(known[self.host])
            return build.gather(build.reshape(values, (values.size,)), self._flat())
        return build.scatter_all(values, build.elementwise(ops.where, self.mask, self.ranks, self.count), (self.count,))

    def put(self, target: Node, values: Node) -> Node:
        """Return ``target``, which has the shape of the mask, with its selected elements replaced by ``values``."""
        if not self.count:
            return target
        if self.host is not None:
            return build.scatter(target, values, self._flat())
        ranks = build.elementwise(ops.maximum, self.ranks, 0)
        return build.elementwise(ops.where, self.mask, build.gather(values, ranks), target)

    def positions(self) -> Node:
        """Return the flat positions of the selected elements, as int64."""
        if self.host is not None:
            return self._flat()
        return self.take(build.generate(generators.arange, (0, 1), self.mask.shape, dtypes.int64))

    def nonzero(self) -> tuple[Node, ...]:
        """Return the positions of the selected elements along each axis, as int64."""
        if self.host is not None:
            return tuple(host_leaf(line) for line in self.host.nonzero())
        shape = self.mask.shape
        positions = []
        for axis, extent in enumerate(shape):
            line: Node = build.generate(generators.arange, (0, 1), (extent,), dtypes.int64)
            line = build.reshape(line, tuple(extent if a == axis else 1 for a in range(len(shape))))
            positions.append(self.take(build.view(line, broadcast_to(line.shape, shape))))
        return tuple(positions)

    def _flat(self) -> Node:
        assert self.host is not None
        return host_leaf(np.flatnonzero(self.host))


def compaction(mask: Node, device: Device, shared: Sequence[Node] = ()) -> Compaction:
    """Count a mask of any shape. Evaluates it on ``device`` and waits, unless its elements are on the host.

    The nodes ``shared``, on which the mask depends, are evaluated with it, so that they are not computed again.
    """
    dtype = index_dtype(mask.size)
    counts = build.scan(reductions.sum, build.reshape(mask, (mask.size,)), 0, dtype)
    if not mask.size:
        return Compaction(mask, 0, counts)
    if evaluate.is_host_device(device):
        evaluate.evaluate([mask, *shared], device)
        host = evaluate.read(mask, device)
        return Compaction(mask, int(np.count_nonzero(host)), counts, host)
    known = current(mask)
    if isinstance(known, Leaf) and known.host is not None and mask.size < evaluate.QUICKLY_SEEN:
        return Compaction(mask, int(np.count_nonzero(known.host)), counts)
    if len(mask.shape) == 1:  # counted by the kernel that makes it, and scanned by the one that reads through it
        total, outputs = build.reduce(reductions.sum, mask, None, dtype, False), [mask, *shared]
    else:
        total, outputs = build.view(counts, Layout((), (), mask.size - 1)), [mask, counts, *shared]
    # the value that is read comes first; otherwise "auto" would count the mask as read on the host
    evaluate.evaluate([total, *outputs], device, is_read=device.kind != "auto")
    return Compaction(mask, int(evaluate.read(total, device)), counts)
