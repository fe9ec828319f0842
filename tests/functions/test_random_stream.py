"""The stream below random numbers: bit for bit NumPy's Philox, through all calls that take from it, and its state."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import assert_same

import gpuarray as xp
from gpuarray.device import Device
from gpuarray.ops import substreams
from gpuarray.random import Generator, Philox, SeedSequence, default_rng

Call = tuple[str, dict[str, Any]]


def numpys(seed: Any = 7) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def assert_same_state(ours: Any, numpy: Any) -> None:
    first, second = ours.bit_generator.state, numpy.bit_generator.state
    assert first["buffer_pos"] == second["buffer_pos"]
    assert (first["has_uint32"], first["uinteger"]) == (second["has_uint32"], second["uinteger"])
    np.testing.assert_array_equal(first["buffer"], second["buffer"], strict=True)
    for name in ("counter", "key"):
        np.testing.assert_array_equal(first["state"][name], second["state"][name], strict=True)


def ranges() -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments of ``integers``: a dtype, and a range of a power of two (or of one number) within it."""

    def build(name: str, bits: int, low: int, endpoint: bool) -> dict[str, Any]:
        least, most = (0, 1) if name == "bool" else (int(np.iinfo(name).min), int(np.iinfo(name).max))
        spread = min(1 << bits, most - least + 1)
        start = max(least, min(low, most - spread + 1))
        return {"low": start, "high": start + spread - endpoint, "dtype": name, "endpoint": endpoint}

    names = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
    low = st.integers(-(2**63), 2**63)
    return st.builds(build, st.sampled_from(names), st.integers(0, 64), low, st.booleans())


def calls() -> st.SearchStrategy[list[Call]]:
    size = st.integers(0, 41)
    floating = st.sampled_from(["float32", "float64"])
    return st.lists(
        st.one_of(
            st.tuples(st.just("random"), st.fixed_dictionaries({"size": size, "dtype": floating})),
            st.tuples(st.just("random"), st.fixed_dictionaries({"size": st.tuples(size, st.integers(1, 3))})),
            st.tuples(st.just("integers"), st.builds(lambda n, r: {"size": n} | r, size, ranges())),
            st.tuples(st.just("bytes"), st.fixed_dictionaries({"length": size})),
            st.tuples(st.just("random_raw"), st.fixed_dictionaries({"size": size})),
            st.tuples(
                st.just("uniform"), st.fixed_dictionaries({"low": st.just(-1.5), "high": st.just(2.0), "size": size})
            ),
            st.tuples(
                st.just("advance"), st.fixed_dictionaries({"delta": st.sampled_from([1, 2**64 - 2, 2**192 + 3])})
            ),
        ),
        min_size=1,
        max_size=12,
    )


def check_calls(seed: int, sequence: list[Call]) -> None:
    ours, numpy = default_rng(seed), numpys(seed)
    results = []
    for name, arguments in sequence:
        pair = []
        for rng in (ours, numpy):
            owner = rng.bit_generator if name in ("random_raw", "advance") else rng
            pair.append(getattr(owner, name)(**arguments))
        if name != "advance":
            results.append((name, arguments, *pair))
        assert_same_state(ours, numpy)
    for name, arguments, mine, theirs in results:  # all are computed after all have been recorded
        what = f"{name} {arguments}"
        if isinstance(theirs, bytes):
            assert mine == theirs, what
        else:
            np.testing.assert_array_equal(np.asarray(mine), theirs, what, strict=True)


@settings(max_examples=60)
@given(st.integers(0, 2**70), calls())
def test_any_calls_give_numpys_numbers_in_process(seed: int, sequence: list[Call]) -> None:
    with xp.using(device="cpu"):
        check_calls(seed, sequence)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_there_may_be_no_numbers(device: Device, dtype: Any) -> None:
    assert_same(default_rng(0).random(0, dtype=dtype), numpys(0).random(0, dtype=dtype))
    assert default_rng(0).normal(size=(0, 3)).get().shape == (0, 3)


@settings(max_examples=12)
@given(st.integers(0, 2**70), calls())
def test_any_calls_give_numpys_numbers_on_wgpu(seed: int, sequence: list[Call]) -> None:
    with xp.using(device="wgpu"):
        check_calls(seed, sequence)


