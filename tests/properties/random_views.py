"""Random programs of views and writes through them, run side by side on NumPy arrays and on arrays of this package.

All arithmetic is exact (sums, differences, integer products, extremes), so the two sides must agree to the bit. What
NumPy refuses, this package must refuse, and nothing may have changed.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from random_selections import Selections

import gpuarray as xp
from gpuarray import dtypes

EXTENTS = (1, 2, 3, 4, 5, 6, 9)
DTYPES = dtypes.ALL
FAMILIES = (TypeError, IndexError, ValueError)
MOST_ARRAYS = 7


class Pair:
    """One array on either side, and how it came to be."""

    def __init__(self, host: np.ndarray[Any, Any], device: Any, text: str) -> None:
        self.host = host
        self.device = device
        self.text = text


class Program:
    """A random program: each :meth:`step` runs one more line on both sides."""

    def __init__(self, seed: int, device: str) -> None:
        self.random = np.random.default_rng(seed)
        self.device = device
        self.lines: list[str] = []
        self.live: list[Pair] = []
        self.number = 0
        self.current = ""
        self.selections = Selections(self.random, self._values, lambda host: xp.asarray(host, device=device))
        for _ in range(int(self.random.integers(1, 3))):
            self._new()

    # -- choices ------------------------------------------------------------------------------------------------------

    def _chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def _pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.random.integers(len(items)))]

    def _some(self) -> Pair:
        return self._pick(self.live)

    def _values(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        numbers = self.random.integers(0 if dtype.kind in "bu" else -20, 2 if dtype.kind == "b" else 20, shape)
        if dtype.kind == "f":
            return np.asarray(numbers / 2).astype(dtype)
        if dtype.kind == "c":
            return np.asarray(numbers + 1j * self.random.integers(-20, 20, shape)).astype(dtype)
        return np.asarray(numbers).astype(dtype)

    def _new(self) -> None:
        rank = int(self.random.choice([1, 2, 3], p=[0.35, 0.45, 0.2]))
        shape = tuple(self._pick(EXTENTS) for _ in range(rank))
        if self._chance(0.03):
            shape = (*shape[:-1], 0)
        host = self._values(shape, self._pick(DTYPES))
        self._keep(host, xp.asarray(host, device=self.device), f"array({host.dtype.name}, {host.tolist()})")

    def _keep(self, host: Any, device: Any, text: str) -> None:
        if not isinstance(host, np.ndarray) or host.size > 3000:
            return
        name = f"a{self.number}"
        self.number += 1
        self.lines.append(f"{name} = {text}  # {host.dtype.name}{list(host.shape)}")
        self.live.append(Pair(host, device, name))
        if len(self.live) > MOST_ARRAYS:
            self.live.pop(int(self.random.integers(len(self.live) - 1)))

    # -- steps --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Run one random line."""
        draw = self.random.random()
        if draw < 0.05:
            self._new()
        elif draw < 0.5:
            self._view()
        else:
            self._write()

    def _view(self) -> None:
        pair = self._some()
        makers = (
            self._slice, self._slice, self._slice, self._transpose, self._reshape, self._reshape, self._broadcast,
            self._part, self._copy, self._bits, self.selections.take, self.selections.take, self.selections.flat,
        )  # fmt: skip
        made = self._pick(makers)(pair.host)
        if made is None:
            return
        text, run = made
        results = self._both(f"{pair.text}{text}", run, pair)
        if results is not None:
            self._keep(*results, f"{pair.text}{text}")

    def _both(self, text: str, run: Callable[..., Any], *pairs: Pair) -> tuple[Any, Any] | None:
        """Run one operation on both sides; None if both refuse."""
        self.current = text
        try:
            host = run(*(p.host for p in pairs))
        except FAMILIES as error:
            self.lines.append(f"{text}  # raises {type(error).__name__}")
            try:
                run(*(p.device for p in pairs))
            except FAMILIES:
                # of several reasons to refuse, either side may name any
                return None
            raise AssertionError(f"NumPy raised {error!r}, and here was no error") from None
        return host, run(*(p.device for p in pairs))

    def _key(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        key: list[Any] = []
        for extent in shape:
            draw = self.random.random()
            if draw < 0.12 and extent:
                key.append(int(self.random.integers(-extent, extent)))
            elif draw < 0.7:
                ends = [None if self._chance(0.5) else int(self.random.integers(-extent - 1, extent + 2)) for _ in "ab"]
                key.append(slice(*ends, self._pick((None, 1, 2, -1, -2, 3))))
            else:
                key.append(slice(None))
            if self._chance(0.05):
                key.append(None)
        if key and self._chance(0.2):
            key[-1:] = [Ellipsis]
        return tuple(key)

    def _slice(self, host: np.ndarray[Any, Any]) -> Any:
        key = self._key(host.shape)
        return f"[{key}]", lambda x: x[key]

    def _transpose(self, host: np.ndarray[Any, Any]) -> Any:
        if host.ndim > 1 and self._chance(0.3):
            first, second = self.random.permutation(host.ndim)[:2].tolist()
            return f".swapaxes({first}, {second})", lambda x: x.swapaxes(first, second)
        order = self.random.permutation(host.ndim).tolist()
        return f".transpose({order})", lambda x: x.transpose(order)

    def _reshape(self, host: np.ndarray[Any, Any]) -> Any:
        if self._chance(0.2):
            return ".ravel()", lambda x: x.ravel()
        if self._chance(0.15):
            return ".squeeze()", lambda x: x.squeeze()
        size = host.size
        divisors = [d for d in range(1, size + 1) if size % d == 0] or [1]
        first = self._pick(divisors)
        second = self._pick([d for d in divisors if size // first % d == 0])
        shape = self._pick([(size,), (first, size // first), (first, second, size // first // second), (1, size, 1)])
        return f".reshape({shape})", lambda x: x.reshape(shape)

    def _broadcast(self, host: np.ndarray[Any, Any]) -> Any:
        shape = tuple(self._pick((2, 3)) if n == 1 else n for n in host.shape)
        shape = (2, *shape) if self._chance(0.5) else shape
        return f" broadcast to {shape}", lambda x: np.broadcast_to(x, shape)

    def _part(self, host: np.ndarray[Any, Any]) -> Any:
        if host.dtype.kind == "c":
            return self._pick([(".real", lambda x: x.real), (".imag", lambda x: x.imag)])
        if host.ndim < 2:
            return None
        offset = int(self.random.integers(-1, 2))
        return f".diagonal({offset})", lambda x: x.diagonal(offset)

    def _copy(self, host: np.ndarray[Any, Any]) -> Any:
        return ".copy()", lambda x: x.copy()

    def _bits(self, host: np.ndarray[Any, Any]) -> Any:
        # not floats as integers, since of NaN arithmetic keeps no bits that one could compare
        other = {"uint8": "int8", "int16": "uint16", "int32": "uint32", "uint64": "int64"}.get(host.dtype.name)
        return None if other is None else (f".view({other})", lambda x: x.view(other))

    # -- writes -------------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        makers = (
            self._augment, self._augment, self._assign, self._assign, self._overlap, self._overlap, self._mask,
            self._integers, self._out, self._fill, self._protect,
            self._select, self._select, self._select, self._select,
        )  # fmt: skip
        made = self._pick(makers)(self._some())
        if made is not None:
            text, run, pairs = made
            if self._both(text, run, *pairs) is not None:
                self.lines.append(text)

    def _operand(self, shape: tuple[int, ...], dtype: Any) -> tuple[str, Any]:
        """Return some other value for arrays of ``shape``: a live array that broadcasts, or a scalar."""
        fitting = [p for p in self.live if _broadcasts(p.host.shape, shape)]
        if fitting and self._chance(0.65):
            pair = self._pick(fitting)
            return pair.text, pair
        scalar: Any = True if dtype.kind == "b" else self._pick((1, 2, 3))
        return repr(scalar), scalar

    def _function(self, dtype: Any) -> np.ufunc:
        exact = {
            "b": (np.logical_or, np.logical_and, np.maximum),
            "c": (np.add, np.subtract),
            "f": (np.add, np.subtract),
        }
        return self._pick(exact.get(dtype.kind, (np.add, np.subtract, np.multiply, np.maximum)))

    def _augment(self, pair: Pair) -> Any:
        function = self._function(pair.host.dtype)
        text, operand = self._operand(pair.host.shape, pair.host.dtype)
        symbol = {np.add: "+=", np.subtract: "-=", np.multiply: "*="}.get(function)
        if symbol is None:
            return None

        def run(target: Any, other: Any = operand) -> None:
            if function is np.add:
                target += other
            elif function is np.subtract:
                target -= other
            else:
                target *= other

        return f"{pair.text} {symbol} {text}", run, (pair, operand) if isinstance(operand, Pair) else (pair,)

    def _assign(self, pair: Pair) -> Any:
        key = self._key(pair.host.shape)
        text, operand = self._operand(np.shape(pair.host[key]), pair.host.dtype)

        def run(target: Any, other: Any = operand) -> None:
            target[key] = other

        return f"{pair.text}[{key}] = {text}", run, (pair, operand) if isinstance(operand, Pair) else (pair,)

    def _overlap(self, pair: Pair) -> Any:
        """Write a part of an array to another part of it that may overlap."""
        if not pair.host.ndim:
            return None
        axis = int(self.random.integers(pair.host.ndim))
        extent = pair.host.shape[axis]
        shift = int(self.random.integers(0, min(extent, 3) + 1))
        lead = (slice(None),) * axis
        front, back = (*lead, slice(0, extent - shift)), (*lead, slice(shift, extent))
        source = (*lead, slice(None, None, -1))
        add = self._chance(0.5) and pair.host.dtype.kind != "b"
        forward = self._chance(0.5)

        def run(x: Any) -> None:
            target, value = (x[back], x[front]) if forward else (x[front], x[back][source])
            if add:
                target += value
            else:
                target[...] = value

        return f"{pair.text}: shift {shift} axis {axis} forward={forward} add={add}", run, (pair,)

    def _mask(self, pair: Pair) -> Any:
        if not pair.host.ndim:
            return None
        rank = int(self.random.integers(1, pair.host.ndim + 1))
        mask = self.random.random(pair.host.shape[:rank]) < 0.4
        own = self._chance(0.4)
        scalar: Any = True if pair.host.dtype.kind == "b" else self._pick((0, 1, 5))
        turned = own and self._chance(0.5)
        listed = self._chance(0.3) and not own and rank == pair.host.ndim
        values = self._values((int(mask.sum()),), pair.host.dtype) if listed else scalar

        def run(x: Any) -> None:
            if own and pair.host.dtype.kind != "c":
                x[x > 0] = x[x > 0][::-1] if turned else values
            else:
                x[mask] = values

        written = "itself turned round" if turned else values
        return f"{pair.text}[{'> 0' if own else mask.tolist()}] = {written}", run, (pair,)

    def _integers(self, pair: Pair) -> Any:
        host = pair.host
        if not host.ndim or not host.shape[0]:
            return None
        count = int(self.random.integers(1, 8))
        indices = self.random.integers(-host.shape[0], host.shape[0], count)
        key: Any = indices
        if host.ndim > 1 and host.shape[1] and self._chance(0.4):
            key = (indices, self.random.integers(-host.shape[1], host.shape[1], count))
        elif host.ndim > 1 and self._chance(0.4):
            key = (indices, *self._key(host.shape[1:2]))
        values = self._values(host[key].shape, host.dtype)
        add = self._chance(0.3) and host.dtype.kind != "b"

        def run(x: Any) -> None:
            if add:
                x[key] += values
            else:
                x[key] = values

        return f"{pair.text}[{key}] {'+=' if add else '='} {values.tolist()}", run, (pair,)

    def _out(self, pair: Pair) -> Any:
        function = self._function(pair.host.dtype)
        text, operand = self._operand(pair.host.shape, pair.host.dtype)
        first = self._pick([p for p in self.live if _broadcasts(p.host.shape, pair.host.shape)])

        def run(target: Any, value: Any, other: Any = operand) -> None:
            function(value, other, out=target)

        pairs = (pair, first, operand) if isinstance(operand, Pair) else (pair, first)
        return f"{function.__name__}({first.text}, {text}, out={pair.text})", run, pairs

    def _fill(self, pair: Pair) -> Any:
        scalar: Any = True if pair.host.dtype.kind == "b" else self._pick((0, 1, 7))
        return f"{pair.text}.fill({scalar})", lambda x: x.fill(scalar), (pair,)

    def _select(self, pair: Pair) -> Any:
        maker = self._pick((self.selections.write, self.selections.at, self.selections.function))
        made = maker(pair.host)
        return made and (f"{pair.text}{made[0]}", made[1], (pair,))

    def _protect(self, pair: Pair) -> Any:
        if not pair.host.flags.owndata:
            return None  # whether a view can be written to depends on its base
        allowed = self._chance(0.7)
        return f"{pair.text}.setflags(write={allowed})", lambda x: x.setflags(write=allowed), (pair,)

    # -- comparison ---------------------------------------------------------------------------------------------------

    def check(self, what: str) -> None:
        """Compare all arrays of both sides."""
        xp.evaluate(*(p.device for p in self.live))
        for pair in self.live:
            actual = np.asarray(pair.device)
            same = actual.shape == pair.host.shape and actual.dtype == pair.host.dtype
            same = same and pair.device.flags.writeable == pair.host.flags.writeable
            if not same or not np.array_equal(actual, pair.host, equal_nan=pair.host.dtype.kind in "fc"):
                program = "\n".join(self.lines)
                raise AssertionError(
                    f"{what}: {pair.text} differs after\n{program}\n"
                    f"here:\n{actual!r} writeable={pair.device.flags.writeable}"
                    f"\nNumPy:\n{pair.host!r} writeable={pair.host.flags.writeable}"
                )


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False
