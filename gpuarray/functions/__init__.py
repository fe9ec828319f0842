"""The functions of the package, each in the module of its topic, with NumPy's signature and the standard's names."""
