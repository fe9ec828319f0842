"""The demonstration: process a photograph with the same functions on NumPy and SciPy, and on this package.

The functions are in :mod:`gpuarray.diagnostics.pictures`. This module finds the photograph, runs them under both
namespaces, compares the results and the times, and prints what ran on the device.
"""

import argparse
import importlib.util
import re
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from gpuarray.device import Device
from gpuarray.diagnostics import pictures
from gpuarray.errors import GpuArrayError
from gpuarray.providers import registry

Levels = npt.NDArray[np.uint8]

SIZES = {"hd": (1920, 1080), "4k": (3840, 2160), "8k": (7680, 4320)}
INSTALL = "pip install pillow scikit-learn"
REPEATS = 5


class DemoError(Exception):
    """The demonstration cannot run. The message gives the reason and a remedy."""


@dataclass(frozen=True)
class Outcome:
    """The named results of one run: device or NumPy arrays."""

    picture: Any
    levels: Any
    tones: Any
    error: Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m gpuarray demo``."""
    parser.add_argument("--device", default="auto", help="auto (the default), cpu, wgpu or wgpu:N")
    parser.add_argument(
        "--out", type=Path, default=Path("demo-output"), metavar="DIR", help="output directory for the pictures"
    )
    parser.add_argument(
        "--size",
        type=_size,
        default="4k",
        help=f"size of the picture: {', '.join(SIZES)}, or WIDTHxHEIGHT; 4k by default",
    )
    parser.add_argument(
        "--image", type=Path, metavar="FILE", help="the photograph; scikit-learn's china.jpg by default"
    )
    parser.add_argument("--plan", action="store_true", help="print the plan of the picture too")


def main(arguments: argparse.Namespace, xp: ModuleType) -> int:
    """Run the demonstration with ``xp``, this package's public namespace, and return the exit status."""
    try:
        levels = photograph(arguments.image, arguments.size)
        arguments.out.mkdir(parents=True, exist_ok=True)
        registry.open_device(Device(arguments.device))
        with xp.using(device=arguments.device):
            run(xp, levels, arguments.out, with_plan=arguments.plan)
    except (DemoError, GpuArrayError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


def run(xp: ModuleType, levels: Levels, out: Path, *, with_plan: bool = False) -> None:
    """Run the job on NumPy and on ``xp``, write the pictures to ``out``, and print what came out."""
    _, height, width = levels.shape
    print(f"A photograph of {width} x {height} pixels, through normalise, gamma, unsharp mask and vignette;")
    print("from the result the histogram of its tones and the mean squared error against the original")

    expected, numpy_seconds = _repeated(np, levels)
    xp.reset_stats()
    _, cold_seconds = _timed(xp, levels)
    compiles = xp.stats()["compiles"]
    actual, warm_seconds = _repeated(xp, levels)
    counted = xp.stats()

    _section("Device")
    _line("in use", _device(actual.picture.device))
    _section("Time, from NumPy array to NumPy array")
    _line("NumPy", f"{numpy_seconds * 1e3:10,.1f} ms   the median of {REPEATS} runs")
    _line("gpuarray, first time", f"{cold_seconds * 1e3:10,.1f} ms   plans and compiles")
    _line("gpuarray, again", f"{warm_seconds * 1e3:10,.1f} ms   the median of {REPEATS} runs")
    _line("NumPy / gpuarray", f"{numpy_seconds / warm_seconds:10,.1f}")
    _section("Agreement with NumPy, largest difference")
    for what, difference in _differences(expected, actual):
        _line(what, difference)
    _section("Work of one run")
    _line("operations recorded", f"{counted['operations']:10,}")
    _line("kernels launched", f"{counted['launches']:10,}")
    _line("kernels compiled", f"{compiles:10,}      the first time; {counted['compiles']} afterwards")
    _line("steps run on the host", f"{counted['fallbacks']:10,}      although the device is another")
    _line("bytes to the device", f"{counted['bytes_uploaded']:14,}")
    _line("bytes from the device", f"{counted['bytes_downloaded']:14,}")
    if with_plan:
        _section("Plan of the picture: explain(picture)")
        picture = pictures.develop(xp, _ndimage(xp), pictures.from_levels(xp, xp.asarray(levels)))
        print(indent(str(xp.explain(picture, stage="plan")), "  "))

    _save(out / "before.png", levels.transpose(1, 2, 0))
    _save(out / "after.png", actual.levels)
    print(f"\nWrote {out / 'before.png'} and {out / 'after.png'}")


def job(xp: Any, levels: Any) -> Outcome:
    """Return the results of the demonstration, computed with the namespace ``xp``."""
    before = pictures.from_levels(xp, levels)
    after = pictures.develop(xp, _ndimage(xp), before)
    return Outcome(
        picture=after,
        levels=pictures.to_levels(xp, after),
        tones=pictures.tones(xp, after),
        error=pictures.mean_squared_error(xp, before, after),
    )


def _ndimage(xp: Any) -> Any:
    """Return the filters of images that go with a namespace.

    Raises
    ------
    DemoError
        If SciPy is missing.
    """
    try:
        import scipy.ndimage
    except ImportError:
        raise DemoError(f"SciPy is needed for its filters, and is not installed; {INSTALL}") from None
    return scipy.ndimage if xp is np else xp.scipy.ndimage


def _timed(xp: Any, levels: Levels) -> tuple[Outcome, float]:
    """Return the outcome, its three results as NumPy arrays, and the seconds from NumPy array to NumPy arrays."""
    start = time.perf_counter()
    outcome = job(xp, xp.asarray(levels))
    if xp is not np:
        xp.evaluate(outcome.levels, outcome.tones, outcome.error)  # together, so that what they share runs once
    results = [np.asarray(result) for result in (outcome.levels, outcome.tones, outcome.error)]
    elapsed = time.perf_counter() - start
    return Outcome(outcome.picture, *results), elapsed


def _repeated(xp: Any, levels: Levels) -> tuple[Outcome, float]:
    """Return the outcome of the last of several runs, whose counters are kept, and the median of their seconds."""
    times = []
    for _ in range(REPEATS):
        if xp is not np:
            xp.reset_stats()
        outcome, seconds = _timed(xp, levels)
        times.append(seconds)
    return outcome, statistics.median(times)


def _differences(expected: Outcome, actual: Outcome) -> list[tuple[str, str]]:
    """Return the names of what is compared, and how much the two outcomes differ."""
    picture = np.max(np.abs(expected.picture - np.asarray(actual.picture)))
    apart = np.abs(expected.levels.astype(np.int16) - actual.levels)
    moved = int(np.sum(np.abs(expected.tones - actual.tones))) // 2
    error = abs(float(expected.error) - float(actual.error)) / float(expected.error)
    return [
        ("picture, 0 to 1", f"{picture:.2g}"),
        ("levels, 0 to 255", f"{np.max(apart)} ({np.count_nonzero(apart):,} of {apart.size:,} differ)"),
        ("tones", f"{moved:,} of {int(np.sum(expected.tones)):,} pixels counted in another bin"),
        ("mean squared error", f"{error:.2g} of its value, {float(expected.error):.6f}"),
    ]


def photograph(image: Path | None, size: tuple[int, int]) -> Levels:
    """Return a photograph as levels of shape (3, height, width).

    Raises
    ------
    DemoError
        If pillow or the photograph is missing.
    """
    try:
        from PIL import Image
    except ImportError:
        raise DemoError(f"pillow is needed to read and write pictures, and is not installed; {INSTALL}") from None
    with Image.open(image or _sample()) as opened:
        resized = opened.convert("RGB").resize(size, Image.Resampling.BICUBIC)
    return np.ascontiguousarray(np.asarray(resized).transpose(2, 0, 1))


def _sample() -> Path:
    """Return the path of scikit-learn's sample photograph, without importing scikit-learn."""
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        raise DemoError(
            f"the photograph is part of scikit-learn, which is not installed; {INSTALL}, or give --image FILE"
        )
    return Path(package.origin).parent / "datasets" / "images" / "china.jpg"


def _save(path: Path, levels: Levels) -> None:
    from PIL import Image

    Image.fromarray(levels).save(path, compress_level=1)


def _size(text: str) -> tuple[int, int]:
    """Parse an argument to a width and a height."""
    if text.lower() in SIZES:
        return SIZES[text.lower()]
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if match is None or min(int(side) for side in match.groups()) < 3:
        raise argparse.ArgumentTypeError(f"{text!r}; use one of {', '.join(SIZES)} and WIDTHxHEIGHT such as 1280x720")
    return int(match[1]), int(match[2])


def _device(device: Device) -> str:
    """Resolve ``device``: return the provider's device, its adapter, and the reason for the choice."""
    chosen, reason = registry.resolution() if device == "auto" else (device, "asked for")
    return f"{chosen}, {registry.open_device(chosen).capabilities.adapter} ({reason})"


def _section(title: str) -> None:
    print(f"\n{title}")


def _line(name: str, value: str) -> None:
    print(f"  {name:24}{value}")
