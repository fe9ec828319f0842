"""What derivatives keep: nothing after them, and nothing where there are none."""

import gc
import weakref

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.errors import DerivativeError
from gpuarray.graph import tape
from gpuarray.graph.nodes import BaseNode


def test_no_tape_is_left_behind() -> None:
    def fun(x: xp.GpuArray) -> xp.GpuArray:
        assert tape.active() is not None
        return (x * x).sum()

    xp.hessian(fun)(xp.ones(3))
    try:
        xp.grad(lambda x: 1 / 0)(1.0)
    except ZeroDivisionError:
        assert not tape.state.tapes
    assert not tape.state.tapes


def test_a_loop_of_gradients_keeps_no_nodes() -> None:
    def fun(x: xp.GpuArray) -> xp.GpuArray:
        y = np.sin(x)
        for _ in range(3):
            y = y * x + float(y.sum()) * 0
        return (y * y).sum()

    def nodes() -> list[BaseNode]:
        gc.collect()
        return [result for result in gc.get_objects() if isinstance(result, BaseNode)]

    before = weakref.WeakSet(nodes())  # of other tests, which may end meanwhile
    w = xp.ones(10)
    numbers = []
    for _ in range(6):
        value, slope = xp.value_and_grad(fun)(w)
        w = xp.asarray((w - 0.001 * slope).get())
        float(value)
        del value, slope
        numbers.append(sum(node not in before for node in nodes()))
    assert numbers[2:] == [numbers[2]] * 4


def test_a_value_is_let_go_with_its_pullback() -> None:
    out, pullback = xp.vjp(lambda x: np.exp(x) * x, xp.ones(4))
    inner = pullback(out)[0]
    node = weakref.ref(inner._cell.node)
    del inner, out, pullback
    gc.collect()
    assert node() is None


def test_constants_are_not_kept() -> None:
    seen = []

    def fun(x: xp.GpuArray) -> xp.GpuArray:
        constant = xp.ones(100) * 3
        float(constant.sum())
        record = tape.active()
        assert record is not None
        seen.append(len(record.operands))
        y = x * 2
        y.get()
        seen.append(len(record.operands))
        return y.sum()

    xp.grad(fun)(xp.ones(100))
    assert seen[0] == 0
    assert seen[1] > 0


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, DerivativeError])
def test_a_loop_of_errors_keeps_nothing(error: type[BaseException]) -> None:
    def fun(x: xp.GpuArray) -> xp.GpuArray:
        y = np.sin(x)
        float(y.sum())
        raise error

    def nodes() -> list[BaseNode]:
        gc.collect()
        return [result for result in gc.get_objects() if isinstance(result, BaseNode)]

    before = weakref.WeakSet(nodes())  # of other tests, which may end meanwhile
    w = xp.ones(10)
    numbers = []
    for _ in range(5):
        for differentiated in (xp.grad(fun), xp.hessian(fun), xp.jacfwd(fun), xp.grad(xp.checkpoint(fun))):
            with pytest.raises(error):
                differentiated(w)
        assert not tape.state.tapes
        numbers.append(sum(node not in before for node in nodes()))
    assert numbers[1:] == [numbers[1]] * 4


def test_a_long_gradient_is_evaluated_where_few_cotangents_are_alive() -> None:
    """Steps of a solver and of its derivative share launches, and the steps that are computed again do not run."""

    def steps(u: xp.GpuArray) -> xp.GpuArray:
        u = u.copy()
        for _ in range(10):
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    def misfit(u: xp.GpuArray) -> xp.GpuArray:
        for _ in range(4):
            u = xp.checkpoint(steps)(u)
        return (u * u).sum()

    u = xp.asarray(np.linspace(0, 1, 50, dtype=np.float32) ** 2, device="wgpu")
    xp.reset_stats()
    value, slope = xp.value_and_grad(misfit)(u)
    counts = xp.stats()
    assert counts["launches"] <= 40
    assert counts["evaluations"] <= 8
    expected, slope_on_host = xp.value_and_grad(misfit)(xp.asarray(u.get(), device="cpu"))
    np.testing.assert_allclose(slope.get(), slope_on_host.get(), rtol=1e-4)
    np.testing.assert_allclose(value.get(), expected.get(), rtol=1e-5)
