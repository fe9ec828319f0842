"""The operations. Importing the package declares all but the special functions; ``spec.OPS`` has them by name.

:mod:`gpuarray.ops.special` is imported when a special function is first used; ``spec.op_named`` does so.
"""

from gpuarray.ops import elementwise, generators, reductions, samplers

__all__ = ["elementwise", "generators", "reductions", "samplers"]
