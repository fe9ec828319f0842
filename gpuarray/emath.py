"""Functions that return complex numbers beyond their real domain, as :mod:`numpy.emath`."""

from gpuarray.functions.scimath import arccos, arcsin, arctanh, log, log2, log10, logn, power, sqrt

__all__ = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]
