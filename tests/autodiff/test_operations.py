"""Every operation has a derivative, or says that it has none; those that are there agree with differences."""

import subprocess
import sys
from typing import get_args

import numpy as np
import pytest

import gpuarray as xp
from gpuarray import dtypes
from gpuarray.array import GpuArray
from gpuarray.autodiff import batched_calls, batches, calls, elementwise, folds, subgraph
from gpuarray.graph import nodes
from gpuarray.ops import calls as call_ops
from gpuarray.ops import derivatives, factorisations, images, samplers, searches
from gpuarray.ops import elementwise as ops
from gpuarray.ops.columns import Kind
from gpuarray.ops.derivatives import UNKNOWN
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import OPS, CallOp, MapOp
from gpuarray.ops.special import derivatives as special
from gpuarray.testing import check_grads

_ANY = (-1.7, -0.6, 0.3, 0.9, 2.2)
_POSITIVE = (0.3, 0.9, 1.6, 2.2, 4.1)
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
_INSIDE = (-0.9, -0.4, 0.1, 0.5, 0.8)
#: Where operations are looked at, if not at :data:`_ANY`, for each operand.
_SAMPLES = {
    "sqrt": [_POSITIVE], "cbrt": [_POSITIVE], "log": [_POSITIVE], "log2": [_POSITIVE], "log10": [_POSITIVE],
    "log1p": [_POSITIVE], "pow": [_POSITIVE, _ANY], "float_power": [_POSITIVE, _ANY], "asin": [_INSIDE],
    "acos": [_INSIDE], "atanh": [_INSIDE], "acosh": [(1.2, 1.9, 2.5, 3.0, 4.0)], "spacing": [_POSITIVE],
    "fmod": [(5.3, 4.7, -3.1, 2.9, 7.7), (2.0, -1.5, 0.8, 1.1, 2.4)],
    "remainder": [(5.3, 4.7, -3.1, 2.9, 7.7), (2.0, -1.5, 0.8, 1.1, 2.4)],
    "floor_divide": [(5.3, 4.7, -3.1, 2.9, 7.7), (2.0, -1.5, 0.8, 1.1, 2.4)],
    "divide": [_ANY, _POSITIVE], "maximum": [_ANY, _POSITIVE], "minimum": [_ANY, _INSIDE[::-1]],
    "fmax": [_ANY, _POSITIVE], "fmin": [_ANY, _INSIDE[::-1]], "hypot": [_ANY, _POSITIVE],
    "atan2": [_ANY, _POSITIVE], "heaviside": [_ANY, _INSIDE], "copysign": [_ANY, _INSIDE],
    "ldexp": [_ANY, (1, -2, 3, 0, 4)], "logaddexp": [_ANY, _POSITIVE], "logaddexp2": [_ANY, _POSITIVE],
    "erfinv": [_INSIDE], "erfcinv": [_SHARES], "ndtri": [_SHARES], "gamma": [_POSITIVE], "gammaln": [_POSITIVE],
    "loggamma": [_POSITIVE], "digamma": [_POSITIVE], "rgamma": [(-2.0, -1.5, 0.0, 0.5, 2.2)], "logit": [_SHARES],
    "polygamma": [(1, 2, 1, 0, 3), _POSITIVE], "xlogy": [_POSITIVE, _POSITIVE], "xlog1py": [_POSITIVE, _POSITIVE],
    "entr": [_POSITIVE], "rel_entr": [_POSITIVE, _POSITIVE[::-1]], "kl_div": [_POSITIVE, _POSITIVE[::-1]],
    "exprel": [(-1.7, -1e-2, 0.0, 3e-2, 2.2)], "sinc": [(-1.7, -1e-3, 0.0, 5e-3, 2.2)],
    "beta": [_POSITIVE, _POSITIVE[::-1]], "betaln": [_POSITIVE, _POSITIVE[::-1]], "gammainc": [_POSITIVE, _POSITIVE],
    "gammaincc": [_POSITIVE, _POSITIVE], "pdtr": [(0.5, 1.5, 2.5, 3.5, 0.5), _POSITIVE],
    "pdtrc": [(0.5, 1.5, 2.5, 3.5, 0.5), _POSITIVE], "betainc": [_POSITIVE, _POSITIVE[::-1], _SHARES],
    "betaincc": [_POSITIVE, _POSITIVE[::-1], _SHARES], "stdtr": [_POSITIVE, _ANY], "huber": [_POSITIVE, _ANY],
    "pseudo_huber": [_POSITIVE, _ANY], "zeta": [(2.0, 2.5, 3.0, 4.0, 1.5), _POSITIVE], "y0": [_POSITIVE],
    "y1": [_POSITIVE], "k0": [_POSITIVE], "k0e": [_POSITIVE], "k1": [_POSITIVE], "k1e": [_POSITIVE],
    "exp1": [_POSITIVE], "expi": [_POSITIVE], "spence": [(0.3, 0.9995, 1.0, 1.6, 2.2)],
    "tandg": [(10.0, 35.0, -20.0, 60.0, 70.0)], "cotdg": [(10.0, 35.0, -20.0, 60.0, 70.0)],
    "radian": [_ANY, _ANY, _ANY], "boxcox": [_POSITIVE, (-1.0, 0.0, 0.5, 1.0, 2.0)],
    "boxcox1p": [_POSITIVE, (-1.0, 0.0, 0.5, 1.0, 2.0)], "inv_boxcox": [_SHARES, (0.1, 0.0, 0.5, 1.0, 2.0)],
    "inv_boxcox1p": [_SHARES, (0.1, 0.0, 0.5, 1.0, 2.0)], "bdtr": [(0.5, 1.5, 2.5, 3.5, 0.5), (3, 4, 5, 6, 7), _SHARES],
    "bdtrc": [(0.5, 1.5, 2.5, 3.5, 0.5), (3, 4, 5, 6, 7), _SHARES],
    "nbdtr": [(0, 1, 2, 3, 4), (3, 4, 5, 6, 7), _SHARES],
    "nbdtrc": [(0, 1, 2, 3, 4), (3, 4, 5, 6, 7), _SHARES], "fdtr": [_POSITIVE, _POSITIVE[::-1], _POSITIVE],
    "fdtrc": [_POSITIVE, _POSITIVE[::-1], _POSITIVE], "gdtr": [_SHARES, _POSITIVE, _POSITIVE],
    "gdtrc": [_SHARES, _POSITIVE, _POSITIVE], "gammainc_by_order": [_POSITIVE, _POSITIVE],
    "betainc_by_shape": [_POSITIVE, _POSITIVE[::-1], _SHARES], "ellipk": [_INSIDE], "ellipkm1": [_POSITIVE],
    "ellipk_slope": [_POSITIVE], "multigammaln": [(1.3, 1.9, 2.6, 3.2, 4.1), (1, 2, 3, 4, 5)],
    "multidigamma": [(1.3, 1.9, 2.6, 3.2, 4.1), (1, 2, 3, 4, 5)],
    "cosine_integral": [_POSITIVE],
    "zeta_by_exponent": [(2.0, 2.5, 3.0, 4.0, 1.5), _POSITIVE],
    "gammaincinv": [_POSITIVE, _SHARES], "gammainccinv": [_POSITIVE, _SHARES],
    "beta_inverse_odds": [_POSITIVE, _POSITIVE[::-1], _SHARES],
}  # fmt: skip
#: Rows whose second differences are of no use: one of several branches is taken within their step, or they are steep.
_FIRST_ORDER = {"rgamma", "boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p", "nextafter"}
#: Rows whose derivatives by their parameters, all operands but the last, are not differentiated again.
_OF_SHAPES = {
    "gammainc", "gammaincc", "betainc", "betaincc", "stdtr", "fdtr", "fdtrc", "gdtr", "gdtrc", "zeta", "multigammaln",
    "gammaincinv", "gammainccinv", "beta_inverse_odds",
}  # fmt: skip
_PARTIALS = {**derivatives.PARTIALS, **special.PARTIALS}
#: Operations that select an operand, whose rule has no partial derivatives.
_EXTREMES = [op for op in OPS.values() if isinstance(op, MapOp) and op.kind is Kind.EXTREME]
#: Samples, which are no functions of their parameters.
_RANDOM = {op for op in vars(samplers).values() if isinstance(op, MapOp)}


