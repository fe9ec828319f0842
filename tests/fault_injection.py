"""Faults: providers whose calls fail one after another, before or after they have taken effect."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: The calls of a provider that may fail.
CALLS = ("allocate", "prepare", "write", "read", "run", "synchronize", "export", "adopt")


class Fault(Exception):  # noqa: N818  # it is one
    """What the call of a provider raises."""


@contextmanager
def failing(provider: Any, number: int, *, after: bool, error: type[BaseException] = Fault) -> Iterator[list[str]]:
    """Let one call of a provider fail.

    Parameters
    ----------
    provider : Provider
        The provider.
    number : int
        Which call fails, counted from 0.
    after : bool
        Whether it takes effect before it fails.
    error : type
        What it raises.

    Yields
    ------
    list of str
        The names of the calls so far.
    """
    made: list[str] = []

    def wrapped(name: str, call: Any) -> Any:
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            made.append(name)
            if len(made) - 1 != number:
                return call(*arguments, **keywords)
            if after:
                call(*arguments, **keywords)
            raise error(f"call {number} of the device, {name}, was made to fail")

        return wrapper

    for name in CALLS:
        setattr(provider, name, wrapped(name, getattr(provider, name)))
    try:
        yield made
    finally:
        for name in CALLS:
            delattr(provider, name)
