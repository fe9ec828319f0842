"""Draws that a program repeats, which are computed together: the numbers are those of calls that are made alone."""

import random

import numpy as np
import pytest

import gpuarray as xp
from gpuarray.functions import random_ahead

_CALLS = """
random() random(3) random(dtype="f4") random(3,dtype="f4") uniform(-1,2) standard_normal() normal(1,2,5)
normal(dtype="f4") exponential(2) rayleigh() weibull(2) pareto(2) power(2) laplace() logistic() gumbel()
triangular(0,1,2) lognormal() standard_cauchy() standard_gamma(.4) gamma(2,size=(2,3)) beta(2,3) chisquare(3)
noncentral_chisquare(3,1) f(3,4) standard_t(3) noncentral_f(3,4,1) wald(1,2) wald(1,2,dtype="f4") vonmises(0,1)
integers(10) integers(2**40) integers(9,size=3) integers(200,dtype="uint8") integers(0,2,5,dtype=bool)
integers(3,30000,dtype="i2",size=3) integers([1,2],9) poisson(3) poisson(300) poisson([1,20,3]) binomial(9,.3)
binomial(900,.3) negative_binomial(3,.3) geometric(.3) logseries(.3) logseries(.3,5) zipf(2) hypergeometric(5,5,5)
hypergeometric(500,500,500) multinomial(9,[.2,.3,.5]) multinomial(5,[.5,.5],size=(2,3))
multivariate_hypergeometric([3,4,5],4) dirichlet([1,2,3]) dirichlet([.1,.5],3) choice(10) choice(10,(2,2),False)
choice(3,p=[.2,.3,.5]) choice(3,2,False,p=[.2,.3,.5]) choice([4,5,6]) permutation(6) normal([0,1],[1,2])
""".split()  # noqa: SIM905  # as a list it is four times as long


def _drawn(generator, call):
    return eval(f"generator.{call}", {"generator": generator})


def _assert_equal(tested, alone, call):
    """Compare a call of a generator with the same call of one that has never drawn before."""
    alone.bit_generator.state = tested.bit_generator.state
    result, expected = np.asarray(_drawn(tested, call)), np.asarray(_drawn(alone, call))
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape), call
    np.testing.assert_array_equal(result, expected, err_msg=call)
    assert str(tested.bit_generator.state) == str(alone.bit_generator.state), call


@pytest.mark.parametrize("call", _CALLS)
def test_repeated_calls_draw_the_numbers_of_calls_alone(call):
    with xp.using(device="cpu"):
        tested, alone = xp.random.default_rng(3), xp.random.default_rng(3)
        for _ in range(60):
            _assert_equal(tested, alone, call)


@pytest.mark.parametrize("seed", range(12))
def test_other_draws_between_repeated_ones(seed):
    chosen = random.Random(seed)
    some = chosen.sample(_CALLS, 3)
    with xp.using(device="cpu"):
        tested, alone = xp.random.default_rng(seed), xp.random.default_rng(seed)
        for step in range(120):
            _assert_equal(tested, alone, chosen.choice(some))
            if step % 50 == 49:
                tested.bit_generator.advance(2)
            if step % 31 == 30:
                tested.bit_generator.random_raw(chosen.randrange(1000))


def test_rows_are_used_and_belong_to_nothing_else():
    """Several calls are computed by one; what a program writes to a result is in no other one."""
    with xp.using(device="cpu"):
        rng, host = xp.random.default_rng(5), np.random.Generator(np.random.Philox(5))
        computed = []
        rows = random_ahead.CallRows
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(random_ahead, "CallRows", lambda *given: computed.append(given[-1]) or rows(*given))
            results = [rng.random(3) for _ in range(200)]
            for result in results:
                result[...] = 7
            later = [rng.random(3) for _ in range(20)]
        assert 1 <= len(computed) <= 4
        assert sum(computed) >= 199
        host.random((200, 3))
        np.testing.assert_array_equal([x.get() for x in later], host.random((20, 3)))


def test_a_signal_handler_draws_during_the_first_call(monkeypatch):
    """What it takes from the stream is no part of the call."""
    with xp.using(device="cpu"):
        tested, alone = xp.random.default_rng(3), xp.random.default_rng(3)
        bits = tested.bit_generator
        take = type(bits).take_words

        def interrupted(self, count):
            if self is bits:
                monkeypatch.undo()
                tested.random(2)
            return take(self, count)

        monkeypatch.setattr(type(bits), "take_words", interrupted)
        tested.random()
        for _ in range(20):
            _assert_equal(tested, alone, "random()")


def test_parameters_that_are_equal_but_not_the_same():
    with xp.using(device="cpu"):
        rng = xp.random.default_rng(1)
        for _ in range(4):
            rng.normal(0.0, 0.0)
        with pytest.raises(ValueError, match="scale < 0"):
            rng.normal(0.0, -0.0)
        for _ in range(4):
            assert rng.choice([1, 1]).dtype == np.int64
        assert rng.choice([1.0, 1.0]).dtype == np.float64
        for _ in range(4):
            assert rng.random().dtype == np.float64
        with xp.using(default_float="float32"):
            assert rng.random().dtype == np.float32


def test_extents_that_are_elements_of_arrays_on_several_devices():
    rng = xp.random.default_rng(2)
    for device in ("cpu", "wgpu", "cpu", "wgpu"):
        extents = tuple(xp.asarray([2, 3], device=device))
        assert rng.standard_normal(extents).shape == (2, 3)
        assert rng.normal([*extents], 1.0).shape == (2,)


def test_a_recorded_function_draws_new_numbers():
    """Calls that are recorded are not computed together with those around them."""
    with xp.using(device="cpu"):
        rng, alone = xp.random.default_rng(2), xp.random.default_rng(2)
        for _ in range(5):
            rng.normal(), alone.normal()
        step = xp.jit(lambda: rng.normal())
        result = [float(step()) for _ in range(3)] + [float(rng.normal())]
        np.testing.assert_allclose(result, [float(alone.normal()) for _ in range(4)], rtol=1e-14)
