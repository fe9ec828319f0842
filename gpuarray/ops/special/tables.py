"""Constants and polynomial coefficients of the special functions, read from ``coefficients/*.json``.

Each constant and polynomial is an attribute of this module under its name in those files. A constant is a number in
single and in double precision; ``NAME_LOW`` is what the rounding of ``NAME`` lost. A polynomial is a minimax
approximation: coefficients in both precisions, lowest power first, the rounding error of the lowest coefficient
where it matters (``lost``), and the largest relative error in units of the last place (``error_ulp``).
``python -m bench.coefficients`` computes the files with mpmath.
"""

import json
from importlib import resources
from typing import Any, Final

from gpuarray.ops.formula import Polynomial
from gpuarray.ops.vocabulary import constant

_FILES: Final = ("general", "bessel", "gamma", "oscillating")


def _read(name: str) -> dict[str, Any]:
    """Return the constants, words and polynomials of one file by name."""
    text = (resources.files(__package__) / "coefficients" / f"{name}.json").read_text(encoding="utf-8")
    data = json.loads(text)
    entries: dict[str, Any] = {key: constant(single, double) for key, (single, double) in data["constants"].items()}
    entries |= {key: tuple(int(word, 16) for word in words) for key, words in data.get("words", {}).items()}
    for key, row in data["polynomials"].items():
        single, double = (tuple(row[precision]) for precision in ("single", "double"))
        entries[key] = Polynomial(key, row["approximates"], single, double, *row["lost"])
    return entries


_ENTRIES: Final = {key: entry for name in _FILES for key, entry in _read(name).items()}


def __getattr__(name: str) -> Any:
    if name not in _ENTRIES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _ENTRIES[name]
