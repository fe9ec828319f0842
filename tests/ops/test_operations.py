"""The operation rows without a device: names, dtype rules, references and the coverage of the WGSL forms."""

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpuarray import dtypes
from gpuarray.codegen import library
from gpuarray.ops import calls, elementwise, generators, philox, reductions, special, substreams
from gpuarray.ops.reduce_spec import ReduceOp
from gpuarray.ops.spec import OPS, CallOp, GenerateOp, MapOp, compute_type, map_op, wgsl_template

STANDARD = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
    bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not
    logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder
    sign signbit sin sinh sqrt square subtract tan tanh trunc
"""  # all of the standard's elementwise functions but clip and round, which are compositions

MAPS = [op for op in OPS.values() if isinstance(op, MapOp)]


def accepted(op: MapOp) -> list[Any]:
    result = []
    for dtype in dtypes.ALL:
        try:
            result.append(op.resolve(*[dtype] * op.arity))
        except TypeError:
            continue
    return result


def test_every_elementwise_function_of_the_standard_has_an_operation() -> None:
    assert [name for name in STANDARD.split() if not isinstance(OPS.get(name), MapOp)] == []


@pytest.mark.parametrize("op", [r for r in MAPS if r.name not in ("cast", "bitcast")], ids=lambda r: r.name)
def test_every_accepted_dtype_has_a_form_whose_functions_exist(op: MapOp) -> None:
    assert accepted(op), "no dtype is accepted"
    for signature in accepted(op):
        first = signature.inputs[1 if op.name == "where" else 0]
        held = compute_type(first)
        template = wgsl_template(op, held)
        assert template is not None, f"{op} has no form for {first}"
        operands = [f"x{i}" for i in range(op.arity)]
        last, result = compute_type(signature.inputs[-1]), compute_type(signature.output)
        text = template.format(*operands, T=held, U=last, R=result, bits=8 * first.itemsize)
        called = {name for name in re.findall(r"(\w+)\(", text) if "_" in name}
        assert called <= library.names(), text


@pytest.mark.parametrize("op", [r for r in MAPS if r.name not in ("cast", "bitcast", "pow")], ids=lambda r: r.name)
def test_reference_writes_into_out(op: MapOp) -> None:
    for signature in accepted(op):
        operands = [np.ones(3, d) for d in signature.inputs]
        out = np.empty(3, signature.output)
        if isinstance(op.numpy, np.ufunc) and op.numpy.nout == 2:
            out = (np.empty(3, signature.output), None)[:: 1 - 2 * op.output]
        with np.errstate(all="ignore"):
            written = op.numpy(*operands, out=out)
        assert written is out or written[op.output] is out[op.output]


def test_weak_scalars_do_not_widen() -> None:
    assert elementwise.add.resolve(dtypes.float32, float).output == dtypes.float32
    assert elementwise.where.resolve(dtypes.bool_, dtypes.int8, int).output == dtypes.int8
    assert elementwise.where.resolve(dtypes.bool_, dtypes.int8, float).output == dtypes.float64
    assert elementwise.complex_from_parts.resolve(dtypes.float32, float).output == dtypes.complex64


def test_where_may_overwrite_either_choice() -> None:
    condition = np.array([True, False, True])
    for target in (0, 1):
        choices = [np.array([1, 2, 3]), np.array([10, 20, 30])]
        elementwise.where.numpy(condition, *choices, out=choices[target])
        assert choices[target].tolist() == [1, 20, 3]


def test_cast_of_complex_drops_the_imaginary_part_and_keeps_truth() -> None:
    z = np.array([0, 2 - 1j, 1j])
    assert elementwise.cast.numpy(z, out=np.empty(3, np.float32)).tolist() == [0, 2, 0]
    assert elementwise.cast.numpy(z, out=np.empty(3, bool)).tolist() == [False, True, True]


@pytest.mark.parametrize("op", reductions.ELEMENTWISE.values(), ids=lambda op: op.name)
def test_identities_change_nothing(op: ReduceOp) -> None:
    assert op.combine is not None
    for dtype in dtypes.ALL:
        if dtype.kind in op.identity:
            values = np.array([0, 1, 1, 0, 1]).astype(dtype)
            same = values.astype(bool) if op.name in ("any", "all") else values
            assert (op.combine.numpy(values, dtype.type(op.identity_of(dtype))) == same).all()


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind in "iuf"], ids=str)
def test_arange_is_numpys(dtype: dtypes.DType) -> None:
    for start, stop, step in ((0, 50, 1), (3, 90, 7), (0.1, 20.0, 0.3)):
        if dtype.kind in "iu" and isinstance(start, float):
            continue
        want = np.arange(start, stop, step, dtype)
        result = generators.arange.numpy(np.arange(len(want)), start, step, dtype=dtype)
        assert result.tobytes() == want.tobytes()


def test_linspace_eye_and_tri_are_numpys() -> None:
    index = np.arange(101)
    step = (7.3 - 0.1) / 100
    result = generators.linspace.numpy(index, 0.1, step, 7.3, 100, dtype=np.float64)
    assert result.tobytes() == np.linspace(0.1, 7.3, 101).tobytes()
    for k in (-2, 0, 3):
        assert (generators.eye.numpy(np.arange(30), 6, k, dtype=int).reshape(5, 6) == np.eye(5, 6, k, int)).all()
        assert (generators.tri.numpy(np.arange(30), 6, k, dtype=bool).reshape(5, 6) == np.tri(5, 6, k, bool)).all()


def test_random_bits_are_philox() -> None:
    # the known answers of the reference implementation, Random123, for counter and key 0
    (words,) = substreams.blocks(np.arange(1), 0, substreams.Substream(0, 0, 0, 0))
    assert [hex(w) for w in words] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    bits = np.random.Philox(7)
    key = philox.joined(bits.state["state"]["key"], 64)
    expected = bits.random_raw(4000)
    place = philox.StreamPosition(key, 1, 0, None)
    for index in (np.arange(4000), np.arange(4000)[::-1], np.arange(3, 4000, 999), np.arange(40).reshape(5, 8).T):
        words = generators.random_bits.numpy(index, *place.parameters, dtype=np.uint64)
        assert (words == expected[index]).all()
        halves = generators.random_bits.numpy(index, *place.parameters, dtype=np.uint32)
        assert (halves == expected.view(np.uint32)[index]).all()
    # a counter that carries through all of its words, apart and side by side
    last = philox.COUNTER_MASK - 1
    scattered = philox.scattered_blocks(key, last, np.arange(5, dtype=np.uint64))
    assert (scattered.reshape(-1) == philox.stream_blocks(key, last, 5)).all()


@pytest.mark.parametrize(("start", "spare"), [(0, None), (3, None), (6, None), (-1, 0xDEADBEEF), (5, 0xDEADBEEF)])
@pytest.mark.parametrize("block", [7, philox.COUNTER_MASK - 3])
def test_a_run_of_random_numbers_is_what_its_index_is(block: int, start: int, spare: int | None) -> None:
    """NumPy's generator makes runs, and sums on arrays everything else."""
    place = philox.StreamPosition(12345678901234567890123, block, start, spare)
    for first, size in ((0, 2), (0, 100), (1, 7), (6, 11), (5, 3000)):
        run, index = range(first, first + size), np.append(np.arange(first, first + size), 0)

        def check(function: Callable[..., Any], *given: Any, run: range = run, index: Any = index) -> None:
            result = function(run, place, *given)
            np.testing.assert_array_equal(result, function(index[:-1], place, *given), strict=True)
            np.testing.assert_array_equal(result, function(index, place, *given)[:-1], strict=True)

        check(philox.words32)
        check(philox.uniform, np.dtype("f4"))
        for share, limits in ((0, (0, 6, (1 << 31) + 1)), (1, (0, 1000, 40000)), (2, (0, 6, 64, 200)), (5, (0,))):
            for limit in limits:
                check(philox.below, share, limit, (1 << 32 >> share) % limit if limit else 0, np.dtype("u4"))
        if spare is None and start < 4:
            check(philox.words64)
            check(philox.uniform, np.dtype("f8"))
            for limit in (0, (1 << 32) + 1, 1 << 40, (1 << 63) + 1):
                check(philox.below, 0, limit, (1 << 64) % limit if limit else 0, np.dtype("u8"))


