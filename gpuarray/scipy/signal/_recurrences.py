"""Linear recurrences in parallel, over blocks of a signal.

A filter is a state space: ``y[n] = C z[n] + D x[n]`` and ``z[n + 1] = A z[n] + B x[n]``. The samples of a block are the
response to its input from the state 0, a product with the matrix of the impulse response, and the response to the state
at the begin of the block. These states follow a recurrence of their own, over blocks, which is divided in the same way.
All matrices are computed on the host, from long integers.
"""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, log, log2, prod
from typing import Any, Final, NamedTuple

import numpy as np

import gpuarray.functions as xp
from gpuarray.array import GpuArray
from gpuarray.device import Device
from gpuarray.functions.arguments import concatenated
from gpuarray.scipy.signal._long_numbers import Matrix, floats, integers, inverse_of, power, product, triangle_of

#: Samples of a block. Work grows with it, and the number of states to compute falls.
_BLOCK: Final = 64
#: Columns of the matrix that advances the states of a group of blocks.
_GROUP_WIDTH: Final = 1024
#: The units of states are chosen by their responses of 2**_DOUBLINGS samples.
_DOUBLINGS: Final = 14


class StateSpace(NamedTuple):
    """The matrices of a filter; ``b`` and ``c`` are vectors and ``d`` is a number."""

    a: Matrix
    b: Matrix
    c: Matrix
    d: Any


def of_transfer_function(b: Matrix, a: Matrix) -> StateSpace:
    """Return the transposed direct form II, whose state is that of :func:`scipy.signal.lfilter`, for ``a[0]`` of 1."""
    order = max(len(a), len(b)) - 1
    b, a = (np.concatenate([line, np.zeros(order + 1 - len(line), line.dtype)]) for line in (b, a))
    step = np.eye(order, k=1, dtype=np.result_type(a, np.float64))
    step[:, :1] -= a[1:, None]
    return StateSpace(step, b[1:] - a[1:] * b[0], np.eye(1, order)[0], b[0])


def of_sections(sos: Matrix) -> StateSpace:
    """Return the sections of a filter in series; the state has the two numbers of each section."""
    total = StateSpace(np.zeros((0, 0)), np.zeros(0), np.zeros(0), 1.0)
    for section in sos:
        one = of_transfer_function(section[:3], section[3:])
        size, order = len(total.b), len(one.b)
        step = np.zeros((size + order,) * 2, np.result_type(total.a, one.a))
        step[:size, :size], step[size:, size:] = total.a, one.a
        step[size:, :size] = np.outer(one.b, total.c)
        total = StateSpace(
            step,
            np.concatenate([total.b, one.b * total.d]),
            np.concatenate([one.d * total.c, one.c]),
            one.d * total.d,
        )
    return total


def of_step(matrix: Matrix) -> StateSpace:
    """Return the state space of states that are multiplied by a matrix from the right, without inputs and outputs."""
    nothing = np.zeros(len(matrix))
    return StateSpace(matrix.T, nothing, nothing, 0.0)


class _Blocks(NamedTuple):
    """The matrices of a filter for blocks, which rows are multiplied by.

    Within, states are in units in which their responses are orthogonal, so that rounding errors of large states do not
    cancel in small responses.
    """

    response: Matrix
    """From the input of a block to its output."""
    observed: Matrix
    """From a state to the output of the block."""
    reached: Matrix
    """From the input of a block to the state after it."""
    advanced: Matrix
    """From a state to the state after a block."""
    into: Matrix
    """From the state of the filter to the state in these units."""


class _Exact(NamedTuple):
    """The matrices of a filter as integers, and the units of states, in which their responses are orthogonal."""

    step: Matrix
    column: Matrix
    row: Matrix
    units: Matrix
    inverse: Matrix


def _units(step: Matrix, output: Matrix) -> tuple[Matrix, Matrix]:
    """Return the matrix by which states are multiplied so that their responses are orthogonal, and its inverse."""
    gram = product(output.conj()[:, None], output[None])
    first = max(v.real for v in gram.diagonal())
    for _ in range(_DOUBLINGS):  # the responses of 1, 2, 4, ... samples
        gram = gram + product(product(step.conj().T, gram), step)
        step = product(step, step)
        if max(v.real for v in gram.diagonal()) > first << 100:
            break
    triangle = triangle_of(gram)
    if triangle is None:
        same = integers(np.eye(len(step)))
        return same, same
    return triangle, inverse_of(triangle)


