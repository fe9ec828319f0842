"""A benchmark of whole programs beside NumPy: ``python -m bench.programs --help``."""

from bench.programs import data, grids, linear_algebra, time_series, transforms
from bench.programs.base import PROGRAMS, SIZES, Program

__all__ = ["PROGRAMS", "SIZES", "Program", "data", "grids", "linear_algebra", "time_series", "transforms"]
