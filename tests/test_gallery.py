"""The gallery's programs run, at small size, and what they compute is right; each draws its figure."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import gpuarray as xp
from gpuarray.errors import DerivativeError

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
FIGURE = "figure.webp"


@pytest.fixture(autouse=True, params=["cpu", "wgpu"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The default device; figures are drawn into an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context({"backend": "agg"}), xp.using(device=request.param):
        yield request.param


def program(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", GALLERY / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn() -> bool:
    return Path(FIGURE).read_bytes()[8:12] == b"WEBP"


@pytest.mark.usefixtures("planned")  # the picture is small here
def test_photograph_is_numpys_in_a_few_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    expected, actual = program("photograph").main(FIGURE, step=12)
    for wanted, picture in zip(expected, actual, strict=True):
        np.testing.assert_allclose(picture, wanted, atol=2e-5)
    assert np.ptp(expected[1]) > 0.5
    assert drawn()
    operations, launches = (int(word) for word in capsys.readouterr().out.split()[::2])
    assert operations > 100
    assert launches <= 6


def test_option_has_the_price_of_the_formula() -> None:
    result = program("option").main(FIGURE, paths=20_000, days=8)
    assert abs(result["european"] - result["exact"]) < 4 * result["error"]
    assert result["error"] < 0.2
    assert result["asian"] < result["european"]
    assert drawn()


def test_heat_decays_at_the_known_rate() -> None:
    heat = program("heat")
    plate = heat.wave(33)
    middle = float(plate[16, 16])
    for _ in range(60):
        heat.step(plate, 0.2)
    assert float(plate[16, 16]) / middle == pytest.approx(heat.decay(33, 0.2) ** 60, rel=1e-5)


def test_heat_keeps_its_edges() -> None:
    first, last = program("heat").main(FIGURE, size=40, steps=(0, 30))
    assert (last[0] == 1).all()
    assert (last[-1] == 0).all()
    inside = (slice(2, -1), slice(1, -1))
    assert np.abs(np.diff(last[inside])).max() < np.abs(np.diff(first[inside])).max()
    assert drawn()


def test_bodies_keep_their_energy() -> None:
    before, after = program("bodies").main(FIGURE, count=100, steps=8)
    assert after == pytest.approx(before, rel=2e-3)
    assert drawn()


def test_bodies_move_as_numpy_moves_them() -> None:
    bodies = program("bodies")
    places, _, masses = bodies.disc(50)
    host, weights = np.asarray(places, np.float64), np.asarray(masses, np.float64)
    apart = host[None] - host[:, None]
    pull = weights[None] / (np.sum(apart**2, axis=2) + bodies.SOFTENING**2) ** 1.5
    expected = np.sum(pull[:, :, None] * apart, axis=1)
    np.testing.assert_allclose(bodies.acceleration(places, masses), expected, rtol=2e-4, atol=1e-4)


def test_colours_are_those_that_numpy_finds() -> None:
    expected, actual = program("colours").main(FIGURE, step=16, colours=5, turns=2)
    assert np.mean(expected == actual) > 0.999  # a pixel between two centres may go to either
    assert len(np.unique(actual)) == 5
    assert drawn()


def test_spectrogram_follows_the_chirp() -> None:
    module = program("spectrogram")
    decibels = module.main(FIGURE, seconds=0.8)
    width = module.RATE / 256
    middles = (np.arange(decibels.shape[1]) * 64 + 128) / module.RATE
    below = decibels[: int(2500 / width)]  # the steady tones are above
    np.testing.assert_allclose(below.argmax(axis=0) * width, 200 + 1500 * middles, atol=1.5 * width)
    assert drawn()


def test_sources_are_found() -> None:
    truth, result, misfits = program("sources").main(FIGURE, size=16, steps=6, turns=60)
    assert misfits[-1] < 1e-2 * misfits[0]
    assert np.abs(result - truth).mean() < 0.05
    assert drawn()


def _developed(picture: Any) -> Any:
    sharp, edges = program("photograph").develop(xp, picture)
    return sharp[..., 0] * edges.mean()


def _heated(plate: Any) -> Any:
    plate = plate.copy()
    for _ in range(5):
        program("heat").step(plate, 0.2)
    return plate


_SPOTS = np.random.default_rng(2).uniform(0.2, 0.8, (14, 14, 3))
#: Functions of the programs, whose derivatives are looked at.
_FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "photograph": (_developed, _SPOTS),
    "heat": (_heated, _SPOTS[..., 0]),
    "sources": (lambda plate: program("sources").spread(plate, 0.1, 4), _SPOTS[..., 0]),
    "bodies": (lambda places: program("bodies").acceleration(places, places[:, 0] ** 2), _SPOTS[0]),
    "spectrogram": (lambda signal: program("spectrogram").spectrogram(signal, 16, 8), _SPOTS[0].reshape(-1)),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_programs_have_gradients(name: str, place: str) -> None:
    function, given = _FUNCTIONS[name]
    if place == "wgpu":
        given = given.astype(np.float32)
    direction = np.random.default_rng(3).standard_normal(given.shape).astype(given.dtype)
    point = xp.asarray(given)
    weights = xp.asarray(np.random.default_rng(4).standard_normal(function(point).shape).astype(given.dtype))
    slope = xp.grad(lambda x: (function(x) * weights).sum())(point)
    assert float((slope * slope).sum()) > 0
    forward = xp.jvp(lambda x: (function(x) * weights).sum(), (point,), (xp.asarray(direction),))[1]
    np.testing.assert_allclose(float((slope * xp.asarray(direction)).sum()), float(forward), rtol=1e-3)
    if place == "cpu":
        step = 1e-6
        ends = [float((function(xp.asarray(given + s * direction)) * weights).sum()) for s in (step, -step)]
        np.testing.assert_allclose(float(forward), (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-4)


def test_where_scikit_learn_reads_points_there_is_no_gradient() -> None:
    points = xp.asarray(_SPOTS[0].astype(np.float32))
    with pytest.raises(DerivativeError, match="computes with values on the host"):
        xp.grad(lambda x: program("colours").k_means(x, x[:2], 2)[0].sum())(points)


def test_filter_counts_the_beats() -> None:
    assert abs(program("filter").main(FIGURE, seconds=8.0) - 72) < 0.5
    assert drawn()


def test_flower_is_the_one_that_scipy_finds() -> None:
    expected, actual = program("flower").main(FIGURE, step=8)
    for wanted, array in zip(expected, actual, strict=True):
        assert np.mean(wanted == array) > 0.999  # a pixel on the threshold may go either way
    assert 0.1 < actual[1].mean() < 0.4
    assert drawn()
