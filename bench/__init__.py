"""Benchmarks of gpuarray against other array libraries: ``python -m bench --help``."""
