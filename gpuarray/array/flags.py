"""The memory layout flags of arrays, as in NumPy."""

from typing import Any, ClassVar

from gpuarray.graph.layouts import permute


class Flags:
    """Memory layout flags with NumPy's names, as attributes and items."""

    __slots__ = ("_array", "_contiguous")

    #: NumPy's names of items, and the attributes that they stand for.
    _SHORT: ClassVar = {"C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned"} | {
        "X": "writebackifcopy",
        "B": "behaved",
        "CA": "carray",
        "FA": "farray",
        "CONTIGUOUS": "c_contiguous",
        "FORTRAN": "f_contiguous",
    }
    #: The flags that ``repr`` shows and that are compared, with NumPy's bits.
    _BITS: ClassVar = {
        "c_contiguous": 0x1, "f_contiguous": 0x2, "owndata": 0x4, "writeable": 0x400, "aligned": 0x100,
        "writebackifcopy": 0x2000,
    }  # fmt: skip
    _LONG: ClassVar = frozenset((*_BITS, "fnc", "forc", "behaved", "carray", "farray"))

    def __init__(self, array: Any) -> None:
        layout = array._storage_layout()
        whole = layout.size <= 1 or array._part not in ("real", "imag")
        self._array = array
        self._contiguous = [
            layout.size == 0 or (whole and seen.is_contiguous)
            for seen in (layout, permute(layout, range(array.ndim)[::-1]))
        ]

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are in C order without gaps."""
        return self._contiguous[0]

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are in Fortran order without gaps."""
        return self._contiguous[1]

    @property
    def owndata(self) -> bool:
        """Whether the array has memory of its own."""
        return self._array._owner is None

    @property
    def writeable(self) -> bool:
        """Whether the array can be written to. Can be set."""
        return bool(self._array._access)

    @writeable.setter
    def writeable(self, value: Any) -> None:
        self._array.setflags(write=value)

    @property
    def aligned(self) -> bool:
        """Always True. Can be set, without an effect."""
        return True

    @aligned.setter
    def aligned(self, value: Any) -> None:
        self._array.setflags(align=value)

    @property
    def writebackifcopy(self) -> bool:
        """Always False, because no array writes back to another one. Can be set to False."""
        return False

    @writebackifcopy.setter
    def writebackifcopy(self, value: Any) -> None:
        self._array.setflags(uic=value)

    @property
    def contiguous(self) -> bool:
        """Alias of ``c_contiguous``."""
        return self.c_contiguous

    @property
    def fortran(self) -> bool:
        """Alias of ``f_contiguous``."""
        return self.f_contiguous

    @property
    def fnc(self) -> bool:
        """``f_contiguous`` and not ``c_contiguous``."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self) -> bool:
        """``f_contiguous`` or ``c_contiguous``."""
        return self.f_contiguous or self.c_contiguous

    @property
    def behaved(self) -> bool:
        """``aligned`` and ``writeable``."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """``behaved`` and ``c_contiguous``."""
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        """``behaved``, ``f_contiguous`` and not ``c_contiguous``."""
        return self.writeable and self.fnc

    @property
    def num(self) -> int:
        """The flags as bits of an integer."""
        return sum(bit for name, bit in self._BITS.items() if getattr(self, name))

    def __getitem__(self, name: str) -> bool:
        attribute = self._SHORT.get(name, name.lower() if name.isupper() else "")
        if attribute not in self._LONG:
            raise KeyError(f"Unknown flag: {name!r}; the flags are {', '.join(sorted(self._LONG)).upper()}")
        return bool(getattr(self, attribute))

    def __setitem__(self, name: str, value: Any) -> None:
        attribute = self._SHORT.get(name, name.lower() if name.isupper() else "")
        if attribute not in ("writeable", "aligned", "writebackifcopy"):
            raise KeyError(f"Unknown flag: {name!r}; WRITEABLE, ALIGNED and WRITEBACKIFCOPY can be set")
        setattr(self, attribute, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self.num == other.num

    __hash__ = None  # type: ignore[assignment]  # as NumPy's, which change

    def __repr__(self) -> str:
        return "".join(f"  {name.upper()} : {getattr(self, name)}\n" for name in self._BITS)
