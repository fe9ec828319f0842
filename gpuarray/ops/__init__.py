"""What exists: the operation rows. Importing the package declares them all; ``spec.ROWS`` holds them by name."""

from gpuarray.ops import elementwise, generators, reductions, samplers

__all__ = ["elementwise", "generators", "reductions", "samplers"]
