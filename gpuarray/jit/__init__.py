""":func:`jit`: functions that are recorded once for each signature of a call, and then run from the recording.

:mod:`.signature` splits a call into its signature and its values. :mod:`.trace` records what a function does to arrays,
numbers and random generators. :mod:`.guards` finds the variables around a function that a recording depends on.
:mod:`.recording` is a recorded function, :mod:`.segment` one of its evaluations, and :mod:`.function` keeps recordings.
"""

from gpuarray.jit.function import jit

__all__ = ["jit"]
