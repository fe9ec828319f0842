"""Derivatives and batches of NumPy code, under JAX's names.

A function is run with arrays that stand for variables. What it records is an ordinary graph; an evaluation in the
meantime leaves the operands of what depends on variables on a tape (:mod:`gpuarray.graph.tape`). The graph between
results and variables is a subgraph (:mod:`.subgraph`), which is transposed by one rule for each kind of node
(:mod:`.nodes`); elementwise operations have partial derivatives (:mod:`gpuarray.ops.derivatives`). Forward mode is the
transpose of the transpose. Derivatives are recorded like anything else, and so have derivatives themselves.

A batch is mapped over in the same way: a function is run with placeholders for one element, and its graph is translated
to one for all elements (:mod:`.batches`), by one rule for each kind of node (:mod:`.batched_nodes`).
"""

from typing import TYPE_CHECKING

from gpuarray.autodiff import calls as _calls  # noqa: F401  # these set the rules
from gpuarray.autodiff import custom, jacobians, mapping, transforms
from gpuarray.autodiff import nodes as _nodes  # noqa: F401
from gpuarray.autodiff.custom import *
from gpuarray.autodiff.jacobians import *
from gpuarray.autodiff.mapping import *
from gpuarray.autodiff.transforms import *

if not TYPE_CHECKING:  # a checker takes the names from the imports
    __all__ = [*custom.__all__, *jacobians.__all__, *mapping.__all__, *transforms.__all__]
