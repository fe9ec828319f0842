"""Providers, which run steps on devices."""
