"""The package's names against the registry of NumPy's functions: each is implemented once, under all of its names."""

import numpy as np

import gpuarray as xp
from gpuarray import functions
from gpuarray.functions import registry

#: Functions of which NumPy's own name needs other arguments than the package's.
ADAPTED = {
    "clip": "NumPy wants both ends by position",
    "isin": "NumPy gives Python scalars a dtype of their own, the standard does not",
}
#: Functions that NumPy itself has no more, or that later versions of it lack.
REMOVED = {"trapz", "in1d"}


def test_every_function_of_numpy_is_the_package_s_of_that_name():
    for name, implementation in registry.IMPLEMENTATIONS.items():
        if "." in name or name in REMOVED or implementation.function is None:
            continue
        assert name in xp.__all__, name
        assert (getattr(xp, name) is implementation.function) != (name in ADAPTED), name


def test_every_name_that_numpy_overrides_is_registered():
    for name in xp.__all__:
        function = getattr(np, name, None)
        if hasattr(function, "_implementation"):  # NumPy's mark of functions that arrays can override
            assert registry.name_of(function) in registry.table(), name


def test_modules_name_each_function_once():
    assert len(functions.__all__) == len(set(functions.__all__))
    assert set(functions.__all__) <= set(xp.__all__)
    for name in functions.__all__:
        assert getattr(xp, name) is getattr(functions, name)
