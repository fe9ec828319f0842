"""Structures match graphs whose nodes say the same, and no others."""

import itertools

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.graph.nodes import frozen
from gpuarray.graph.structure import structural_hash, structure_of
from gpuarray.graph.walk import meaning, topological
from gpuarray.runtime import known_graphs, plans


def leaf(shape=(4, 6), dtype=np.float32):
    return xp.asarray(np.ones(shape, dtype), device="cpu")


def both(x, y):
    return x + 1, x * y


def shared(x, y):
    z = x * y
    return z + z


def apart(x, y):
    return x * y + x * y


def evaluated(x, y):
    z = x * y
    xp.evaluate(z)
    return z + 1


PROGRAMS = [
    lambda x, y: x + y,
    lambda x, y: y + x,
    lambda x, y: x + x,
    lambda x, y: x - y,
    lambda x, y: x + 1,
    lambda x, y: 1 + x,
    lambda x, y: x + np.float64(1),
    lambda x, y: (x + 1) * 2,
    lambda x, y: (x * 2) + 1,
    lambda x, y: x * 2 + x * 3,
    lambda x, y: xp.exp(-x) * y,
    lambda x, y: x.astype(np.float64) + 1,
    lambda x, y: x.astype(np.int32) + 1,
    lambda x, y: x.view(np.int32) + 1,
    lambda x, y: x[1:] + y[1:],
    lambda x, y: x[:-1] + y[1:],
    lambda x, y: x[:, ::2] + 1,
    lambda x, y: x + y[:1],
    lambda x, y: x.T + 1,
    lambda x, y: x.sum(axis=0) + 1,
    lambda x, y: x.sum(axis=1) + 1,
    lambda x, y: x.max(axis=1) + 1,
    lambda x, y: xp.sum(x, axis=1, dtype=np.float64) + 1,
    lambda x, y: xp.sum(x, axis=1, keepdims=True) + x,
    lambda x, y: xp.cumulative_sum(x, axis=0) + 1,
    lambda x, y: xp.cumulative_sum(x, axis=1) + 1,
    # one row, one dtype, one view of what is a fold here and a running fold there
    lambda x, y: xp.sum(x, axis=0)[2:4] + 1,
    lambda x, y: xp.cumulative_sum(x[0])[2:4] + 1,
    lambda x, y: xp.concat([x, y]) + 1,
    lambda x, y: xp.concat([x, y, y[:0]]) + 1,
    lambda x, y: xp.concat([x, y], axis=1) + 1,
    lambda x, y: xp.concat([x[:1], y, y[1:]]) + 1,
    lambda x, y: x @ y.T,
    lambda x, y: xp.take(x, xp.asarray([3, 1], device="cpu"), axis=1) + 1,
    lambda x, y: xp.sort(x, axis=0) + 1,
    lambda x, y: xp.sort(x, axis=1) + 1,
    lambda x, y: xp.full((4, 6), 2.0, dtype=np.float32, device="cpu") * x,
    lambda x, y: xp.arange(6, dtype=np.float32, device="cpu") * x,
    lambda x, y: leaf((1, 6)) + x,
    both,
    shared,
    apart,
    evaluated,
]


def graph(program, dtype=np.float32):
    result = program(leaf(dtype=dtype), leaf(dtype=dtype))
    return result if isinstance(result, tuple) else (result,)


def test_a_structure_matches_graphs_whose_nodes_say_the_same():
    graphs = [graph(program, dtype) for dtype in (np.float32, np.int32) for program in PROGRAMS]
    roots = [[array.node() for array in arrays] for arrays in graphs]
    walks = [topological(nodes) for nodes in roots]
    structures = [structure_of(nodes, walk) for nodes, walk in zip(roots, walks, strict=True)]
    others = [graph(program, dtype) for dtype in (np.float32, np.int32) for program in PROGRAMS]
    result = 0
    for structure, walk, nodes in zip(structures, walks, roots, strict=True):
        assert structure.match(nodes) == walk.order
        assert structure.match([*nodes, *nodes]) is None
    for (structure, same), arrays in itertools.product(zip(structures, roots, strict=True), others):
        nodes = [array.node() for array in arrays]
        other = topological(nodes)
        meanings = [meaning(node, other.position) for node in other.order]
        is_same = len(structure.roots) == len(nodes) and structure.meanings == meanings
        matching = structure.match(nodes)
        assert (matching is not None) == is_same
        if is_same:
            result += 1
            assert all(one is two for one, two in zip(matching, other.order, strict=True))
            for limit in (1, 4, 1000):
                hashes = {structural_hash(nodes, limit), structural_hash(same, limit), structure.hash(limit)}
                assert len(hashes) == 1
    assert result >= len(structures)


