"""Finalizers without Python code.

Python runs signal handlers at the beginning of its functions, finalizers among them, and ignores what is raised there:
an interrupt that came while a buffer was dropped had no effect. Hence what happens at the end of an object is a call of
a function that is written in C, by an object that is.
"""

from functools import partial


class AtEnd(partial[object]):
    """A function and its arguments, which it is called with when this object is dropped.

    Examples
    --------
    >>> ended = []
    >>> held = AtEnd(ended.append, 1)
    >>> del held
    >>> ended
    [1]
    """

    __slots__ = ()
    __del__ = partial.__call__
