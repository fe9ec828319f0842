"""The command line: writes the files, or tells whether they are current."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench.coefficients import constants, series, special, special_bessel, special_gamma, special_oscillating
from bench.coefficients.precision import DOUBLE, SINGLE

FOLDER: Final = Path(__file__).parents[2] / "gpuarray"

FILES: Final[dict[str, Callable[[], str]]] = {
    "codegen/math/constants.wgsl": constants.text,
    "codegen/math/two_over_pi.wgsl": constants.two_over_pi,
    "codegen/math/series_f32.wgsl": lambda: series.text(SINGLE),
    "codegen/math/series_f64.wgsl": lambda: series.text(DOUBLE),
    "ops/special/coefficients/general.json": special.text,
    "ops/special/coefficients/bessel.json": special_bessel.text,
    "ops/special/coefficients/gamma.json": special_gamma.text,
    "ops/special/coefficients/oscillating.json": special_oscillating.text,
}
"""The files of ``gpuarray`` that are computed, and what computes them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or with ``--check`` return 1 if one is not current."""
    parser = argparse.ArgumentParser(prog="python -m bench.coefficients", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    check = parser.parse_args(arguments).check
    status = 0
    for name, text in FILES.items():
        path, wanted = FOLDER / name, text()
        if path.read_text(encoding="utf-8") == wanted:
            continue
        if check:
            print(f"{path} is not what bench/coefficients makes", file=sys.stderr)
            status = 1
        else:
            path.write_text(wanted, encoding="utf-8")
            print(f"wrote {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
