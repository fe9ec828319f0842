"""Opaque rows as one node, and reads by functions that go on without a kernel."""

from typing import Any

import numpy as np

from gpuarray.array import GpuArray
from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.ops.spec import CallOp
from gpuarray.runtime import evaluate


def call(row: CallOp, inputs: list[Node], shape: Shape, dtype: DType, **parameters: Any) -> Node:
    """Return the one output of an opaque row."""
    (node,) = build.call(row, inputs, parameters, [(shape, dtype)])
    return node


def read(array: GpuArray, function: str, reason: str) -> np.ndarray[Any, Any]:
    """Return the elements on the host, for a function whose result's shape depends on them; counted as a fallback.

    Raises
    ------
    FallbackError
        If ``config.fallback`` is ``"error"``.
    """
    return evaluate.read_in_place_of_a_kernel(array.node(), array.device, function, reason)
