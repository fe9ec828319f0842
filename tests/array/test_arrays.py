"""What an array is and does besides computing: attributes, conversions, protocols, devices, text."""

import copy
import pickle
import sys
from typing import Any

import array_api_strict
import numpy as np
import pytest
from support import DTYPES, both, values

import gpuarray as xp
from gpuarray.testing import assert_same


def test_attributes(device: Any) -> None:
    host, x = both(values((2, 3, 4), np.float32))
    for name in ("shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides"):
        assert getattr(x, name) == getattr(host, name)
        assert getattr(x.T[:, ::-1], name) == getattr(host.T[:, ::-1], name)
    assert x.device == device
    with pytest.raises(AttributeError, match="reshape"):
        x.T.shape = (6, 4)
    assert xp.GpuArray([1, 2]).shape == (1, 2)  # the class takes a shape, as NumPy's does
    with pytest.raises(TypeError):
        xp.GpuArray([1.5, 2.5])
    for unhashable in (x, xp.asarray(1.0)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(unhashable)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip(dtype: str, device: Any) -> None:
    host, x = both(values((3, 4), dtype))
    assert_same(x, host)
    assert_same(x[::-1].T, host[::-1].T)
    assert x.tolist() == host.tolist()
    assert_same(pickle.loads(pickle.dumps(x[1:])), host[1:])
    twin = copy.deepcopy(x)
    twin[0] = 0
    assert_same(x, host)
    assert pickle.loads(pickle.dumps(x)).device == device
    assert xp.asnumpy(x).flags.writeable
    assert x.tobytes() == host.tobytes()


def test_array_protocol(device: Any) -> None:
    x = xp.asarray([1.5, 2.5])
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.array(x).tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="copy"):
        np.array(x, copy=False)
    assert x.get().tolist() == [1.5, 2.5]


def test_scalars(device: Any) -> None:
    assert float(xp.asarray(1.5)) == 1.5
    assert int(xp.asarray(7)) == 7
    assert complex(xp.asarray(1j)) == 1j
    assert [10, 20, 30][xp.asarray(1)] == 20
    assert bool(xp.asarray([[3]]))
    assert xp.asarray([[5]]).item() == 5
    assert xp.arange(6).reshape(2, 3).item(1, 2) == 5
    assert xp.arange(6).reshape(2, 3).item(4) == 4
    assert f"{xp.asarray(1.25):.1f}" == "1.2"
    for wrong in (lambda: int(xp.zeros(1)), lambda: float(xp.asarray(1j)), lambda: [0][xp.asarray(1.0)]):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: bool(xp.zeros(2)), lambda: bool(xp.zeros(0)), lambda: xp.zeros(2).item()):
        with pytest.raises(ValueError, match=r"ambiguous|size 1"):
            wrong()
    with pytest.raises(TypeError, match="unsized"):
        len(xp.asarray(1))
    with pytest.raises(TypeError, match="0-d"):
        iter(xp.asarray(1))
    assert 2.0 in xp.arange(3.0)
    assert 5.0 not in xp.arange(3.0)


@pytest.mark.parametrize("source", DTYPES)
def test_astype(source: str, device: Any) -> None:
    host = np.array([0, 1, 2, 100] if source != "bool" else [0, 1, 1, 0]).astype(source)
    x = xp.asarray(host)
    results = [
        (dtype, x.astype(dtype))
        for dtype in DTYPES
        if not (np.dtype(dtype).kind not in "cb" and host.dtype.kind == "c")
    ]
    xp.evaluate(*(result for _, result in results))
    for dtype, result in results:
        assert_same(result, host.astype(dtype), message=dtype)


def test_astype_rules() -> None:
    x = xp.asarray([1.5])
    assert x.astype("float64", copy=False) is x
    with pytest.raises(TypeError, match="rule 'safe'"):
        x.astype("int32", casting="safe")
    with pytest.warns(np.exceptions.ComplexWarning):
        xp.asarray([1j]).astype("float64")
    with pytest.raises(TypeError, match="not supported"):
        x.astype("S3")


# -- operators --------------------------------------------------------------------------------------------------------