def test_operations_pickle_by_name() -> None:
    assert pickle.loads(pickle.dumps(elementwise.exp)) is elementwise.exp
    assert map_op("add") is elementwise.add
    with pytest.raises(KeyError, match="sum"):
        map_op("sum")


def in_new_process(program: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    ).stdout


def test_special_functions_are_imported_when_they_are_first_used() -> None:
    program = """if True:
        import sys, gpuarray, numpy as np
        special = lambda: [name for name in sys.modules if name.startswith("gpuarray") and "special" in name]
        x = gpuarray.asarray([0.5], device="cpu")
        np.asarray(np.exp(x) + 1)
        assert special() == [], special()
        {use}
        assert special()
    """
    for use in (
        "gpuarray.special.erf(x)",
        "exec('with gpuarray.using(direct_limit=0): np.asarray(np.i0(x))')",
        "from gpuarray.special import gamma",
    ):
        in_new_process(program.replace("{use}", use))
    row = pickle.dumps(special.OPS["erf"]).hex()
    loaded = "import pickle, sys, gpuarray; print(pickle.loads(bytes.fromhex(sys.argv[1])))"
    assert in_new_process(loaded, row) == "<MapOp erf>\n"


@pytest.mark.parametrize("kind", [MapOp, GenerateOp, CallOp])
def test_operations_without_a_cost_are_refused_at_start_up(kind):
    columns = {"name": "costless", "doc": "For this test.", "numpy": np.add, "arity": 2, "parameters": 0, "work": None}
    known = {column: value for column, value in columns.items() if column in kind.__dataclass_fields__}
    with pytest.raises(TypeError, match="cost"):
        kind(**known)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searches_in_lines_without_order_are_numpys(side):
    line = np.arange(64.0)
    line[[20, 40]] = line[[40, 20]]
    expected = np.random.default_rng(0).uniform(0, 64, 5000)
    np.testing.assert_array_equal(
        calls.searchsorted.numpy(line, expected, side=side), np.searchsorted(line, expected, side)
    )


@pytest.mark.parametrize("name", ["equal", "less", "add", "divide", "hypot"])
def test_operations_of_python_integers_have_numpys_dtypes(name: str) -> None:
    assert map_op(name).resolve(int, int).output == getattr(np, name)(3, 2).dtype