#: Calls whose results are integers.
_OF_INTEGERS = frozenset((
    call_ops.argsort, call_ops.argpartition, call_ops.searchsorted, call_ops.isin, call_ops.bincount,
    call_ops.histogram, call_ops.packbits, call_ops.unpackbits, factorisations.row_order, images.first_of_part,
    images.place_in_envelope, searches.last_least, searches.last_outside,
))  # fmt: skip


def _is_discrete(op: MapOp) -> bool:
    """Whether the operands or the results are integers, truths or bits."""
    if op.kind is Kind.REINTERPRETATION:
        return True
    try:
        return op.resolve(*[dtypes.float64] * op.arity).output.kind not in "fc"
    except TypeError:  # it takes integers alone
        return True


def test_every_elementwise_operation_has_a_derivative() -> None:
    for op in OPS.values():
        if isinstance(op, MapOp):
            kinds = [op in table for table in (_PARTIALS, _EXTREMES, elementwise._RULES, _RANDOM)]
            assert sum(kinds) == 1 or (not any(kinds) and _is_discrete(op)), op
    for op, partials in _PARTIALS.items():
        assert len(partials) == op.arity, op


def test_every_kind_of_node_has_rules() -> None:
    kinds = {*get_args(nodes.Node)} - {nodes.Leaf, nodes.Generate}
    assert batches.rules.keys() == kinds
    assert subgraph.rules.keys() == kinds - {nodes.Call}


