"""The storage of values of each dtype in buffers, and the WGSL that moves them between buffers and registers.

This is the only file that knows. Buffers hold what NumPy's arrays hold. Bool and 8-bit types take a byte and 16-bit
types two, *packed* into 32-bit words; complex numbers are pairs. A kernel accesses a buffer either *wide*, by vectors
of four elements from a multiple of four on, or element by element. Single stores of packed types are atomic, because
other invocations write their neighbours in the word.
"""

from dataclasses import dataclass, replace
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.target import compute_type
from gpuarray.dtypes import DType

_REGISTER: Final = {"c64": "vec2<f32>", "c128": "vec2<f64>", "i64p": "vec2<u32>", "u64p": "vec2<u32>"}
#: The vector of two elements of two words each, by their register type: four elements are two such vectors.
_TWO_WORDS: Final = {"vec2<f32>": "vec4<f32>", "vec2<u32>": "vec4<u32>"}
LANES: Final = 4


def register_type(dtype: DType) -> str:
    """Return the WGSL type of values of ``dtype`` in registers."""
    compute = compute_type(dtype)
    return _REGISTER.get(compute, compute)


def is_packed(dtype: DType) -> bool:
    """Whether several elements share a 32-bit word."""
    return dtype.itemsize < 4


def word_dtype(dtype: DType) -> DType:
    """Return a dtype of whole words that holds the register values of ``dtype``; booleans become uint32."""
    if dtype.itemsize >= 4:
        return dtype
    return dtypes.float32 if dtype.kind == "f" else dtypes.int32 if dtype.kind == "i" else dtypes.uint32


def scalar_expression(word: int, dtype: DType) -> str:
    """Return the run-time scalar of ``dtype`` that begins at parameter ``word``."""
    first = parameter_expression(word)
    compute = compute_type(dtype)
    match compute:
        case "bool":
            return f"({first} != 0u)"
        case "u32":
            return first
        case "i32" | "f32":
            return f"bitcast<{compute}>({first})"
        case "i64" | "u64" | "f64":
            return _wide_word(word, compute)
        case "i64p" | "u64p":
            return f"vec2<u32>({first}, {parameter_expression(word + 1)})"
        case "c64":
            return f"vec2<f32>(bitcast<f32>({first}), bitcast<f32>({parameter_expression(word + 1)}))"
        case "c128":
            return f"vec2<f64>({_wide_word(word, 'f64')}, {_wide_word(word + 2, 'f64')})"
        case _:
            raise ValueError(f"scalars of {dtype.name} have no form as parameters: {compute} is unknown")


def _wide_word(word: int, compute: str) -> str:
    # naga has no bitcast from pairs of words to 64-bit types
    joined = f"(u64({parameter_expression(word)}) | (u64({parameter_expression(word + 1)}) << 32u))"
    return joined if compute == "u64" else f"bitcast<{compute}>({joined})"