@pytest.mark.parametrize("offset", range(9))
def test_many_numbers_from_every_place_in_a_block(device: Device, offset: int) -> None:
    ours, numpy = default_rng(offset), numpys(offset)
    for rng in (ours, numpy):
        rng.random(offset // 2, dtype="float64")
        rng.random(offset % 3, dtype="float32")
    for dtype in ("float32", "float64", "float32"):
        np.testing.assert_array_equal(np.asarray(ours.random(5003, dtype=dtype)), numpy.random(5003, dtype=dtype))
    part = ours.random((40, 40), dtype="float32")[3:30:2, ::-3] * 1
    np.testing.assert_array_equal(np.asarray(part), numpy.random((40, 40), dtype="float32")[3:30:2, ::-3])
    assert float(ours.random(8192, dtype="float32").sum()) == pytest.approx(numpy.random(8192, "f").sum(), rel=1e-5)


def test_numbers_that_numpy_does_not_reject_are_the_same(device: Device) -> None:
    ours, numpy = default_rng(3), numpys(3)
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(ours.integers(1, 6, 5000, endpoint=True)), numpy.integers(1, 7, 5000))
        np.testing.assert_array_equal(np.asarray(ours.choice(52, 99)), numpy.choice(52, 99))
        chances = [0.1, 0.2, 0.7]
        np.testing.assert_array_equal(np.asarray(ours.choice(3, 99, p=chances)), numpy.choice(3, 99, p=chances))
        assert_same_state(ours, numpy)


@pytest.mark.parametrize(
    ("high", "dtype"), [(2**31 + 1, "int64"), (3 * 2**62, "uint64"), (200, "uint8"), (40000, "uint16")]
)
def test_numbers_that_numpy_rejects_are_drawn_again(high: int, dtype: str) -> None:
    drawn = []
    for device in ("cpu", "wgpu"):
        rng = default_rng(4, device=device)
        rng.random(1, dtype="float32")
        rng.random(1, dtype="float64")  # the half that is left over is not next to what follows
        drawn.append(np.asarray(rng.integers(0, high, 20_000, dtype)))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    expected = np.quantile(drawn[0].astype(np.float64), [0.25, 0.5, 0.75]) / high
    np.testing.assert_allclose(expected, [0.25, 0.5, 0.75], atol=0.015)


@pytest.mark.parametrize(
    ("high", "dtype"),
    [
        (200, "uint8"),
        (64, "uint8"),
        (30000, "int16"),
        (2, "bool"),
        (2**31 - 5, "int32"),
        (6, "int64"),
        (2**31 + 1, "int64"),
    ],
)
def test_integers_from_every_place_in_a_block_are_the_same_everywhere(high: int, dtype: str) -> None:
    for before in range(5):
        drawn = []
        for device in ("cpu", "wgpu"):
            rng = default_rng(before, device=device)
            rng.random(before, dtype="float32")
            rng.random(before % 2)
            drawn.append(np.asarray(rng.integers(0, high, 1999, dtype)))
        np.testing.assert_array_equal(*drawn)


def test_numbers_do_not_depend_on_what_is_recorded_after(device: Device) -> None:
    rng = default_rng(14)
    first, second = rng.random(100, "float32"), rng.standard_normal(100, "float32")
    later, earlier = np.asarray(second), np.asarray(first)
    again = default_rng(14)
    np.testing.assert_array_equal(np.asarray(again.random(100, "float32")), earlier)
    np.testing.assert_array_equal(np.asarray(again.standard_normal(100, "float32")), later)


# -- states -----------------------------------------------------------------------------------------------------------


def used(rng: Any) -> Any:
    """Return a generator in the middle of a block, with a half left over."""
    rng.random(3, dtype="float32")
    rng.random(5)
    return rng


def test_numpy_goes_on_where_we_are_and_the_other_way_round() -> None:
    ours, numpy = used(default_rng(5, device="cpu")), used(numpys(5))
    assert_same_state(ours, numpy)
    theirs = np.random.Generator(np.random.Philox())
    theirs.bit_generator.state = ours.bit_generator.state
    for other in (default_rng(theirs.bit_generator), default_rng(theirs), Generator(theirs.bit_generator, "cpu")):
        np.testing.assert_array_equal(np.asarray(other.random(9, "float32")), copy.deepcopy(theirs).random(9, "f"))
    state = theirs.bit_generator.state
    np.testing.assert_array_equal(np.asarray(ours.random(9, "float32")), theirs.random(9, "f"))
    ours.bit_generator.state = state
    assert ours.bit_generator.state["has_uint32"] == 1


