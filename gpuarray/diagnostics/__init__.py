"""Inspection of the package: explain, profile, report, calibration and the demonstration."""
