"""Responses of linear systems are SciPy's."""

import numpy as np
import pytest
from comparing import compare
from scipy import signal

import gpuarray as xp
from gpuarray.scipy import signal as ours

RANDOM = np.random.default_rng(0)
A = RANDOM.standard_normal((4, 4)) - 4 * np.eye(4)
B, C, D = (RANDOM.standard_normal(shape) for shape in ((4, 2), (3, 4), (3, 2)))
TIMES = np.arange(3000) * 0.05
INPUTS = RANDOM.standard_normal((3000, 2))
CONTINUOUS = [
    ((A, B, C, D), INPUTS, TIMES, None, True),
    ((A, B, C, D), INPUTS, TIMES + 0.3, [1.0, 2, 3, 4], False),
    (signal.lti(A, B, C, D), INPUTS[:70].astype(np.float32), TIMES[:70]),
    (signal.butter(5, 2.0, analog=True), INPUTS[:, 0], TIMES),
    (signal.butter(3, 2.0, analog=True), 0, TIMES[:50], [1.0, 0, 2]),
    ((A, B, C, D), None, TIMES[:1], [1.0, 0, 2, 1]),
    ((A, B, C, D), INPUTS[:1], TIMES[:1]),
]
DISCRETE = [
    ((A / 10, B, C, D, 0.5), INPUTS),
    (signal.dlti(A / 10, B, C, D, dt=0.5), INPUTS[:100], None, [1.0, 2, 3, 4]),
    ((*signal.butter(6, 0.1), 1.0), INPUTS[:, 0]),
    ((A / 10, B, C, D, 0.02), INPUTS[:60], TIMES[:60]),
    ((A / 10, B, C, D, 0.5), INPUTS[:1]),
]


def check(name, args, device, put=xp.asarray):
    expected = getattr(signal, name)(*args)
    given = [put(value) if isinstance(value, np.ndarray) else value for value in args[1:]]
    with xp.using(fallback="allow" if device.kind == "cpuf32" else "error"):  # it has no float64
        compare(getattr(ours, name).composition(args[0], *given), expected, 1e-9)


@pytest.mark.parametrize("number", range(len(CONTINUOUS)))
def test_continuous_time(number, device):
    check("lsim", CONTINUOUS[number], device)


@pytest.mark.parametrize("number", range(len(DISCRETE)))
def test_discrete_time(number, device):
    check("dlsim", DISCRETE[number], device)


def test_invalid_inputs_leave_earlier_states(device):
    inputs = INPUTS.copy()
    inputs[1500] = np.nan
    check("lsim", ((A, B, C, D), inputs, TIMES), device)
    check("dlsim", ((A / 10, B, C, D, 0.5), inputs), device)


ERRORS = [
    ("lsim", (signal.dlti(A, B, C, D), INPUTS, TIMES), AttributeError),
    ("lsim", ((A, B, C, D), INPUTS, TIMES[:5]), ValueError),
    ("lsim", ((A, B, C, D), INPUTS[:, :1], TIMES), ValueError),
    ("lsim", ((A, B, C, D), INPUTS, TIMES**2), ValueError),
    ("lsim", ((A, B, C, D), INPUTS, TIMES - 1), ValueError),
    ("lsim", ((A, B, C, D), INPUTS, INPUTS), ValueError),
    ("dlsim", (signal.lti(A, B, C, D), INPUTS), AttributeError),
    ("dlsim", ((A, B, C, D, 1.0), INPUTS, TIMES[:5]), ValueError),
]


@pytest.mark.parametrize(("name", "args", "error"), ERRORS)
def test_errors(name, args, error):
    for function, put in ((getattr(signal, name), np.asarray), (getattr(ours, name).composition, xp.asarray)):
        with pytest.raises(error):
            function(args[0], *map(put, args[1:]))
