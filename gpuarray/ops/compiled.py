"""Loops over elements in C, where the package was built with a compiler."""

from typing import Final

from gpuarray import extensions

#: The extension module; None if there is none.
COMPILED: Final = extensions.load("gpuarray.ops._compiled", 1)
