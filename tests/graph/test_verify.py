"""The verifier of graphs finds what is wrong with a node, and nothing wrong with those that the builder makes."""

from collections.abc import Callable

import numpy as np
import pytest

from gpuarray import dtypes
from gpuarray.errors import InternalError
from gpuarray.graph import build
from gpuarray.graph.layouts import Layout, contiguous
from gpuarray.graph.nodes import (
    Concat,
    Contract,
    Gather,
    Leaf,
    Map,
    Node,
    Reduce,
    Scan,
    Scatter,
    View,
    host_leaf,
)
from gpuarray.graph.verify import check_graph
from gpuarray.graph.walk import merge, topological
from gpuarray.ops import elementwise as ops
from gpuarray.ops import reductions

X = host_leaf(np.ones((2, 3), np.float32))
INTEGERS = host_leaf(np.ones((2, 3), np.int32))


def check(node: Node) -> None:
    check_graph(*merge(topological([node]))[:2])


def test_what_the_builder_makes_is_right() -> None:
    check(build.reduce(reductions.sum, build.elementwise(ops.add, X, INTEGERS), 1, None, True))
    check(build.scatter(X, build.full((), 1, dtypes.float32), Layout((2,), (3,), 1)))
    check(build.concat([X, X], 1))


WRONG: dict[str, Callable[[], Node]] = {
    "a leaf without a value": lambda: Leaf((2,), dtypes.float32),
    "operands of different dtypes": lambda: Map(ops.add, (X, INTEGERS), (2, 3), dtypes.float32),
    "a dtype that the row does not give": lambda: Map(ops.less, (X, X), (2, 3), dtypes.float32),
    "too few operands": lambda: Map(ops.add, (X,), (2, 3), dtypes.float32),
    "an operand that does not broadcast": lambda: Map(ops.negative, (X,), (2, 4), dtypes.float32),
    "a view out of bounds": lambda: View(X, Layout((4,), (2,), 0)),
    "a view before the start": lambda: View(X, Layout((4,), (-1,), 2)),
    "pieces that are too short": lambda: Concat((X, X), 0, (5, 3), dtypes.float32),
    "axes out of order": lambda: Reduce(reductions.sum, X, (1, 0), (), dtypes.float32),
    "axes that stay": lambda: Reduce(reductions.sum, X, (1,), (3,), dtypes.float32),
    "an axis that is not there": lambda: Scan(reductions.sum, X, 2, dtypes.float32),
    "positions that are no integers": lambda: Gather(X, X),
    "values of another dtype": lambda: Scatter(X, INTEGERS, contiguous((2, 3)), None, (2, 3)),
    "a place written twice": lambda: Scatter(X, X, Layout((2, 3), (0, 1), 0), None, (2, 3)),
    "fewer values than places": lambda: Scatter(None, X, None, INTEGERS, (7,)),
    "places that are no integers": lambda: Scatter(None, X, None, X, (6,)),
    "matrices that do not match": lambda: Contract(build.reshape(X, (1, 2, 3)), build.reshape(X, (1, 2, 3))),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(what: str) -> None:
    with pytest.raises(InternalError, match="an invariant does not hold"):
        check(WRONG[what]())