def test_every_reduction_and_call_says_what_its_derivative_is() -> None:
    # in another process, as other tests add operations
    listing = "import gpuarray; from gpuarray.ops import spec, special; print(*spec.OPS)"
    names = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout.split()
    assert len(names) > 100
    for op in map(OPS.__getitem__, names):
        if isinstance(op, ReduceOp):
            has_numbers = "f" in op.identity and op.result_dtype(dtypes.float64).kind == "f"
            assert has_numbers == (op in folds.RULES), op
        if isinstance(op, CallOp):
            assert sum(op in table for table in (_OF_INTEGERS, calls.RULES, calls.RECORDED_RULES)) == 1, op
            assert op in batched_calls.RULES, op


# whole_power takes complex numbers alone, and has a test of its own
@pytest.mark.parametrize(
    "op", [op for op in (*_PARTIALS, *_EXTREMES) if op is not ops.whole_power], ids=lambda op: op.name
)
def test_partial_derivatives_agree_with_differences(op: MapOp) -> None:
    samples = _SAMPLES.get(op.name, [_ANY, _POSITIVE][: op.arity])
    partials = _PARTIALS.get(op, (None,) * op.arity)
    known = [n for n, partial in enumerate(partials) if partial is not UNKNOWN and isinstance(samples[n][0], float)]
    given = [np.asarray(sample, np.int32 if isinstance(sample[0], int) else np.float64) for sample in samples]

    def check(numbers: list[int], order: int) -> None:
        def fun(*chosen: GpuArray) -> GpuArray:
            operands = [xp.asarray(value) for value in given]
            for number, value in zip(numbers, chosen, strict=True):
                operands[number] = value
            return GpuArray._apply(op, *operands)

        with xp.using(device="cpu"):
            check_grads(fun, [xp.asarray(given[n]) for n in numbers], order=order, rtol=1e-4, atol=1e-4)

    if op.name in _OF_SHAPES:
        check(known, 1)
        known = [n for n in known if n == op.arity - 1]
    if known:
        check(known, 1 if op.name in _FIRST_ORDER or any(p == 0 for p in partials) else 2)


