"""How exact the elementary functions are, against exact values: ``python -m bench.accuracy --help``."""