def test_states_that_are_none() -> None:
    bits = Philox(1)
    before = bits.state
    with pytest.raises(TypeError, match="dict"):
        bits.state = 3
    with pytest.raises(ValueError, match="PCG64"):
        bits.state = np.random.PCG64(1).state
    broken = used(default_rng(5)).bit_generator.state
    broken["buffer"] = broken["buffer"] + np.uint64(1)
    with pytest.raises(ValueError, match="buffer"):
        bits.state = broken
    assert str(bits.state) == str(before)


def test_keys_counters_and_jumps() -> None:
    for arguments in (
        {"key": 2**100 + 7},
        {"key": [3, 2**63], "counter": 2**200},
        {"seed": 3, "counter": np.array([1, 2**64 - 1, 2**64 - 1, 0], np.uint64)},
    ):
        ours, numpy = Philox(**arguments), np.random.Philox(**arguments)
        for move in (lambda b: b, lambda b: b.advance(2**255), lambda b: b.jumped(), lambda b: b.jumped(2**127)):
            ours, numpy = move(ours), move(numpy)
            np.testing.assert_array_equal(np.asarray(ours.random_raw(7, device="cpu")), numpy.random_raw(7))
            np.testing.assert_array_equal(np.asarray(ours.random_raw(11, device="wgpu")), numpy.random_raw(11))
    assert ours.random_raw(5, output=False) is None
    assert int(ours.random_raw()) == numpy.random_raw(6)[-1]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Philox(1, key=2), ValueError, "both"),
        (lambda: Philox(key=2**128), ValueError, "key"),
        (lambda: Philox(counter=-1), ValueError, "counter"),
        (lambda: Philox(key=[1, 2, 3]), ValueError, "2 numbers"),
        (lambda: Philox(-1), ValueError, "non-negative"),
        (lambda: Philox(key=1).spawn(2), TypeError, "key was given"),
        (lambda: default_rng(np.random.PCG64(1)), TypeError, "PCG64"),
        (lambda: default_rng(np.random.default_rng(1)), TypeError, "PCG64"),
        (lambda: Generator(7), TypeError, "int"),
        (lambda: default_rng(default_rng(1, device="cpu"), device="wgpu"), ValueError, "give its seed"),
    ],
)
def test_wrong_bit_generators(make: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_seeds() -> None:
    assert SeedSequence is np.random.SeedSequence
    for seed in (0, 2**80, [1, 2], (1, 2), np.arange(3), SeedSequence(9), SeedSequence(9).spawn(1)[0]):
        np.testing.assert_array_equal(np.asarray(default_rng(seed).random(3)), numpys(seed).random(3))
    words = xp.asarray(np.array([4, 5]))
    np.testing.assert_array_equal(np.asarray(default_rng(words).random(3)), numpys([4, 5]).random(3))
    assert default_rng().bit_generator.state["state"]["key"][0] != default_rng().bit_generator.state["state"]["key"][0]


def test_children_are_numpys() -> None:
    ours, numpy = default_rng(17, device="cpu").spawn(3), numpys(17).spawn(3)
    for mine, theirs in zip(ours, numpy, strict=True):
        assert mine.device == "cpu"
        np.testing.assert_array_equal(np.asarray(mine.random(500)), theirs.random(500))
    assert default_rng(17).bit_generator.spawn(1)[0].seed_seq.spawn_key == (0,)


def test_streams_of_children_have_nothing_to_do_with_each_other() -> None:
    samples = [np.asarray(child.standard_normal(4000)) for child in default_rng(18, device="cpu").spawn(6)]
    samples += [np.asarray(default_rng(18, device="cpu").standard_normal(4000))]
    result = np.corrcoef(samples)[~np.eye(7, dtype=bool)]
    assert np.abs(result).max() < 4.5 / np.sqrt(4000)
    assert len({v for sample in samples for v in sample.tolist()}) == 7 * 4000


def test_substreams_take_whole_blocks() -> None:
    rng, numpy = default_rng(20, device="cpu"), numpys(20)
    first = np.asarray(rng.standard_normal(5))
    block = numpy.bit_generator.random_raw(4)
    expected = substreams.Substream(*(int(w) for word in block[:2] for w in (word & 0xFFFFFFFF, word >> np.uint64(32))))
    np.testing.assert_array_equal(first, substreams.normal(np.arange(5), expected, np.dtype("d")))
    np.testing.assert_array_equal(np.asarray(rng.random(5)), numpy.random(5))
    rng.standard_gamma(2.0, 7)  # takes the block after the one that has begun
    numpy.bit_generator.random_raw(3 + 4)
    np.testing.assert_array_equal(np.asarray(rng.random(5)), numpy.random(5))
    rng.standard_normal((0, 3))
    np.testing.assert_array_equal(np.asarray(rng.random(5)), numpy.random(5))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))], ids=["deep", "pickle"])
