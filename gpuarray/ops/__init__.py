"""The operation rows. Importing the package declares all but the special functions; ``spec.ROWS`` holds them by name.

:mod:`gpuarray.ops.special` is imported when a special function is first used; ``spec.row_named`` does so.
"""

from gpuarray.ops import elementwise, generators, reductions, samplers

__all__ = ["elementwise", "generators", "reductions", "samplers"]