def _exact(system: StateSpace) -> _Exact:
    step, column, row = map(integers, system[:3])
    return _Exact(step, column, row, *_units(step, row))


def _reached(system: _Exact, length: int) -> Matrix:
    """Return the states after each sample of a block whose last sample alone is 1, the earliest first."""
    columns = [system.column]
    for _ in range(length - 1):
        columns.append(product(system.step, columns[-1]))
    return np.asarray(columns)


def _blocks(system: _Exact, gain: Any, length: int) -> _Blocks:
    """Return the matrices of a filter for blocks of a length; ``gain`` is the share of a sample in its own output."""
    rows = [system.row]
    for _ in range(length - 1):
        rows.append(product(rows[-1], system.step))
    outputs, states = np.asarray(rows), _reached(system, length)
    impulse = np.concatenate([[gain], floats(product(states, system.row))])
    positions = np.arange(length)
    lag = positions - positions[:, None]
    return _Blocks(
        np.where(lag >= 0, impulse[np.maximum(lag, 0)], 0),
        floats(product(outputs, system.inverse).T),
        floats(product(states[::-1], system.units.T)),
        floats(product(product(system.units, power(system.step, length)), system.inverse).T),
        floats(system.units.T),
    )


def _last(system: _Exact, rest: int) -> tuple[Matrix, Matrix]:
    """Return the matrices from a state, and from the input of a block of ``rest`` samples, to the state after it.

    The state after it is that of the filter, and not in the units of the others.
    """
    return (
        floats(product(power(system.step, rest), system.inverse).T),
        floats(_reached(system, rest)[::-1]),
    )