def test_what_was_evaluated_meanwhile_does_not_match():
    (array,) = graph(shared)
    nodes = [array.node()]
    structure = structure_of(nodes, topological(nodes))
    assert structure.match(nodes) is not None
    xp.evaluate(array)
    assert structure.match(nodes) is None


def test_parameters_of_calls_are_told_apart_by_all_their_elements():
    first, second = np.arange(10_000), np.arange(10_000)
    second[5_000] = 0  # repr() does not show it
    assert frozen({"taps": first}) == frozen({"taps": first.copy()})
    assert frozen({"taps": first}) != frozen({"taps": second})
    assert frozen(first) != frozen(first.astype(np.int32)) != frozen(first.reshape(2, -1))


def test_hashes_of_all_nodes_tell_most_structures_apart():
    hashes = {structural_hash([array.node() for array in graph(program)], 1000) for program in PROGRAMS}
    assert len(hashes) > len(PROGRAMS) - 8  # conversions to different dtypes share one, for example


class TestPlans:
    def test_are_found_without_a_walk(self, device, monkeypatch):
        x = xp.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))

        def program(scalar):
            return xp.sum(x * scalar + x[1], axis=0)

        expected = [np.asarray(program(scalar)) for scalar in (2.0, 3.0)]
        monkeypatch.setattr(plans, "topological", None)
        for scalar, value in zip((2.0, 3.0), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(program(scalar)), value)

    @pytest.mark.parametrize("keeps", [False, True])
    def test_what_arrays_have_is_part_of_the_question(self, device, keeps):
        x = xp.asarray(np.arange(4, dtype=np.float32))
        for turn in range(6):
            total = xp.sum(x + turn)
            other = total if keeps ^ (turn % 2 == 0) else None
            result = (x + turn) / total
            del total
            np.testing.assert_allclose(np.asarray(result), (np.arange(4) + turn) / (6 + 4 * turn), rtol=1e-6)
            assert other is None or float(other) == 6 + 4 * turn

    def test_those_that_were_used_stay(self, device, monkeypatch):
        monkeypatch.setattr(plans, "PLAN_LIMIT", 4)
        monkeypatch.setattr(plans, "_plans", plans.Plans())
        x = xp.asarray(np.arange(4, dtype=np.float32))
        xp.evaluate(x)
        made = xp.stats()["plans"]
        for turn in range(12):
            xp.evaluate(x * 0.25 + 0.75)
            xp.evaluate(sum([x] * turn, x * 2))
        assert xp.stats()["plans"] == made + 13
        assert plans.plan_count() <= 4
        assert len(plans._plans.graphs) <= 4  # nor more structures

    @pytest.mark.parametrize("alike", [1, 2, 100])
    def test_structures_that_begin_alike(self, device, monkeypatch, alike):
        monkeypatch.setattr(known_graphs, "_ALIKE", alike)
        monkeypatch.setattr(plans, "_plans", plans.Plans())
        x = xp.asarray(np.arange(4, dtype=np.float32))
        made = set()
        for _ in range(3):
            for function in (xp.abs, xp.square, xp.negative):
                expected = 7 + (7 + (7 + (7 + getattr(np, function.__name__)(np.arange(4, dtype=np.float32)))))
                np.testing.assert_array_equal(np.asarray(7 + (7 + (7 + (7 + function(x))))), expected)
            for dtype in (np.int32, np.int64, np.uint32):
                np.testing.assert_array_equal(np.asarray(x.astype(dtype) + 7), np.arange(7, 11))
            made.add(xp.stats()["plans"])
        assert len(made) == 1
        monkeypatch.setattr(plans, "PLAN_LIMIT", 1)
        xp.evaluate(x - 1)
        assert plans.plan_count() == len(plans._plans.graphs) == 1
