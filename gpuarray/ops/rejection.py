"""Rejection for many elements at once: each element draws from its own blocks until a number is accepted."""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpuarray.immediacy import quiet
from gpuarray.ops import substreams

Array = npt.NDArray[Any]

#: The largest number of attempts of an element; each succeeds with a probability above 1/2.
ATTEMPTS: Final = 64
#: The attempts of several elements that are made at once, in about the time of a single one.
_FEW: Final = 2000
#: Numbers of attempts whose blocks serve for decisions outside the search.
DECISION: Final = 0xFFFFFFFF
NORMAL_DECISION: Final = 0x7FFFFFFF


class Draws:
    """The source of numbers of some elements: their numbers, the substream, or one for each element, and the dtype."""

    def __init__(self, numbers: Array, stream: Array, kind: np.dtype[Any]) -> None:
        self.numbers = numbers
        self.stream = stream
        self.kind = kind

    def at(self, positions: Array) -> "Draws":
        """Return the source of some of the elements."""
        return Draws(self.numbers[positions], _stream_at(self.stream, positions), self.kind)

    def uniforms(self, attempts: Any) -> tuple[Array, Array]:
        """Return two uniform numbers in (0, 1] for each element and attempt, which broadcast."""
        return substreams.pair_of_uniforms(self.numbers, attempts, self.stream, self.kind)

    def normal_and_uniform(self, attempts: Any) -> tuple[Array, Array]:
        """Return a normal number and a uniform number in (0, 1] for each element and attempt, which broadcast."""
        twice = np.multiply(attempts, 2, dtype=np.uint64)
        (first, share), (angle, _) = self.uniforms(
            np.array([twice, twice + np.uint64(1)]).reshape(2, *twice.shape or (1,))
        )
        radius = np.sqrt(self.kind.type(-2) * np.log(first))
        if self.kind == np.float64:
            return radius * substreams.cosine_of_turns(angle), share
        angle *= self.kind.type(2 * np.pi)
        return radius * np.cos(angle), share


Sampler = Callable[..., Any]


def reference_of(parameters: int, sampler: Sampler) -> Callable[..., Array]:
    """Return the reference of a sampler.

    It calls ``sampler(draws, *parameters)``. Each parameter is a line with an element for each draw, or with a single
    one for all draws.
    """

    def reference(*operands: Any, out: Array) -> Array:
        *values, numbers = [_line(value, out.shape) for value in operands[: parameters + 1]]
        if numbers.size != out.size:
            numbers = np.broadcast_to(numbers, out.size)
        lines = [value.astype(out.dtype, copy=False) for value in values]
        words = [_line(word, out.shape) for word in operands[parameters + 1 :]]
        stream = np.stack(words).astype(np.uint32, copy=False)
        stream = stream[:, 0] if stream.shape[1] == 1 else stream
        is_line = out.ndim == 1 and out.flags.c_contiguous
        quiet.run(_fill, sampler, lines, numbers, stream, line := out if is_line else np.empty(out.size, out.dtype))
        if not is_line:
            out[...] = line.reshape(out.shape)
        return out

    return reference


def _fill(sampler: Sampler, lines: list[Array], numbers: Array, stream: Array, out: Array) -> None:
    for piece in substreams.pieces(out.size):
        draws = Draws(numbers[piece], _stream_at(stream, piece), out.dtype)
        out[piece] = sampler(draws, *[taken_at(line, piece) for line in lines])


def _stream_at(stream: Array, positions: Any) -> Array:
    return stream if stream.ndim == 1 else stream[:, positions]


def _line(value: Any, shape: tuple[int, ...]) -> Array:
    """Return values along one axis: a single one, or one for each element of a shape."""
    array = np.asarray(value)
    return (array if array.size == 1 or array.shape == shape else np.broadcast_to(array, shape)).reshape(-1)


def taken_at(values: Array, positions: Any) -> Array:
    """Return the values of some elements; one that all elements share stays one."""
    return values if values.size == 1 else values[positions]


def search_accepted(draws: Draws, propose: Callable[..., tuple[Array, Array]], *parameters: Array) -> Array:
    """Return for each element the first accepted value of ``propose(draws, attempts, *parameters)``.

    Each call takes tens of calls of NumPy, so the few elements that are left make several attempts at once, along a
    first axis: about as many as it takes until one of each is accepted.
    """
    results, accepted = propose(draws, 0, *parameters)
    positions = np.flatnonzero(~accepted)
    rejected = positions.size / accepted.size
    attempt = 1
    while positions.size and attempt < ATTEMPTS:
        needed = 1 + math.ceil(math.log(positions.size) / -math.log(rejected)) if rejected < 1 else ATTEMPTS
        last = min(attempt + min(needed, 1 + _FEW // positions.size), ATTEMPTS)
        attempts = np.arange(attempt, last, dtype=np.uint64)[:, None]
        values, accepted = propose(draws.at(positions), attempts, *[taken_at(v, positions) for v in parameters])
        is_left = ~accepted.any(0)
        accepted[-1] = True  # the value of the last attempt, if none is accepted
        results[positions] = values[accepted.argmax(0), np.arange(positions.size)]
        positions = positions[is_left]
        attempt += len(attempts)
    return results


def where_valid(draws: Draws, valid: Array, sampler: Sampler, otherwise: Any, *parameters: Array) -> Array:
    """Return ``sampler(draws, *parameters)`` where parameters are valid, and ``otherwise`` elsewhere."""
    if valid.all():
        return np.asarray(sampler(draws, *parameters))
    values = np.array(np.broadcast_to(np.asarray(otherwise, draws.kind), draws.numbers.shape))
    positions = np.flatnonzero(valid)
    if positions.size:
        values[positions] = sampler(draws.at(positions), *[taken_at(v, positions) for v in parameters])
    return values


def by_choice(draws: Draws, choice: Array, first: Sampler, second: Sampler, *parameters: Array) -> Array:
    """Return the results of the first sampler where ``choice`` is true, and of the second elsewhere."""
    values = np.empty(draws.numbers.shape, draws.kind)
    for chosen, sampler in ((choice, first), (~choice, second)):
        if chosen.all():
            return np.asarray(sampler(draws, *parameters))
        positions = np.flatnonzero(chosen)
        if positions.size:
            values[positions] = sampler(draws.at(positions), *[taken_at(v, positions) for v in parameters])
    return values