def _group(advanced: Matrix, size: int) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return the matrices of a group of steps of the recurrence of states, ``z[k + 1] = z[k] @ advanced + c[k]``.

    They lead from the inputs c to the states and to the state after the group, and from the state before the group to
    the states and to the state after it.
    """
    order = len(advanced)
    with np.errstate(all="ignore"):
        powers = np.empty((size + 1, order, order), advanced.dtype)
        powers[0] = np.eye(order)
        for k in range(size):
            powers[k + 1] = powers[k] @ advanced
    positions = np.arange(size)
    lag = positions - positions[:, None] - 1
    inputs = np.where((lag >= 0)[..., None, None], powers[np.maximum(lag, 0)], 0)
    return (
        inputs.swapaxes(1, 2).reshape(size * order, size * order),
        powers[:size][::-1].reshape(size * order, order),
        powers[:size].swapaxes(0, 1).reshape(order, size * order),
        powers[size],
    )


def _group_size(number: int, order: int) -> int:
    """Return how many states a group has: a power of two, so that few matrices serve signals of all lengths.

    There are as few levels of groups as the width allows, and no level has wider groups than it needs.
    """
    most = max(2, _GROUP_WIDTH // order)
    levels = ceil(log(number) / log(most))
    return min(most, 1 << ceil(log2(number) / levels))


class Recurrence:
    """A filter whose matrices are on a device.

    Parameters
    ----------
    system : StateSpace
        The filter.
    dtype : dtype
        Dtype of signals and states.
    device : Device
        The device of the signals.
    """

    def __init__(self, system: StateSpace, dtype: Any, device: Device) -> None:
        self.system = system
        self.dtype = dtype
        self.device = device
        self._known: dict[Any, Any] = {}

    def _put(self, *matrices: Matrix) -> list[GpuArray]:
        return [xp.asarray(matrix.astype(self.dtype), device=self.device) for matrix in matrices]

    def _remembered(self, key: Any, compute: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def kept(self, name: str, compute: Callable[[], Matrix]) -> GpuArray:
        """Return the matrix that a function computes from the coefficients, on the device; a name is computed once."""
        return self._remembered(name, lambda: self._put(compute())[0])

    def respond(
        self, x: GpuArray, state: GpuArray | None, *, is_state_wanted: bool
    ) -> tuple[GpuArray, GpuArray | None]:
        """Return the response to signals along the last axis, of at least one sample, and the state after them.

        Parameters
        ----------
        x : GpuArray
            Of shape (..., n).
        state : GpuArray, optional
            The state before them, of shape (..., order); 0 by default.
        is_state_wanted : bool
            Whether the state after them is returned; otherwise None.
        """
        *lead, count = x.shape
        rows, order = prod(lead), len(self.system.b)
        if not order:
            return x * np.dtype(self.dtype).type(self.system.d), state
        length = min(_BLOCK, count)
        number = -(-count // length)
        rest = count - (number - 1) * length
        exact = self._remembered("exact", lambda: _exact(self.system))
        blocks = self._remembered(("blocks", length), lambda: _blocks(exact, self.system.d, length))
        put = self._remembered(("arrays", length), lambda: self._put(*blocks))
        response, observed, reached, _, into = put
        x = x.reshape(rows, count)
        # a NaN must not reach samples before it through the zeros of the matrices
        invalid = x * 0
        x = xp.where(invalid == 0, x, 0)
        lines = self._extended(x, length - rest).reshape(rows * number, length)
        start = None if state is None else state.reshape(rows, order) @ into
        states = self._states(lines @ reached, rows, start, blocks.advanced)
        result = lines @ response
        if states is not None:
            result = result + states @ observed
        result = result.reshape(rows, number * length)[:, :count] + invalid.cumsum(-1)
        result = result.reshape(*lead, count)
        if not is_state_wanted:
            return result, None
        last_advanced, last_reached = self._remembered(("last", rest), lambda: self._put(*_last(exact, rest)))
        after = x[:, count - rest :] @ last_reached + invalid.sum(-1, keepdims=True)
        if states is not None:
            after = after + states.reshape(rows, number, order)[:, -1] @ last_advanced
        return result, after.reshape(*lead, order)

    def evolve(self, added: GpuArray, start: GpuArray) -> GpuArray:
        """Return a state and the states after it, of shape (n + 1, order).

        Parameters
        ----------
        added : GpuArray
            What is added to the states, of shape (n, order).
        start : GpuArray
            The first state, of shape (1, order).
        """
        # a NaN must not reach states before it through the zeros of the matrices
        invalid = (added * 0).sum(-1, keepdims=True)
        nothing = xp.zeros((1, added.shape[1]), self.dtype, device=self.device)
        inputs = concatenated([xp.where(invalid == 0, added, 0), nothing], 0)
        result = self._states(inputs, 1, start, self.system.a.T)
        assert result is not None  # there is a first state
        return result + concatenated([nothing[:, :1], invalid.cumsum(0)], 0)

    def _extended(self, x: GpuArray, count: int) -> GpuArray:
        """Return lines with zeros behind them."""
        if not count:
            return x
        return concatenated([x, xp.zeros((x.shape[0], count), self.dtype, device=self.device)], 1)

    def _states(self, inputs: GpuArray, rows: int, start: GpuArray | None, advanced: Matrix) -> GpuArray | None:
        """Return the states before each block, by groups of blocks; None if there are only states that are 0.

        Parameters
        ----------
        inputs : GpuArray
            What blocks add to the state, of shape (rows * blocks, order).
        rows : int
            The number of signals.
        start : GpuArray or None
            The states before the first blocks, of shape (rows, order).
        advanced : ndarray
            The matrix that advances states by one block.
        """
        number, order = inputs.shape[0] // rows, inputs.shape[1]
        if number == 1:
            return start
        size = _group_size(number, order)

        def compute() -> tuple[Matrix, list[GpuArray]]:
            *matrices, following = _group(advanced, size)
            return following, self._put(*matrices)

        following, (within, after, through) = self._remembered((advanced.tobytes(), size), compute)
        groups = -(-number // size)
        missing = groups * size - number
        lines = self._extended(inputs.reshape(rows, number * order), missing * order)
        lines = lines.reshape(rows * groups, size * order)
        starts = self._states(lines @ after, rows, start, following) if groups > 1 else start
        result = lines @ within
        if starts is not None:
            result = result + starts @ through
        if missing:
            result = result.reshape(rows, groups * size * order)[:, : number * order]
        return result.reshape(rows * number, order)


@lru_cache(maxsize=32)
def _recurrence(kind: Any, coefficients: tuple[Any, ...], dtype: Any, device: Device) -> Recurrence:
    return Recurrence(kind(*(np.frombuffer(*c[:2]).reshape(c[2]) for c in coefficients)), dtype, device)


def recurrence(kind: Any, *coefficients: Matrix, dtype: Any, device: Device) -> Recurrence:
    """Return the filter that ``kind`` makes of coefficients, one of the functions above; its matrices are kept."""
    wide = [c.astype(np.complex128 if c.dtype.kind == "c" else np.float64) for c in coefficients]
    return _recurrence(kind, tuple((c.tobytes(), c.dtype, c.shape) for c in wide), dtype, device)
