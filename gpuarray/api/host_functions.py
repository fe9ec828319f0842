"""Opaque rows as one node."""

from typing import Any

from gpuarray.dtypes import DType
from gpuarray.graph import build
from gpuarray.graph.layouts import Shape
from gpuarray.graph.nodes import Node
from gpuarray.ops.spec import CallOp


def call(row: CallOp, inputs: list[Node], shape: Shape, dtype: DType, **parameters: Any) -> Node:
    """Return the one output of an opaque row."""
    (node,) = build.call(row, inputs, parameters, [(shape, dtype)])
    return node
