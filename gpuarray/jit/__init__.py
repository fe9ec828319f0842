"""Functions that are recorded once for each signature, and then replayed: :func:`jit`.

:mod:`signature` takes calls apart, :mod:`trace` is what arrays, numbers and random generators tell while a function is
recorded, :mod:`guards` looks at the variables around it, :mod:`recording` is the result, and :mod:`function`
keeps it.
"""

from gpuarray.jit.function import jit

__all__ = ["jit"]
