"""Transposes that are recorded once for all subgraphs of one structure."""

import gc
from weakref import ref

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.autodiff import transposes
from gpuarray.autodiff.subgraph import Subgraph
from gpuarray.errors import DerivativeError
from gpuarray.testing import check_grads

X = np.linspace(0.3, 1.7, 6)
M = np.arange(9.0).reshape(3, 3) / 9 + np.eye(3)


@pytest.fixture(autouse=True)
def all_recorded(monkeypatch):
    monkeypatch.setattr(transposes, "_known", transposes.OrderedDict())
    with xp.using(device="cpu", direct_limit=0):
        yield


@pytest.fixture
def walks(monkeypatch):
    """Return a list to which each application of the rules to a subgraph appends an element."""
    result = []
    record = Subgraph.record

    def counted(subgraph, cotangents, pullback):
        result.append(subgraph)
        return record(subgraph, cotangents, pullback)

    monkeypatch.setattr(Subgraph, "record", counted)
    return result


def write_views(x):
    y = x.copy()
    y[1:4] = x[2:5] * 0.5
    y.reshape(2, 3).T[1] -= x[:2]
    y[::-2] += np.sin(x[::2])
    return (y * y).sum()


def write_positions(x):
    y = np.tanh(x)
    y[[0, 3, 3]] = x[:3]
    np.add.at(y, np.array([1, 1, 5]), x[2:5])
    return (y[[2, 2, 0]] ** 3).sum() + y.sum()


def read_value(x):
    y = np.exp(x)
    return (y * float(y.max())).sum()


def calls(x):
    matrix = M.astype(x.dtype)
    q, r = np.linalg.qr(matrix * x[:3])
    sign, log = np.linalg.slogdet(matrix * x[3:])
    return (q * r.T).sum() + sign * log + np.abs(np.fft.fft(x)).sum() + np.sort(x)[2]


def scans_and_products(x):
    return (np.cumsum(x) @ np.outer(x, x) @ x) + np.prod(x) + np.max(x * x)


def choose(x):
    return np.where(x > 1, np.sqrt(x - 1), x * 2).sum()


@pytest.mark.parametrize(
    "fun", [write_views, write_positions, read_value, calls, scans_and_products, choose], ids=lambda f: f.__name__
)
def test_later_calls_copy_what_an_earlier_one_recorded(fun, walks, device):
    slope = xp.grad(fun)
    dtype = np.float64 if device == "cpu" else np.float32
    with xp.using(device=device):
        points = [xp.asarray((X + 0.01 * n).astype(dtype)) for n in range(4)]
        first = [slope(x).get() for x in points]
        count = len(walks)
        assert count
        again = [slope(x).get() for x in points]
        assert len(walks) == count
        np.testing.assert_array_equal(again, first)


def test_constants_may_vary(walks):
    def loss(x, scale):
        return (np.exp(x * scale) * scale).sum()

    for scale in (2.0, 2.0, 2.0, -0.5, 0.0, float("inf"), float("nan"), -0.0, 1.0):
        with np.errstate(all="ignore"):
            actual = xp.grad(loss)(xp.asarray(X), scale).get()
            desired = scale * scale * np.exp(X * scale) if scale else 0 * X
        np.testing.assert_allclose(actual, desired, rtol=1e-12)
    assert len(walks) == 3  # the first call, and one with the first constants and one with any


def test_branches_and_evaluated_values_are_other_structures(walks):
    def loss(x, is_read):
        y = np.sin(x)
        if is_read:
            y = y * 2 if float(y[0]) > 0 else y
        return (y * y).sum()

    for turn in range(6):
        x = X if turn % 2 else -X
        actual = xp.grad(loss)(xp.asarray(x), turn > 2).get()
        factor = 4 if turn > 2 and turn % 2 else 1
        np.testing.assert_allclose(actual, factor * np.sin(2 * x), rtol=1e-12)


def test_nested_derivatives_are_copied(walks):
    def loss(x):
        return (np.sin(x) * x.sum()).sum()

    expected = np.cos(X)[:, None] + np.cos(X) - np.diag(np.sin(X) * X.sum())
    for turn in range(4):
        before = len(walks)
        np.testing.assert_allclose(xp.hessian(loss)(xp.asarray(X)), expected, rtol=1e-12)
        rows = xp.vmap(xp.grad(lambda x, v: (xp.grad(loss)(x) * v).sum()), (None, 0))(xp.asarray(X), xp.eye(6))
        np.testing.assert_allclose(rows, expected, rtol=1e-12)
        push = xp.linearize(xp.grad(loss), xp.asarray(X))[1]
        np.testing.assert_allclose(push(xp.ones(6)), expected.sum(0), rtol=1e-12)
        assert turn < 2 or len(walks) == before


