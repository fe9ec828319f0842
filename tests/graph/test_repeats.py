"""Repeated graphs: copies with other leaves, whose operands are made when they are asked for."""

import gc
from weakref import ref

import numpy as np
import pytest

import gpuarray as xp
import gpuarray.scipy.ndimage as ndi
from gpuarray.graph import build, repeats
from gpuarray.graph.nodes import Leaf, Map, host_leaf
from gpuarray.graph.repeats import Operands, RepeatedGraph
from gpuarray.ops import elementwise as ops


def leaf(*values):
    return host_leaf(np.array(values, np.float32))


def recorded():
    """Return a repeated graph of two results, one of them an operand of the other, and a leaf that copies share."""
    source, shared = Leaf((2,), np.dtype(np.float32)), leaf(1, 2)
    total = build.binary(ops.add, source, shared)
    return RepeatedGraph([total, build.elementwise(ops.sqrt, total)], [source]), shared


def test_operands_are_made_when_they_are_asked_for():
    original, shared = recorded()
    given = leaf(3, 4)
    total, root = original.copied([given])
    assert type(root.inputs) is Operands
    assert root.depth == 2
    assert tuple(root.inputs) == (total,)
    assert root.inputs == (total,)
    assert type(root.inputs) is tuple
    assert total.inputs == (given, shared)


def test_operands_are_compared_as_tuples_are():
    total, root = recorded()[0].copied([leaf(3, 4)])
    operands = root.inputs
    assert operands == (total,)
    assert hash(operands) == hash((total,))
    assert total in operands
    assert operands[0] is total
    assert len(operands) == 1


def test_root_that_nobody_has_is_made_again():
    original, _ = recorded()
    root = original.copied([leaf(3, 4)])[1]
    (total,) = root.inputs
    assert total.op is ops.add


def test_copies_with_pending_nodes_or_one_leaf_twice_are_made_at_once():
    original, shared = recorded()
    pending = build.elementwise(ops.negative, leaf(1, 2))
    total, root = original.copied([pending])
    assert root.inputs == (total,)
    assert total.inputs == (pending, shared)
    first, second = (Leaf((2,), np.dtype(np.float32)) for _ in range(2))
    both = RepeatedGraph([build.binary(ops.add, first, second)], [first, second])
    given = leaf(3, 4)
    assert both.copied([given, given])[0].inputs == (given, given)


@pytest.mark.parametrize("root", ["leaf", "constant"])
def test_results_depend_on_leaves_and_are_none(root):
    source = Leaf((2,), np.dtype(np.float32))
    roots = [source] if root == "leaf" else [build.elementwise(ops.sqrt, leaf(1, 2))]
    with pytest.raises(ValueError, match="no root depends on a leaf, or a root is one"):
        RepeatedGraph(roots, [source])


@pytest.fixture
def made(monkeypatch):
    """Return a list of the nodes that copies make."""
    nodes = []

    def copied(node, inputs, copy=repeats.copied):
        nodes.append(copy(node, inputs))
        return nodes[-1]

    monkeypatch.setattr(repeats, "copied", copied)
    return nodes


def test_repeated_call_is_evaluated_without_its_nodes(made):
    with xp.using(device="wgpu"):
        x = np.arange(16, dtype=np.float32).reshape(4, 4)
        for turn in range(5):
            before = len(made)
            actual = ndi.sobel(xp.asarray(x + turn))
            expected = ndi.sobel(xp.asarray(x + turn, device="cpu"))
            np.testing.assert_allclose(actual, expected, rtol=1e-6)
            if turn > 2:
                assert len(made) == before + 1


def test_repeated_call_is_part_of_graphs(made):
    with xp.using(device="wgpu"):
        x = np.arange(16, dtype=np.float32).reshape(4, 4)
        for turn in range(5):
            a = xp.asarray(x + turn)
            result = ndi.sobel(a)
            a += 1  # what was recorded reads the old value
            with xp.profile() as report:
                np.testing.assert_allclose(result * 2 + 1, ndi.sobel(xp.asarray(x, device="cpu")) * 2 + 1, rtol=1e-6)
            assert sum(kernel.launches for kernel in report.kernels) <= 2
        assert any(type(node) is Map for node in made)


def test_copy_keeps_its_leaves_until_it_is_evaluated():
    with xp.using(device="wgpu"):
        x = np.ones((4, 4), np.float32)
        for _ in range(4):
            a = xp.asarray(x)
            held = ref(a.node())
            result = ndi.sobel(a)
            del a
            assert held() is not None
            xp.evaluate(result)
            gc.collect()
            assert held() is None


def test_two_results_are_evaluated_apart_and_together():
    with xp.using(device="wgpu"):
        x = np.random.default_rng(0).random((5, 6)) > 0.5
        for turn in range(6):
            labels, count = ndi.label(xp.asarray(x))
            values = (count, labels) if turn % 2 else (labels, count)
            if turn > 3:
                xp.evaluate(*values)
            seen = [np.asarray(value) for value in values]
            expected = ndi.label(xp.asarray(x, device="cpu"))
            np.testing.assert_array_equal(seen[turn % 2], expected[0])
            assert seen[1 - turn % 2] == expected[1]