def word_count(dtype: DType) -> int:
    """Return how many 32-bit words a value takes in a register, and a run-time scalar among the parameters."""
    return max(1, dtype.itemsize // 4)


def parameter_expression(word: int) -> str:
    """Return the expression of parameter word ``word``, a u32."""
    return f"parameters.words[{word // 4}].{'xyzw'[word % 4]}"


@dataclass(frozen=True, slots=True)
class Access:
    """One array of a kernel, and how the kernel reads or writes it.

    Attributes
    ----------
    name, dtype : str, dtype
        Of the array.
    wide : bool
        Whether it is accessed by vectors of four elements.
    writable : bool
        Whether it is declared writable.
    windows, reach : int
        How many storage bindings show the array, if one does not show all of it, and the items that each shows.
        :attr:`functions` then select the binding of an item.
    item : str
        The WGSL type of the binding's items, if it is not that of elements.
    """

    name: str
    dtype: DType
    wide: bool
    writable: bool
    windows: int = 1
    reach: int = 0
    item: str = ""

    @property
    def atomic(self) -> bool:
        """Whether the words are declared atomic."""
        return self.writable and not self.wide and is_packed(self.dtype)

    @property
    def element(self) -> str:
        """The WGSL type of the binding's items: an element, several elements, or a part of four elements."""
        if self.item:
            return self.item
        if is_packed(self.dtype):
            if self.atomic:
                return "atomic<u32>"
            return "vec2<u32>" if self.wide and self.dtype.itemsize == 2 else "u32"
        single = register_type(self.dtype)
        if not self.wide or self.dtype == dtypes.complex128:
            return single
        return _TWO_WORDS.get(single, f"vec4<{single}>")

    @property
    def item_bytes(self) -> int:
        """Bytes of an item."""
        kind = self.element
        return (int(kind[3]) if kind.startswith("vec") else 1) * (8 if "64" in kind else 4)

    def declaration(self, binding: int) -> str:
        """Return the module-scope declaration."""
        mode = "read_write" if self.writable else "read"
        return f"@group(0) @binding({binding}) var<storage, {mode}> {self.name}: array<{self.element}>;"

    # -- several bindings ----------------------------------------------------------------------------------------------

    @property
    def parts(self) -> list["Access"]:
        """The accesses of the bindings that show the array, in order."""
        if self.windows == 1:
            return [self]
        return [replace(self, name=f"{self.name}_{number}", windows=1) for number in range(self.windows)]

    @property
    def functions(self) -> list[str]:
        """The WGSL functions that read or write an item in the binding that shows it, if there are several."""
        if self.windows == 1:
            return []
        if self.atomic:
            statements = [_masked(f"{window.name}[here]", "kept", "added") for window in self.parts]
            return self._switch(f"put_{self.name}(item: u32, kept: u32, added: u32)", statements)
        head = f"get_{self.name}(item: u32) -> {self.element}"
        if self.windows == 2:
            # without a branch, several loads are in flight together; the binding that is not wanted is read at an edge
            first, second = (window.name for window in self.parts)
            reach = f"{self.reach}u"
            both = f"{first}[min(item, {reach} - 1u)], {second}[max(item, {reach}) - {reach}]"
            text = [f"fn {head} {{ return select({both}, item >= {reach}); }}"]
        else:
            text = self._switch(head, [f"return {window.name}[here];" for window in self.parts])
        if self.writable:
            head = f"put_{self.name}(item: u32, value: {self.element})"
            text += self._switch(head, [f"{window.name}[here] = value;" for window in self.parts])
        return text

    def _switch(self, head: str, statements: list[str]) -> list[str]:
        """Return a function that runs the statement of the binding that shows ``item``, at ``here`` in it."""
        *first, last = statements
        cases = [f"  case {number}u: {{ {statement} }}" for number, statement in enumerate(first)]
        window = [f"  let part = item / {self.reach}u;", f"  let here = item - part * {self.reach}u;"]
        return [f"fn {head} {{", *window, "  switch part {", *cases, f"  default: {{ {last} }}", "  }", "}"]

    def _get(self, item: str) -> str:
        """Return an item of the array."""
        return f"{self.name}[{item}]" if self.windows == 1 else f"get_{self.name}({item})"

    def _put(self, item: str, value: str) -> str:
        """Return the statement that writes an item of the array."""
        return f"{self.name}[{item}] = {value};" if self.windows == 1 else f"put_{self.name}({item}, {value});"

    # -- single elements -----------------------------------------------------------------------------------------------

    def load(self, index: str) -> str:
        """Return the element at ``index`` (a u32 expression)."""
        if not is_packed(self.dtype):
            return self._get(index)
        shift = 2 if self.dtype.itemsize == 1 else 1
        word_index = f"({index}) >> {shift}u"
        word = f"atomicLoad(&{self.name}[{word_index}])" if self.atomic else self._get(word_index)
        lane = f"(({index}) & {(1 << shift) - 1}u) * {8 * self.dtype.itemsize}u"
        return _unpacked(f"({word} >> ({lane}))", self.dtype)

    def store(self, index: str, value: str) -> str:
        """Return the statement that writes one element."""
        if not is_packed(self.dtype):
            return self._put(index, value)
        bits = 8 * self.dtype.itemsize
        shift = 2 if bits == 8 else 1
        lane = f"((({index}) & {(1 << shift) - 1}u) * {bits}u)"
        word = f"({index}) >> {shift}u"
        kept, added = f"~({hex((1 << bits) - 1)}u << {lane})", f"{_packed(value, self.dtype)} << {lane}"
        if self.windows > 1:
            return f"put_{self.name}({word}, {kept}, {added});"
        return _masked(f"{self.name}[{word}]", kept, added)

    @property
    def is_plain(self) -> bool:
        """Whether :meth:`reference` can refer to a single element."""
        single = compute_type(self.dtype) in ("f32", "f64", "i32", "u32", "i64", "u64")
        return self.windows == 1 and not is_packed(self.dtype) and (single or not self.wide)

    def reference(self, index: str) -> str:
        """Return the WGSL reference to the element at ``index``, also in arrays of vectors."""
        return f"{self.name}[({index}) / {LANES}u][({index}) % {LANES}u]" if self.wide else f"{self.name}[{index}]"

    # -- four elements -------------------------------------------------------------------------------------------------

    def load_wide(self, index: str, target: str) -> tuple[list[str], list[str]]:
        """Return statements, and the four lane expressions, for the elements from ``4 * index``."""
        dtype = self.dtype
        if is_packed(dtype):
            lines = [f"let {target} = {self._get(index)};"]
            if dtype.itemsize == 1:
                return lines, [_unpacked(f"({target} >> {8 * lane}u)", dtype) for lane in range(LANES)]
            halves = [f"({target}.{'xy'[lane // 2]} >> {16 * (lane % 2)}u)" for lane in range(LANES)]
            return lines, [_unpacked(half, dtype) for half in halves]
        if register_type(dtype) in _TWO_WORDS:
            lines = [
                f"let {target}a = {self._get(f'2u * ({index})')};",
                f"let {target}b = {self._get(f'2u * ({index}) + 1u')};",
            ]
            return lines, [f"{target}a.xy", f"{target}a.zw", f"{target}b.xy", f"{target}b.zw"]
        if dtype == dtypes.complex128:
            lines = [f"let {target}{lane} = {self._get(f'4u * ({index}) + {lane}u')};" for lane in range(LANES)]
            return lines, [f"{target}{lane}" for lane in range(LANES)]
        return [f"let {target} = {self._get(index)};"], [f"{target}.{component}" for component in "xyzw"]

    def store_wide(self, index: str, values: list[str]) -> list[str]:
        """Return the statements that write four elements from ``4 * index``."""
        dtype = self.dtype
        if is_packed(dtype):
            words = [_packed(value, dtype) for value in values]
            if dtype.itemsize == 1:
                joined = " | ".join(f"({w} << {8 * lane}u)" for lane, w in enumerate(words))
                return [self._put(index, joined)]
            low, high = (f"({words[k]} | ({words[k + 1]} << 16u))" for k in (0, 2))
            return [self._put(index, f"vec2<u32>({low}, {high})")]
        if register_type(dtype) in _TWO_WORDS:
            return [
                self._put(f"2u * ({index})", f"{self.element}({values[0]}, {values[1]})"),
                self._put(f"2u * ({index}) + 1u", f"{self.element}({values[2]}, {values[3]})"),
            ]
        if dtype == dtypes.complex128:
            return [self._put(f"4u * ({index}) + {lane}u", value) for lane, value in enumerate(values)]
        return [self._put(index, f"vec4<{register_type(dtype)}>({', '.join(values)})")]


class Pairs(Access):
    """An array of eight-byte elements read two at a time: memory serves sixteen bytes at once."""

    @property
    def element(self) -> str:
        """The WGSL element type of the binding's array: two elements."""
        single = register_type(self.dtype)
        return _TWO_WORDS.get(single, f"vec2<{single}>")

    def load_pair(self, index: str, target: str) -> tuple[list[str], list[str]]:
        """Return statements, and the two lane expressions, for the elements from ``2 * index``."""
        lanes = ("xy", "zw") if register_type(self.dtype) in _TWO_WORDS else "xy"
        return [f"let {target} = {self._get(index)};"], [f"{target}.{lane}" for lane in lanes]


def _masked(word: str, kept: str, added: str) -> str:
    """Return the statements that keep some bits of an atomic word, and add others."""
    return f"atomicAnd(&{word}, {kept}); atomicOr(&{word}, {added});"


def _unpacked(word: str, dtype: DType) -> str:
    """Return the value whose bits are the lowest of ``word``."""
    if dtype == dtypes.bool_:
        return f"(({word} & 0xffu) != 0u)"
    if dtype == dtypes.float16:
        return f"f16_from_bits({word} & 0xffffu)"
    bits = 8 * dtype.itemsize
    if dtype.kind == "u":
        return f"({word} & {hex((1 << bits) - 1)}u)"
    return f"((bitcast<i32>({word}) << {32 - bits}u) >> {32 - bits}u)"


def _packed(value: str, dtype: DType) -> str:
    """Return the bits of ``value`` as a u32 whose upper bits are zero."""
    if dtype == dtypes.bool_:
        return f"select(0u, 1u, {value})"
    if dtype == dtypes.float16:
        return f"f16_to_bits({value})"
    mask = hex((1 << 8 * dtype.itemsize) - 1)
    return f"({value} & {mask}u)" if dtype.kind == "u" else f"(bitcast<u32>({value}) & {mask}u)"
