"""Steps of random programs that select by arrays: advanced keys, read and written, and NumPy's functions that write.

Each maker returns what :class:`random_views.Program` runs on both sides: a text, and a function of one array.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Step = tuple[str, Callable[[Any], Any]]


class Selections:
    """Makes steps from random numbers; ``values`` makes arrays of a shape and dtype."""

    def __init__(self, random: np.random.Generator, values: Callable[..., np.ndarray[Any, Any]], put: Any) -> None:
        self.random = random
        self.values = values
        self.put = put
        """Turns a NumPy array into one of this package, for the side that is not NumPy's."""

    def _chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def _pick(self, items: Sequence[Any]) -> Any:
        return items[int(self.random.integers(len(items)))]

    # -- keys ---------------------------------------------------------------------------------------------------------

    def key(self, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """Return an advanced key: integer arrays that broadcast, masks, integers, slices, None and an ellipsis."""
        common = self._pick([(3,), (4,), (2, 3), (1,), (), (0,)] if self._chance(0.2) else [(3,), (4,), (2, 3)])
        key: list[Any] = []
        axis = 0
        while axis < len(shape):
            extent = shape[axis]
            draw = self.random.random()
            if draw < 0.4 and extent:
                key.append(self._positions(common, extent))
            elif draw < 0.5 and axis + 1 < len(shape) and self._chance(0.5):
                key.append(self.random.random(shape[axis : axis + 2]) < 0.4)
                axis += 1
            elif draw < 0.58:
                key.append(self.random.random(extent) < 0.5)
            elif draw < 0.68 and extent:
                key.append(int(self.random.integers(-extent, extent)))
            else:
                ends = [None if self._chance(0.5) else int(self.random.integers(-extent - 1, extent + 2)) for _ in "ab"]
                key.append(slice(*ends, self._pick((None, 1, 2, -1, -2))))
            axis += 1
            if self._chance(0.08):
                key.append(None)
        if key and self._chance(0.2):
            key[int(self.random.integers(len(key))) :] = [Ellipsis]
        return tuple(key)

    def _positions(self, common: tuple[int, ...], extent: int) -> Any:
        shape = tuple(n if self._chance(0.8) else 1 for n in common)
        result = self.random.integers(-extent, extent, shape)
        if self._chance(0.04):
            result = result + extent  # may be out of range
        if self._chance(0.2):
            result = result.astype(np.int32)
        return result.tolist() if self._chance(0.15) and result.ndim == 1 else result

    def _for(self, x: Any, value: Any) -> Any:
        """Return keys and values for the side that ``x`` is on."""
        if isinstance(x, np.ndarray):
            return value
        if isinstance(value, tuple):
            return tuple(self._for(x, v) for v in value)
        return self.put(value) if isinstance(value, np.ndarray) and self._given_here(value) else value

    def _given_here(self, value: np.ndarray[Any, Any]) -> bool:
        """Whether an array is given as one of this package: the same arrays each time that a program runs."""
        return bool(value.size % 2)

    # -- reading ------------------------------------------------------------------------------------------------------

    def take(self, host: np.ndarray[Any, Any]) -> Step:
        """Read by an advanced key; copied, because what NumPy selects may lie in memory in another order than C's."""
        key = self.key(host.shape)
        return f"[{key!r}].copy()", lambda x: x[self._for(x, key)].copy()

    def flat(self, host: np.ndarray[Any, Any]) -> Step:
        """Read through the flat iterator."""
        key = self._flat_key(host.size)
        return f".flat[{key!r}]", lambda x: x.flat[key]

    def _flat_key(self, size: int) -> Any:
        if size and self._chance(0.4):
            return self.random.integers(-size, size, 5)
        return slice(int(self.random.integers(0, size + 1)), None, self._pick((None, 2, 3, -1)))

    # -- writing ------------------------------------------------------------------------------------------------------

    def _right(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a value for a selection: a scalar, or an array that broadcasts to it, of this dtype or another."""
        if self._chance(0.3):
            return True if dtype.kind == "b" else self._pick((0, 1, 7))
        kind = dtype if self._chance(0.6) else self._pick([np.dtype(k) for k in ("int8", "int32", "float32", "bool")])
        expected = tuple(n if self._chance(0.8) else 1 for n in shape)
        return self.values(
            expected[int(self.random.integers(0, len(shape) + 1)) :] if self._chance(0.2) else expected, kind
        )

    def write(self, host: np.ndarray[Any, Any]) -> Step:
        """Write, or add, at an advanced key."""
        key = self.key(host.shape)
        value = self._right(_selected(host, key), host.dtype)
        add = self._chance(0.3) and host.dtype.kind != "b"

        def run(x: Any) -> None:
            here, right = self._for(x, key), self._for(x, value)
            if add:
                x[here] += right
            else:
                x[here] = right

        return f"[{key!r}] {'+=' if add else '='} {value!r}", run

    def at(self, host: np.ndarray[Any, Any]) -> Step | None:
        """Apply a ufunc at a key, as often as each position occurs.

        NumPy itself writes to read-only arrays for some keys, and takes only some of values that have to be broadcast.
        """
        if not host.flags.writeable:
            return None
        exact = {"b": (np.logical_or, np.logical_xor), "c": (np.add, np.subtract), "f": (np.add, np.maximum)}
        function = self._pick(
            exact.get(host.dtype.kind, (np.add, np.subtract, np.multiply, np.minimum, np.bitwise_xor))
        )
        key = self.key(host.shape)
        value: Any = self._right(_selected(host, key), host.dtype)
        if host.dtype.kind in "iu" and np.result_type(host, value).kind not in "iu":
            value = np.asarray(value).astype(host.dtype)  # floats out of an integer's range have no value there
        if np.ndim(value):
            value = np.array(np.broadcast_to(value, _selected(host, key)))
        if self._chance(0.1) and host.dtype.kind not in "bc":
            return f": negative.at {key!r}", lambda x: np.negative.at(x, self._for(x, key))
        text = f": {function.__name__}.at {key!r} {value!r}"
        return text, lambda x: function.at(x, self._for(x, key), self._for(x, value))

    def function(self, host: np.ndarray[Any, Any]) -> Step:
        """Write with one of NumPy's functions."""
        makers = [self._copyto, self._put, self._place, self._putmask, self._along, self._diagonal, self._flat_write]
        return self._pick(makers)(host)

    def _copyto(self, host: np.ndarray[Any, Any]) -> Step:
        value = self._right(host.shape, host.dtype)
        where = self.random.random(host.shape[int(self.random.integers(0, host.ndim + 1)) :]) < 0.5
        casting = self._pick(("same_kind", "same_kind", "unsafe", "safe", "no"))
        mask: Any = True if self._chance(0.3) else np.asarray(where)
        text = f": copyto {value!r} where {mask!r} {casting}"
        return text, lambda x: np.copyto(x, self._for(x, value), casting=casting, where=self._for(x, mask))

    def _put(self, host: np.ndarray[Any, Any]) -> Step:
        size = max(host.size, 1)
        places = self.random.integers(-size, size, int(self.random.integers(0, 7)))
        mode = self._pick(("raise", "wrap", "clip"))
        if mode != "raise":
            places = places * 2
        values = self.values((int(self.random.integers(1, 5)),), host.dtype)
        return f": put {places} {values} {mode}", lambda x: np.put(x, self._for(x, places), values, mode=mode)

    def _place(self, host: np.ndarray[Any, Any]) -> Step:
        mask = np.asarray(self.random.random(host.shape) < 0.4)
        values = self.values((int(self.random.integers(1, 5)),), host.dtype)
        return f": place {mask!r} {values}", lambda x: np.place(x, self._for(x, mask), self._for(x, values))

    def _putmask(self, host: np.ndarray[Any, Any]) -> Step:
        mask = np.asarray(self.random.random(host.shape) < 0.4)
        values = self.values((int(self.random.integers(1, 5)),), host.dtype)
        return f": putmask {mask!r} {values}", lambda x: np.putmask(x, self._for(x, mask), self._for(x, values))

    def _along(self, host: np.ndarray[Any, Any]) -> Step:
        axis = int(self.random.integers(host.ndim)) if host.ndim else 0
        shape = list(host.shape) or [1]
        extent = max(shape[axis], 1)
        shape[axis] = int(self.random.integers(1, 4))
        places = self.random.integers(-extent, extent, shape)
        values = self.values(tuple(shape), host.dtype)
        return f": put_along_axis {places!r} {values!r} {axis}", lambda x: np.put_along_axis(
            x, self._for(x, places), self._for(x, values), axis
        )

    def _diagonal(self, host: np.ndarray[Any, Any]) -> Step:
        value: Any = self.values((int(self.random.integers(1, 4)),), host.dtype)
        wrap = self._chance(0.3)
        return f": fill_diagonal {value} {wrap}", lambda x: np.fill_diagonal(x, self._for(x, value), wrap)

    def _flat_write(self, host: np.ndarray[Any, Any]) -> Step:
        key = self._flat_key(host.size)
        value: Any = self.values((int(self.random.integers(1, 5)),), host.dtype)

        def run(x: Any) -> None:
            x.flat[key] = self._for(x, value)

        return f".flat[{key!r}] = {value}", run


def _selected(host: np.ndarray[Any, Any], key: Any) -> tuple[int, ...]:
    """Return the shape of a selection; that of nothing where the key is wrong."""
    try:
        return np.shape(host[key])
    except IndexError:
        return ()