@pytest.mark.parametrize("exponent", [0, 1, 3, 5, -2])
def test_whole_powers_of_complex_numbers_have_derivatives(exponent: int) -> None:
    z = np.array([0.5 + 0.25j, -1.5j, -2.0, 0.75 - 3.0j])
    with xp.using(device="cpu"):
        power = xp.grad(lambda z: (z**exponent + 0 * z).sum(), holomorphic=True)
        np.testing.assert_allclose(power(xp.asarray(z)), exponent * z ** (exponent - 1), rtol=1e-12)
        second = xp.grad(lambda z: power(z).sum(), holomorphic=True)(xp.asarray(z))
        np.testing.assert_allclose(second, exponent * (exponent - 1) * z ** (exponent - 2), rtol=1e-12)


def test_every_elementwise_operation_maps_over_batches() -> None:
    for op in OPS.values():
        if not isinstance(op, MapOp) or op in _RANDOM or op in (ops.bitcast, ops.cast):
            continue
        samples = _SAMPLES.get(op.name, [_ANY, _POSITIVE, _SHARES][: op.arity])
        given = [np.asarray(sample) for sample in samples]
        try:
            whole = GpuArray._apply(op, *[xp.asarray(value, device="cpu") for value in given])
        except TypeError:  # for integers or truths
            given = [np.asarray(sample).astype(np.int32) for sample in samples]
            try:
                whole = GpuArray._apply(op, *[xp.asarray(value, device="cpu") for value in given])
            except TypeError:
                continue
        made = xp.vmap(lambda *own, op=op: GpuArray._apply(op, *own))(*[xp.asarray(v, device="cpu") for v in given])
        assert made.dtype == whole.dtype
        np.testing.assert_array_equal(made, whole, op.name)


@pytest.mark.wgpu
@pytest.mark.parametrize("op", [*derivatives.PARTIALS, *_EXTREMES], ids=lambda op: op.name)
def test_derivatives_on_a_gpu_are_those_of_the_host(op: MapOp) -> None:
    samples = _SAMPLES.get(op.name, [_ANY, _POSITIVE][: op.arity])
    result = []
    for device in ("cpu", "wgpu:0"):
        with xp.using(device=device):
            operands = [xp.asarray(np.asarray(s, np.int32 if isinstance(s[0], int) else np.float32)) for s in samples]
            known = [n for n, operand in enumerate(operands) if operand.dtype.kind == "f"]
            if op in _PARTIALS and any(_PARTIALS[op][n] is UNKNOWN for n in known):
                return
            out, pullback = xp.vjp(lambda *given: GpuArray._apply(op, *given), *operands)
            result.append([pullback(xp.ones_like(out))[n].get() for n in known])
    for first, second in zip(*result, strict=True):
        np.testing.assert_allclose(first, second, rtol=2e-4, atol=2e-5)


def test_partial_derivatives_keep_the_precision_of_the_operands() -> None:
    for op in _PARTIALS:
        samples = _SAMPLES.get(op.name, [_ANY, _POSITIVE][: op.arity])
        if any(isinstance(sample[0], int) for sample in samples) or op in (ops.float_power, ops.whole_power):
            continue
        operands = [xp.asarray(np.asarray(sample, np.float32), device="cpu") for sample in samples]
        result = GpuArray._apply(op, *operands)
        for partial in _PARTIALS[op]:
            if callable(partial):
                assert partial(result, *operands).dtype == np.float32, op


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("gammainc_by_order", (1e-40, 0.5), -0.5597735947761608),
        ("gammainc_by_order", (0.5, 3.0), -0.04724032644797375),
        ("gammainc_by_order", (50.0, 60.0), -0.02128499278634949),
        ("gammainc_by_order", (1e5, 1e5), -0.001261567312316086),
        ("betainc_by_shape", (1e-20, 1e3, 1e-18), -33.96206081334248),
        ("betainc_by_shape", (0.5, 0.5, 0.9), -0.2768155243583512),
        ("ellipk_slope", (1e20,), 1.170607264553017e-29),
        ("zeta_by_exponent", (30.0, 1.0), -6.45548953880003e-10),
    ],
)
def test_derivatives_by_shapes_keep_their_digits(name: str, operands: tuple[float, ...], expected: float) -> None:
    # the exact values are mpmath's
    result = GpuArray._apply(special.SLOPES[name], *(xp.asarray([value], device="cpu") for value in operands))
    np.testing.assert_allclose(result.get(), [expected], rtol=1e-14)