def test_operators(device: Any) -> None:
    a, b = values((3, 4), np.int32), np.abs(values((4,), np.int32, seed=1)) + np.int32(1)
    x, y = xp.asarray(a), xp.asarray(b)
    for result, expected in [
        (x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b), (x // y, a // b), (x % y, a % b),
        (x & y, a & b), (x | y, a | b), (x ^ y, a ^ b), (x << 2, a << 2), (x >> 1, a >> 1), (-x, -a), (+x, +a),
        (abs(x), abs(a)), (~x, ~a), (x < y, a < b), (x <= y, a <= b), (x > y, a > b), (x >= y, a >= b),
        (x == y, a == b), (x != y, a != b), (3 - x, 3 - a), (2 * x, 2 * a), (10 // y, 10 // b), (7 % y, 7 % b),
        (1 / y, 1 / b), (2**y, 2**b), (5 & x, 5 & a), (5 | x, 5 | a), (5 ^ x, 5 ^ a), (x + 1.5, a + 1.5),
        (b - x, b - a), (x * b, a * b), (np.int8(3) * x, np.int8(3) * a), (np.float32(2) + x, np.float32(2) + a),
        (x + [1, 2, 3, 4], a + [1, 2, 3, 4]),
    ]:  # fmt: skip
        assert_same(result, expected, ulp=1)


def test_in_place_operators(device: Any) -> None:
    a = np.abs(values((3, 4), np.int32)) + np.int32(1)
    for name in ("iadd", "isub", "imul", "ifloordiv", "imod", "iand", "ior", "ixor", "ilshift", "irshift", "ipow"):
        host, x = both(a)
        kept = x
        operand = 2
        getattr(host, f"__{name}__")(operand)
        assert getattr(x, f"__{name}__")(operand) is x
        assert_same(kept, host)
    host, x = both(values((3, 4), np.float32))
    x /= 3
    host /= 3
    x += xp.asarray([1.0, 2, 3, 4])
    host += np.array([1.0, 2, 3, 4])
    x -= host[0]
    host -= host[0].copy()
    assert_same(x, host, ulp=1)


def test_in_place_errors() -> None:
    x = xp.zeros(3, xp.int32)
    for wrong, error in [
        (lambda: x.__iadd__(1.5), TypeError),
        (lambda: x.__itruediv__(2), TypeError),
        (lambda: x.__iadd__(xp.zeros((2, 3), xp.int32)), ValueError),
        (lambda: x.__iadd__(2**40), OverflowError),
    ]:
        with pytest.raises(error):
            wrong()
    assert x.tolist() == [0, 0, 0]
    x += np.int64(1)
    assert x.dtype == np.int32


def test_unknown_types_get_a_chance() -> None:
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "reflected"

        def __rmatmul__(self, other: Any) -> str:
            return "matmul"

        def __eq__(self, other: object) -> Any:
            return "equal"

        def __hash__(self) -> int:
            return 0

    x = xp.zeros(3)
    assert x + Other() == "reflected"
    assert x @ Other() == "matmul"
    assert (x == Other()) == "equal"
    with pytest.raises(TypeError, match="unsupported operand"):
        x - Other()
    masked = np.ma.masked_array([1.0, 2, 3], [False, True, False])
    assert isinstance(x + masked, np.ma.MaskedArray)


# -- devices ----------------------------------------------------------------------------------------------------------


def test_devices_mix_with_auto_and_not_with_each_other(limited: Any) -> None:
    on_cpu, anywhere, other = (xp.ones(3, device=d) for d in ("cpu", "auto", limited))
    assert (on_cpu + anywhere).device == "cpu"
    assert (anywhere + on_cpu).device == "cpu"
    assert (anywhere + 1).device == "auto"
    for mix in (
        lambda: on_cpu + other,
        lambda: np.add(on_cpu, other),
        lambda: on_cpu.__iadd__(other),
        lambda: on_cpu.__setitem__(0, other[0]),
        lambda: xp.concat([on_cpu, other]),
        lambda: on_cpu @ other,
        lambda: xp.where(on_cpu > 0, other, 0),
        lambda: on_cpu[other.astype("int64")],
    ):
        with pytest.raises(xp.errors.DeviceMismatchError, match=r"(?s)'cpu.*'cpu"):
            mix()
    assert_same(on_cpu, np.ones(3))
    anywhere += on_cpu
    assert anywhere.device == "cpu"


def test_to_device(device: Any) -> None:
    host = values((3, 4), np.float32)
    x = xp.asarray(host, device="cpu")
    moved = (x[1:] + 1).to_device(device)
    assert moved.device == device
    assert_same(moved * 2, (host[1:] + 1) * 2)
    assert moved.to_device(device) is moved
    assert_same(moved.to_device("cpu"), host[1:] + 1)
    with pytest.raises(ValueError, match="stream"):
        x.to_device(device, stream=3)
    with pytest.raises(xp.errors.DeviceError):
        x.to_device("nowhere")


@pytest.mark.usefixtures("planned")
def test_evaluate_and_counters(device: Any) -> None:
    x = xp.arange(1000, dtype="float32") * 2 + 1
    y = x * x
    xp.evaluate(x, y)
    xp.synchronize(device)
    counted = xp.stats()
    assert counted["evaluations"] == 1
    assert {
        "launches",
        "compiles",
        "fallbacks",
        "bytes_uploaded",
        "bytes_downloaded",
        "bytes_live",
        "bytes_pooled",
    } <= set(counted)
    assert_same(y, (np.arange(1000, dtype="float32") * 2 + 1) ** 2)
    assert xp.stats()["evaluations"] == 1


def test_long_loops_are_evaluated_on_the_way(device: Any) -> None:
    with xp.using(pending_limit=64):
        x = xp.zeros(10, xp.float32)
        for _ in range(500):
            x = x * 1.0 + 1
        y = xp.zeros(10, xp.float32)
        for _ in range(300):
            y += 1
            y[2:5] += 1
    assert x._cell.node.depth <= 128
    assert_same(x, np.full(10, 500, np.float32))
    assert y.tolist() == [300, 300, 600, 600, 600] + [300] * 5


@pytest.mark.parametrize("limit", [1, 2, 7, 8])
def test_any_limit_of_pending_operations_may_be_set(limit: int, device: Any) -> None:
    with xp.using(pending_limit=limit, direct_limit=0):
        x = xp.zeros(10, xp.float32)
        for _ in range(20):
            x = x + 1
            x[2:5] += 1
    assert x.tolist() == [20, 20, 40, 40, 40] + [20] * 5


def test_looking_for_a_place_to_cut_takes_constant_time_for_each_operation(device: Any, monkeypatch: Any) -> None:
    module = sys.modules["gpuarray.array.recorded"]
    looked_at = []
    walk = module._pending_below
    monkeypatch.setattr(module, "_pending_below", lambda tops: looked_at.append(result := walk(tops)) or result)
    with xp.using(pending_limit=6000, direct_limit=0):
        x = xp.ones(100, xp.float32)
        for _ in range(2500):
            x = x * 1.0 + 1
    assert sum(map(len, looked_at)) < 10 * 5000


def test_loops_that_read_nothing_cost_what_they_cost_with_an_evaluation_each_turn(device: Any) -> None:
    """Coupled fields that are updated in place are evaluated together, always at the same line."""

    def turn(height: Any, speed: Any) -> None:
        speed[1:-1] -= 0.1 * (height[2:] - height[:-2])
        speed[0] = speed[-1] = 0
        height[1:-1] -= 0.1 * (speed[2:] - speed[:-2]) * (1 + height[1:-1])
        height *= 0.999

    def run(turns: int, *, each: bool) -> tuple[Any, Any]:
        height, speed = xp.asarray(np.linspace(0, 1, 300, dtype=np.float32)), xp.zeros(300, xp.float32)
        xp.reset_stats()
        for _ in range(turns):
            turn(height, speed)
            if each:
                xp.evaluate(height, speed)
        xp.evaluate(height, speed)
        return xp.stats(), height

    with xp.using(pending_limit=64, direct_limit=0):
        run(40, each=False)
        short, _ = run(40, each=False)
        counted, actual = run(120, each=False)
        known, expected = run(120, each=True)
    assert_same(actual, expected.get(), rtol=1e-4)
    assert counted["plans"] <= 2  # of the last piece
    assert counted["operations"] <= 1.2 * known["operations"]
    assert counted["launches"] <= 1.2 * known["launches"]
    assert counted["launches"] <= 3.3 * short["launches"]


def test_results_that_are_written_to_arrays_are_not_computed_from_the_start_for_each_read(device: Any) -> None:
    with xp.using(direct_limit=0):
        x = xp.zeros(50, xp.float32)
        y = xp.zeros(50, xp.float32)
        for turn in range(20):
            xp.add(x, 1, out=x)
            y[:] = y * 1 + 1
            assert float(xp.max(x * 2)) == float(xp.max(y * 2)) == 2 * turn + 2
    assert xp.stats()["operations"] < 20 * 20


def test_deep_values_are_not_computed_again_by_each_piece_of_a_loop(device: Any) -> None:
    with xp.using(pending_limit=32):
        x = xp.ones(4, xp.float32)
        for _ in range(30):
            x = x + 1
        rows = xp.zeros((80, 4), xp.float32)
        for i in range(80):
            rows[i] = x * i
    assert_same(rows, np.arange(80, dtype=np.float32)[:, None] * np.full(4, 31, np.float32))
    assert xp.stats()["operations"] < 80 * 5


# -- text -------------------------------------------------------------------------------------------------------------


def test_repr() -> None:
    with xp.using(device="cpu"):
        assert repr(xp.asarray([1, 2])) == "GpuArray([1, 2], dtype=int64, device='cpu')"
        assert repr(xp.asarray(1.5)) == "GpuArray(1.5, dtype=float64, device='cpu')"
        assert repr(xp.zeros((0, 3))) == "GpuArray([], shape=(0, 3), dtype=float64, device='cpu')"
        assert str(xp.arange(3.0)) == "[0. 1. 2.]"
        assert str(xp.asarray(2.5)) == "2.5"
        assert "<table>" in xp.arange(3)._repr_html_()


@pytest.mark.parametrize("shape", [(2000,), (50, 60), (3, 4, 1000), (7, 1, 7, 50), (6, 400)], ids=str)
def test_large_arrays_look_as_in_numpy(shape: Any, device: Any) -> None:
    host, x = both(values(shape, np.float32))
    assert str(x) == str(host)
    assert f"shape={shape}" in repr(x)


def test_printing_reads_the_corner_only(limited: Any) -> None:
    with xp.using(device=limited):
        x = xp.ones((1000, 1000), xp.float32) + xp.arange(1000, dtype="float32")
        repr(x)
        assert xp.stats()["bytes_downloaded"] < 10_000


# -- the namespace ----------------------------------------------------------------------------------------------------


def test_the_namespace_is_complete() -> None:
    missing = [name for name in array_api_strict.__all__ if not hasattr(xp, name)]
    missing = [name for name in missing if "strict" not in name.lower()]
    assert set(missing) <= {"__array_api_version__", "isin", "linalg", "fft"}
    assert len(set(xp.__all__)) == len(xp.__all__)
    assert not [name for name in xp.__all__ if not hasattr(xp, name)]
    with pytest.raises(AttributeError):
        xp.no_such_function


def test_namespace_protocol() -> None:
    x = xp.zeros(3)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="api_version"):
        x.__array_namespace__(api_version="1999.12")
    info = xp.__array_namespace_info__()
    assert info.default_device() == "auto"
    assert info.default_dtypes()["integral"] == np.int64
    assert "cpu" in info.devices()
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert info.capabilities()["boolean indexing"]
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="strings")


def test_data_types() -> None:
    x = xp.zeros(3, xp.float32)
    assert x.dtype == xp.float32
    assert xp.result_type(x, 1.0) == xp.float32
    assert xp.result_type(x, xp.int64) == xp.float64
    assert xp.can_cast(x, xp.float64)
    assert not xp.can_cast(xp.float64, xp.int8)
    assert xp.finfo(x).eps == np.finfo(np.float32).eps
    assert xp.iinfo(xp.int8).max == 127
    assert xp.isdtype(x.dtype, "real floating")
    assert xp.astype(x, xp.int8).dtype == xp.int8


METHODS = (
    "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "cumsum", "cumprod", "clip",
    "round", "take", "put", "repeat", "squeeze", "swapaxes", "flatten", "ravel", "flat", "dot", "nonzero", "sort",
    "argsort", "conj", "conjugate", "diagonal", "trace", "item", "tolist", "astype", "copy", "fill", "reshape",
    "transpose", "searchsorted", "compress", "real", "imag", "T", "mT", "base", "tobytes", "view",
)  # fmt: skip


def test_methods_show_up() -> None:
    names = set(dir(xp.GpuArray))
    assert set(METHODS) <= names
    for name in METHODS:
        assert getattr(xp.GpuArray, name).__doc__
