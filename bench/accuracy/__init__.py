"""Measure the errors of mathematical functions against exact values: ``python -m bench.accuracy --help``."""
