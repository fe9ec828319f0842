"""Makes the constants and polynomials of ``gpuarray/codegen/math``: ``python -m bench.coefficients --help``."""