def test_cotangents_of_several_results(walks):
    def both(x):
        return np.sin(x), x @ x

    for turn in range(4):
        _, pullback = xp.vjp(both, xp.asarray(X))
        (slope,) = pullback((xp.full(6, 2.0 + turn), xp.asarray(3.0)))
        np.testing.assert_allclose(slope, np.cos(X) * (2 + turn) + 6 * X, rtol=1e-12)
        (slope,) = pullback((xp.zeros(6), xp.asarray(1.0 * turn)))
        np.testing.assert_allclose(slope, 2 * X * turn, rtol=1e-12)


def test_gradients_are_arrays_of_their_own():
    for _ in range(4):
        x, c = xp.asarray(X), xp.asarray(X * 2)
        slope = xp.grad(lambda x, c=c: (x * c).sum())(x)
        slope += 1
        np.testing.assert_allclose(slope, X * 2 + 1)
        ones = xp.grad(lambda x: x.sum())(x)
        ones *= 3
        np.testing.assert_allclose(ones, np.full(6, 3.0))
        first, second = xp.vjp(np.add, x, x)[1](c)
        first += 1
        np.testing.assert_allclose(second, X * 2)
        np.testing.assert_allclose(c, X * 2)


def test_derivatives_with_code_run_it(walks):
    runs = []

    @xp.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, ct: (runs.append(1) or ct * len(runs),))
    for turn in range(4):
        actual = xp.grad(lambda x: (clipped(x) * 2).sum())(xp.asarray(X))
        np.testing.assert_allclose(actual, np.full(6, 2.0 * (turn + 1)))
        wave = xp.checkpoint(lambda x: np.sin(np.sin(x)))
        actual = xp.grad(lambda x, wave=wave: wave(x).sum())(xp.asarray(X))
        np.testing.assert_allclose(actual, np.cos(np.sin(X)) * np.cos(X), rtol=1e-12)


def test_rules_may_write_to_cotangents():
    @xp.custom_vjp
    def same(x):
        return +x

    def doubled(_, ct):
        ct *= 2
        return (ct,)

    same.defvjp(lambda x: (x, None), doubled)
    for _ in range(3):
        actual = xp.grad(lambda x: (same(x) + x).sum())(xp.asarray(X))
        np.testing.assert_allclose(actual, np.full(6, 3.0))


def test_constants_of_stop_gradient_are_copied(walks):
    for turn in range(4):
        before = len(walks)
        actual = xp.grad(lambda x: (x * xp.stop_gradient(x)).sum())(xp.asarray(X))
        np.testing.assert_allclose(actual, X)
        assert turn < 2 or len(walks) == before


def test_rules_that_ask_for_values_or_have_rules_of_their_own_run_each_time():
    singular = np.ones((2, 2))
    for matrix, slope in ((M[:2, :2], None), (singular, [[1, -1], [-1, 1]])) * 3:
        actual = xp.grad(np.linalg.det)(xp.asarray(matrix)).get()
        desired = np.linalg.det(matrix) * np.linalg.inv(matrix).T if slope is None else slope
        np.testing.assert_allclose(actual, desired, atol=1e-12)
    for _ in range(3):  # equal singular values: the derivative of the pseudo-inverse, not that of its singular vectors
        check_grads(lambda a: np.linalg.lstsq(a, xp.ones(3), rcond=None)[0], [xp.asarray(np.eye(3))], order=2)


def test_errors_name_the_line():
    for _ in range(4):
        with pytest.raises(DerivativeError, match=r"nextafter.*test_transposes.py:\d+: np.nextafter\(x, 2.0\)"):
            xp.grad(lambda x: np.nextafter(x, 2.0).sum())(xp.asarray(X))


def test_copies_have_the_lines_of_their_subgraphs():
    def first(x):
        return np.sinh(x).sum()

    def second(x):
        return np.sinh(x).sum()

    for fun in (first, first, first, second):
        text = str(xp.explain(xp.grad(fun)(xp.asarray(X)), stage="graph"))
        line = fun.__code__.co_firstlineno + 1
        assert f"derivative of tests/autodiff/test_transposes.py:{line}" in text


def test_no_value_is_kept():
    def run():
        x = xp.asarray(X)
        constant = xp.asarray(X * 3)
        held = [ref(x.node()), ref(constant.node())]
        xp.grad(lambda x: (np.exp(x) * constant).sum())(x).get()
        return held

    for _ in range(4):
        held = run()
        gc.collect()
        assert [one() for one in held] == [None, None]


def test_number_of_structures_is_bounded(monkeypatch):
    monkeypatch.setattr(transposes, "_KEPT", 3)
    for _ in range(2):
        for extent in range(1, 7):
            np.testing.assert_allclose(xp.grad(lambda x: (x * x).sum())(xp.asarray(X[:extent])), 2 * X[:extent])
    assert len(transposes._known) == 3