def test_copies_go_on_where_the_generator_is(copied: Callable[[Generator], Generator]) -> None:
    rng = used(default_rng(18, device="cpu"))
    other = copied(rng)
    np.testing.assert_array_equal(np.asarray(other.random(9, "float32")), np.asarray(rng.random(9, "float32")))
    np.testing.assert_array_equal(np.asarray(other.poisson(3, 9)), np.asarray(rng.poisson(3, 9)))
    assert other.device == rng.device
    assert str(other.spawn(1)[0].bit_generator.state) == str(rng.spawn(1)[0].bit_generator.state)


@pytest.mark.parametrize("size", [1, 8, 9, 15, 16, 17, 24, 2047, 2057, 4099])
def test_neighbours_exchange_what_they_store(size: int) -> None:
    ours, numpy = default_rng(21, device="wgpu"), numpys(21)
    for _ in range(2):  # the second begins within a block
        np.testing.assert_array_equal(np.asarray(ours.random(size, "float32")), numpy.random(size, "float32"))
        np.testing.assert_array_equal(
            np.asarray(ours.integers(-8, 8, size, "int32")), numpy.integers(-8, 8, size, "int32")
        )
        bits, expected = ours.integers(0, 2**32, (2, size), "uint32"), numpy.integers(0, 2**32, (2, size), "uint32")
        np.testing.assert_array_equal(np.asarray(bits), expected)
    target = xp.zeros(size + 32, dtype="float32", device="wgpu")
    target[16 : 16 + size] = ours.random(size, "float32")
    expected = np.pad(numpy.random(size, "float32"), 16)
    np.testing.assert_array_equal(np.asarray(target), expected)


def test_new_places_need_no_new_kernels() -> None:
    with xp.using(device="wgpu"):
        for seed in range(4):
            rng = default_rng(seed)
            rng.random(seed, dtype="float32")
            for draw in (
                rng.random(64, dtype="float32"),
                rng.standard_normal(64, "float32"),
                rng.integers(0, 6 + seed, 64),
            ):
                np.asarray(draw)
            if seed == 0:
                before = xp.stats()["compiles"]
        assert xp.stats()["compiles"] == before
        assert xp.stats()["fallbacks"] == 0


def test_numbers_that_are_drawn_at_once_are_those_of_kernels():
    result = []
    for limit in (0, 1 << 17):
        with xp.using(device="cpu", direct_limit=limit):
            rng = xp.random.default_rng(5)
            drawn = [rng.normal(size=3) for _ in range(300)]  # more than are computed ahead
            for kind in ("float32", "float64"):
                for _ in range(3):
                    drawn += [rng.random((2, 3), kind), rng.standard_normal((2, 5), kind), rng.random(dtype=kind)]
                drawn += [rng.uniform(-1, xp.asarray([2, 3], kind), dtype=kind), rng.exponential(2.0, 4, dtype=kind)]
            state = rng.bit_generator.state
            drawn += [rng.lognormal(), rng.standard_normal(4)]
            rng.bit_generator.state = state
            drawn += [rng.laplace(size=5), rng.geometric(0.3, 4), rng.standard_cauchy(3)]
            for kind in ("int8", "uint16", "int64", "uint64", "bool"):
                low, high = (0, 2) if kind == "bool" else (3, 100)
                drawn += [rng.integers(low, high, size, kind) for size in ((), 1, 5, (3, 2), 5)]
            drawn += [rng.integers(-5, 1 << 60, 4), rng.integers(1 << 40), rng.integers(0, [3, 5]), rng.random()]
            result.append([np.asarray(each) for each in drawn])
    for recorded, drawn_now in zip(*result, strict=True):
        assert recorded.dtype == drawn_now.dtype
        np.testing.assert_array_equal(drawn_now, recorded)


def test_drawn_numbers_can_be_written_to():
    rng = xp.random.default_rng(5)
    for x in (rng.normal(size=3), rng.normal(size=3), rng.random(()), rng.random(3)):
        before = np.array(x)
        x += 1
        np.testing.assert_array_equal(np.asarray(x), before + 1)
