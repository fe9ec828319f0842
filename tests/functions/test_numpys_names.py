"""Names of NumPy's and of other array libraries in the namespace: each exists, or its error says what to use."""

import gc
import operator
import re
from pathlib import Path

import numpy as np
import pytest

import gpuarray as xp
import gpuarray.emath
import gpuarray.typing as xpt
from gpuarray.functions import absent

#: Attributes of the package that are not in its ``__all__``.
INTERNAL = {"__version__", "dtypes"}


@pytest.mark.parametrize("name", sorted({*np.__all__, *absent.ABSENT} - set(xp.__all__) - INTERNAL))
def test_absent_names_say_what_to_use(name):
    with pytest.raises(AttributeError, match=rf"'{name.rpartition('.')[2]}': \S"):
        operator.attrgetter(name)(xp)


@pytest.mark.parametrize("library", ["cupy", "jax", "pytorch"])
def test_names_in_the_table_of_a_library_exist_or_say_what_to_use(library):
    page = Path(__file__).parents[2] / f"docs/how-to/coming-from-{library}.md"
    theirs = [row.split(" | ")[0] for row in page.read_text(encoding="utf-8").splitlines() if row.startswith("| `")]
    pool = xp.get_default_memory_pool()
    for owner, modules in ((xp, "cp|jax|jnp|torch"), (xp.ones((2, 2)), "x"), (pool, "pool")):
        for name in re.findall(rf"(?<![\w.])(?:{modules})\.([a-z]\w*(?:\.[a-z]\w*)*)", "".join(theirs)):
            try:
                operator.attrgetter(name)(owner)
            except AttributeError as error:
                assert ": " in str(error), name  # noqa: PT017  # most names exist


def test_names_that_exist_are_not_declared_absent():
    assert not absent.ABSENT.keys() & set(xp.__all__)


def test_other_names_have_no_reason():
    with pytest.raises(AttributeError, match=r"'nonsense'$"):
        xp.nonsense


def test_class_makes_arrays():
    x = xp.ndarray((2, 3), np.float32)
    assert isinstance(x, xp.ndarray)
    assert (x.shape, x.dtype) == ((2, 3), np.float32)
    assert xp.ndarray(4).dtype == np.float64
    assert xp.ndarray((2, 3), order="F").flags.fnc
    x[...] = 1
    assert x.sum() == 6
    with pytest.raises(TypeError, match="frombuffer"):
        xp.ndarray(2, np.uint8, b"ab")


def test_annotations():
    def function(x: xpt.NDArray[np.float64], y: xpt.ArrayLike, z: "xp.ndarray | None" = None) -> xp.ndarray: ...

    assert function.__annotations__["x"].__origin__ is xp.GpuArray
    assert xp.typing is xpt


def test_vectorize_calls_the_function_for_each_element():
    @xp.vectorize
    def larger(a, b):
        return a if a > b else b

    x = xp.asarray([1.0, 5.0])
    assert isinstance(larger(x, 3), xp.GpuArray)
    assert larger(x, 3).tolist() == [3, 5]
    assert xp.vectorize(lambda v: v + 1, otypes=[np.float32])(x).dtype == np.float32
    assert xp.frompyfunc(lambda v: v + 1, 1, 1)(x).tolist() == [2, 6]


def test_iterators_read():
    x = xp.asarray([[1, 2], [3, 4]])
    assert [int(v) for v in xp.nditer(x)] == [1, 2, 3, 4]
    assert dict(xp.ndenumerate(x)) == {(0, 0): 1, (0, 1): 2, (1, 0): 3, (1, 1): 4}
    assert sum(int(a * b) for a, b in xp.nditer([x, np.ones((2, 2), int)])) == 10
    for flags in (["readwrite"], [["writeonly"]]):
        with pytest.raises(TypeError, match="copy"):
            xp.nditer(x, op_flags=flags)
    host = np.zeros(2)
    for v in xp.nditer(host, op_flags=["readwrite"]):
        v[...] = 1
    assert host.tolist() == [1, 1]


