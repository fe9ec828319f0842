"""Loops over elements in C, where the package was built with a compiler."""

from typing import Final

from gpuarray import extensions

# The numbers are versions of what the modules and this package ask of each other, which the sources in C state too.
#: The extension module of random numbers and orders; None if there is none.
COMPILED: Final = extensions.load("gpuarray.ops._compiled", 1)
#: The extension module of chains of elementwise operations; None if there is none.
CHAINS: Final = extensions.load("gpuarray.ops._chains", 2)
