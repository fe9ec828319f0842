"""Whole programs have no cliffs: few plans, none again, few launches, and no multiple of NumPy's time."""

import pytest

import gpuarray as xp
from bench.programs import PROGRAMS, Program
from bench.programs.__main__ import main
from bench.programs.measure import is_equal, on_device, on_numpy
from gpuarray.settings import Config

#: A cliff takes hundreds of times as long as NumPy. The machines of tests are busy, and the smallest times short.
FACTOR = 40
FREE = 0.05
#: Plans of one program: for each of its lines some sizes until sizes vary, and some conditions.
PLANS = 40


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_small_program_is_computed_at_once(program: Program) -> None:
    with xp.using(direct_limit=Config().direct_limit):
        actual = on_device(program, "small", "cpu")
    expected = on_numpy(program, "small")
    assert is_equal(actual, expected)
    assert actual.result.dtype == expected.result.dtype
    assert actual.again["plans"] == actual.again["compiles"] == 0
    assert actual.best <= FACTOR * expected.best + FREE


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_planned_program_makes_few_plans(program: Program) -> None:
    with xp.using(direct_limit=0):
        result = on_device(program, "small", "cpu", 3)  # the second call stores what the first computed twice
    assert is_equal(result, on_numpy(program, "small"))
    assert result.counted["plans"] <= PLANS
    assert result.again["plans"] <= 2


def test_the_command_line_prints_a_line_for_each_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lu", "transforms", "--device", "cpu", "--repeat", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["lu", "haar"]
    assert "geometric mean" in lines[-1]