def test_complex_results_beyond_the_domain():
    assert gpuarray.emath is xp.emath
    assert set(np.emath.__all__) == set(xp.emath.__all__)
    assert np.allclose(xp.emath.sqrt(xp.asarray([-1.0, 4.0])), np.emath.sqrt([-1.0, 4.0]))


def test_numpys_assertions():
    x = xp.asarray([1.0, 2.0])
    xp.testing.assert_allclose(x, np.array([1.0, 2.0]))
    xp.testing.assert_array_equal(x, x)
    with pytest.raises(AssertionError):
        xp.testing.assert_array_less(x, 1)
    ones = xp.ones(2)
    for check in (xp.testing.assert_equal, xp.testing.assert_almost_equal):
        for actual, desired in ((ones, ones), (ones, 1), (ones, [1, 1]), ([ones, ones], [ones, ones]), (ones.sum(), 2)):
            check(actual, desired)
        with pytest.raises(AssertionError):
            check(ones, xp.asarray([1.0, 2.0]))
    xp.testing.assert_equal({"a": [ones, 2]}, {"a": [np.ones(2), 2]})


def test_polynomials_compute_with_arrays():
    assert xp.polynomial.Polynomial([1, 2])(xp.asarray([1.0, 2.0])).tolist() == [3, 5]


def test_masked_arrays_are_refused_where_their_mask_would_be_lost():
    masked = xp.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    for function in (xp.sum, xp.asarray, lambda m: xp.sqrt(m, dtype=np.float32), lambda m: xp.where(m, 1, 2)):
        with pytest.raises(TypeError, match="mask would be lost"):
            function(masked)
    assert xp.sum(xp.ma.masked_array([1.0, 2.0])) == 3
    assert (xp.ones(3) + masked).sum() == 6  # NumPy's masked array answers
    assert xp.add(xp.ones(3), masked).sum() == 6
    assert xp.sqrt(masked).mask.tolist() == [False, True, False]
    assert xp.nansum(xp.asarray(masked.filled(np.nan))) == 4


def test_dates_and_texts_stay_with_numpy():
    assert xp.datetime64("2024-01-02") - xp.datetime64("2024-01-01") == xp.timedelta64(1, "D")
    for values in (np.array(["2024-01-01"], "M8[D]"), np.array(["a"])):
        with pytest.raises(TypeError, match="keep"):
            xp.asarray(values)
        with pytest.raises(TypeError, match="keep"):
            xp.asarray([*values])
        with pytest.raises(TypeError, match="keep"):
            xp.zeros(3, values.dtype)
    dates = np.datetime64("2024-01-01") + np.arange(3)
    assert dates[xp.asarray([1.0, 3.0, 2.0]).argmax()] == np.datetime64("2024-01-02")


def test_names_of_cupy():
    x = xp.ones(10)
    assert xp.get_array_module(1, [x]) is xp
    assert xp.get_array_module(np.ones(3)) is np
    assert xp.is_available() == any(device.kind != "cpu" for device in xp.devices())
    gc.collect()  # what earlier tests have left would be freed between the reads below
    xp.synchronize()
    pool = xp.get_default_memory_pool()
    assert pool.total_bytes() == pool.used_bytes() + pool.free_bytes()
    pool.free_all_blocks()
    assert pool.free_bytes() == 0
    with xp.using(memory_limit=xp.config.memory_limit):
        pool.set_limit(size=2**30)
        assert pool.get_limit() == xp.config.memory_limit == 2**30
        pool.set_limit()
    assert pool.get_limit() == 0
    with pytest.raises(AttributeError, match=r"gpuarray\.add\.at"):
        xp.scatter_add


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("float_", "np.float64"),
        ("NaN", "np.nan"),
        ("in1d", "gpuarray.isin"),
        ("int", "`int`"),
        ("ComplexWarning", "gpuarray.exceptions"),
        ("random.PCG64", "Philox"),
        ("random.key", "default_rng"),
        ("lib.scimath", "gpuarray.emath"),
        ("lib.mixins", "numpy.lib.mixins"),
        ("testing.assert_warns", "numpy.testing.assert_warns"),
    ],
)
def test_names_that_numpy_has_removed_name_the_new_one(name, new):
    with pytest.raises(AttributeError, match=new):
        operator.attrgetter(name)(xp)
