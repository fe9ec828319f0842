"""NumPy's older functions of random numbers: a global generator, and ``RandomState``."""

import pickle

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.errors import RecordingError

random = xp.random


@pytest.fixture(autouse=True)
def _state():
    before = random.get_state()
    yield
    random.set_state(before)


def test_seeds_are_arrays_too():
    random.seed(5)
    first = random.rand()
    for seed in (np.asarray(5), xp.asarray(5), xp.asarray([2, 5]).max()):
        random.seed(seed)
        assert random.rand() == first


def test_seed_gives_the_same_numbers_again():
    random.seed(5)
    first = [random.rand(3), random.randn(2, 2), random.randint(0, 10, 4), random.rand()]
    random.seed(5)
    again = [random.rand(3), random.randn(2, 2), random.randint(0, 10, 4), random.rand()]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_arrays_are_those_of_the_generator():
    assert np.array_equal(random.RandomState(7).random_sample(5), random.default_rng(7).random(5))
    assert np.array_equal(random.RandomState(7).normal(1, 2, size=5), random.default_rng(7).normal(1, 2, size=5))
    assert np.array_equal(random.RandomState(7).randint(3, 9, 5), random.default_rng(7).integers(3, 9, 5))


def test_single_numbers_are_numpys():
    ours, numpys = random.RandomState(11), np.random.RandomState(11)
    for name, args in (("rand", ()), ("normal", (1.0, 2.0)), ("randint", (5,)), ("uniform", (-1, 1)), ("choice", (9,))):
        mine, theirs = getattr(ours, name)(*args), getattr(numpys, name)(*args)
        assert type(mine) is type(theirs)
        assert mine == theirs


def test_every_function_of_numpy_is_there():
    bits = {"BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "SFC64"}
    assert set(np.random.__all__) - set(random.__all__) == bits
    for name in bits:
        with pytest.raises(AttributeError, match="Philox"):
            getattr(random, name)


def test_functions_take_sizes_and_arrays():
    assert random.rand(2, 3).shape == (2, 3)
    assert random.randn(4).shape == (4,)
    assert isinstance(random.normal(xp.ones(3)), xp.GpuArray)
    assert random.multivariate_normal([0, 0], np.eye(2), 5).shape == (5, 2)
    assert set(random.random_integers(2, size=100).tolist()) == {1, 2}
    assert 0 <= random.RandomState(1).tomaxint() < 2**63
    assert random.ranf(3).dtype == random.sample(3).dtype == xp.float64
    assert len(random.bytes(5)) == 5


def test_lists_and_texts_are_sampled():
    items = ["a", "b", "c"]
    assert random.choice(items) in items
    assert set(random.choice(items, 4)) <= set(items)
    assert sorted(random.permutation(items)) == items
    numbers = list(range(9))
    random.shuffle(numbers)
    assert sorted(numbers) == list(range(9))
    array = xp.arange(9)
    random.shuffle(array)
    assert sorted(array.tolist()) == list(range(9))
    assert set(random.choice(xp.asarray([1.5, 2.5]), 8, p=xp.asarray([0.0, 1.0])).tolist()) == {2.5}


def test_state_can_be_pickled_and_set():
    state = random.RandomState(2)
    state.rand(3)
    other = pickle.loads(pickle.dumps(state))
    assert np.array_equal(state.rand(4), other.rand(4))
    assert state.normal() == other.normal()
    with pytest.raises(ValueError, match="Mersenne"):
        state.set_state(np.random.RandomState(0).get_state())


def test_recorded_functions_draw_new_numbers_in_each_call():
    @xp.jit
    def drawn(x):
        return x + random.rand(), x + random.rand(2)

    rows = [np.concatenate(drawn(xp.zeros(2))) for _ in range(3)]
    assert len({row.tobytes() for row in rows}) == 3

    @xp.jit
    def seeded(x):
        random.seed(1)
        return x + random.rand(2)

    with pytest.raises(RecordingError):
        seeded(xp.zeros(2))
