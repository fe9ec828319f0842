"""Fourier transforms along rows, of any length.

A length whose prime factors are small is transformed in one pass if it fits workgroup memory, else in a few passes over
the rows with scratch memory between them. Any other length n is a convolution (Bluestein): with the chirp
c(j) = exp(-pi i j**2 / n), the transform is c(k) times the sum over j of x(j) c(j) times the conjugate of c(k - j), and
a convolution is two transforms of a power of two.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isqrt, prod, sqrt
from typing import Final

from gpuarray import dtypes
from gpuarray.codegen.calls.fourier_passes import (
    BufferRows,
    FourierPass,
    TransformEnds,
    bind,
    pass_launch,
    room,
    rounded_bytes,
)
from gpuarray.codegen.calls.fourier_stages import complex_of, is_smooth
from gpuarray.codegen.calls.kernels import ALL_PLACES, CallKernels
from gpuarray.codegen.programs import Launch, Program
from gpuarray.codegen.storage import register_type
from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities
from gpuarray.dtypes import DType
from gpuarray.fusion.steps import CallStep
from gpuarray.ops import calls

#: Bytes of workgroup memory that a source declares: what every device has, and what most have.
SMALL_MEMORY: Final = 16384
LARGE_MEMORY: Final = 32768
#: The rarer radices have no source that uses the larger one.
COMMON_PRIMES: Final = (2, 3, 5)
#: Lines next to each other that a pass over columns takes at least: what memory moves at once has no less.
LEAST_TOGETHER: Final = 4
#: How much longer a pass takes that needs the larger workgroup memory, which leaves room for fewer workgroups: two such
#: passes are better than three others, and four others than three such.
LARGE_COST: Final = 1.4
#: Bytes of one scratch buffer, beyond which rows are transformed in turns.
SCRATCH_LIMIT: Final = 1 << 28


def convolution_length(length: int) -> int:
    """Return the power of two in which a convolution of ``length`` numbers does not wrap around."""
    return 1 << (2 * length - 2).bit_length()


def split(length: int, limit: int) -> list[int]:
    """Return as few factors of a smooth length as possible, each at most ``limit`` and near each other."""
    divisors = [d for d in _divisors(length) if d <= limit]
    count = 1
    while True:
        lengths = _split(length, count, divisors)
        if lengths is not None:
            return lengths
        count += 1


def _capacities(length: int, real: DType, capabilities: Capabilities) -> list[int]:
    """Return how many numbers workgroup memory holds in the sources that can transform a smooth length."""
    capacities = [m // complex_of(real).itemsize for m in (SMALL_MEMORY, LARGE_MEMORY)]
    large = capabilities.workgroup_memory >= LARGE_MEMORY and is_smooth(length, COMMON_PRIMES)
    return capacities if large else capacities[:1]


def _divisors(length: int) -> list[int]:
    small = [d for d in range(1, isqrt(length) + 1) if length % d == 0]
    return sorted({*small, *(length // d for d in small)})


def _split(length: int, count: int, divisors: list[int]) -> list[int] | None:
    if count == 1:
        return [length] if length <= divisors[-1] else None
    even = length ** (1 / count)
    for divisor in sorted(divisors, key=lambda d: max(d / even, even / d)):
        if length % divisor == 0 and divisor > 1:
            rest = _split(length // divisor, count - 1, divisors)
            if rest is not None:
                return [divisor, *rest]
    return None


@dataclass
class _Transforms:
    """Collects the launches of transforms and the scratch buffers that they share."""

    capabilities: Capabilities
    real: DType
    launches: list[Launch] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)

    def buffer(self, slot: int, elements: int, dtype: DType) -> BufferRows:
        """Return a row of scratch memory, in the buffer ``slot``, which is made large enough."""
        self.scratch += [0] * (slot + 1 - len(self.scratch))
        self.scratch[slot] = max(self.scratch[slot], rounded_bytes(elements, dtype))
        return BufferRows("scratch", slot, dtype, 0, elements)

    def add(self, rows: int, length: int, ends: TransformEnds, slot: int) -> None:
        """Add the transform of rows of a smooth length; the scratch buffers from ``slot`` on are free."""
        capacities = _capacities(length, self.real, self.capabilities)
        for capacity in capacities:
            if length <= room(length, capacity):
                self._launch(FourierPass(ends, rows, length, length, 1, capacity, self.real))
                return
        choices = [(split(length, room(length, capacity) // LEAST_TOGETHER), capacity) for capacity in capacities]
        sizes, capacity = min(choices, key=lambda c: len(c[0]) * (LARGE_COST if c[1] > capacities[0] else 1))
        source, done = ends.source, 1
        for position, size in enumerate(sizes):
            first, last = position == 0, position == len(sizes) - 1
            target = ends.target
            if not last:
                # every other pass writes to the target, if that can hold what comes between, and the last one does
                spare = (len(sizes) - position) % 2 == 1
                fits = spare and target.dtype == complex_of(self.real) and target.length == length
                target = target if fits else self._between(rows, length, slot + spare)
            here = replace(ends, source=source, target=replace(target, length=size) if first else target)
            if not first:
                here = replace(here, hermitian=False, conjugate_source=False, before=None)
            if not last:
                here = replace(here, conjugate_target=False, after=None, scale=1.0)
            self._launch(FourierPass(here, rows, length, size, done, capacity, self.real))
            source, done = target, done * size

    def _between(self, rows: int, length: int, slot: int) -> BufferRows:
        return replace(self.buffer(slot, rows * length, complex_of(self.real)), length=length)

    def _launch(self, task: FourierPass) -> None:
        self.launches.append(pass_launch(task, "fourier", self.capabilities.workgroup_limit))

    def chirp(self, length: int, convolved: int) -> tuple[BufferRows, BufferRows, BufferRows]:
        """Add the launches that make the chirp, its conjugate, and the transform of the other factor."""
        number = complex_of(self.real)
        chirp = self.buffer(0, length, number)
        mirror = self.buffer(1, convolved, number)
        kernel = Kernel("fourier chirp")
        targets = [bind(kernel, name, rows, 1, writable=True)[0] for name, rows in (("c", chirp), ("m", mirror))]
        suffix = self.real.name.replace("float", "f")
        kernel.line(
            f"let length = {kernel.parameter(length)};",
            f"let convolved = {kernel.parameter(convolved)};",
            f"let j = (group.x + group.y * groups.x) * {WORKGROUP}u + local;",
            "if (j >= convolved) { return; }",
            "let distance = min(j, convolved - j);",
            f"var value = {register_type(number)}();",
            "if (distance < length) {",
            f"value = unit_root_{suffix}(square_modulo(distance, 2u * length), 2u * length);",
            "}",
            f"if (j < length) {{ {targets[0].store('j', 'value')} }}",
            targets[1].store("j", f"{register_type(number)}(value.x, -value.y)"),
        )
        self.launches.append(kernel.launch(-(-convolved // WORKGROUP), self.capabilities.workgroup_limit))
        spectrum = self.buffer(2, convolved, number)
        self.add(1, convolved, TransformEnds(mirror, spectrum), 4)
        return chirp, replace(mirror, length=length), spectrum

    def convolve(self, rows: int, ends: TransformEnds, tables: tuple[BufferRows, BufferRows, BufferRows]) -> None:
        """Add the transform of rows of any length by convolution."""
        chirp, mirror, spectrum = tables
        convolved = spectrum.length
        product = self._between(rows, convolved, 3)
        into = replace(ends, target=product, before=chirp, after=spectrum, conjugate_target=True, scale=1.0)
        self.add(rows, convolved, into, 4)
        # the conjugate of a transform of the conjugate is the inverse transform
        back = TransformEnds(product, ends.target, after=mirror, conjugate_target=not ends.conjugate_target)
        self.add(rows, convolved, replace(back, scale=ends.scale / convolved), 4)


def scale_of(norm: str, length: int, *, inverse: bool) -> float:
    """Return the factor of a transform."""
    if norm == "ortho":
        return 1.0 / sqrt(length)
    return 1.0 / length if (norm == "backward") == inverse else 1.0


def _real(step: CallStep) -> DType:
    return dtypes.float32 if step.output_dtypes[0] in (dtypes.float32, dtypes.complex64) else dtypes.float64


def _length(step: CallStep) -> int:
    length = dict(step.parameters)["n"]
    assert isinstance(length, int)
    return length


def _program(step: CallStep, label: str, capabilities: Capabilities) -> Program:
    parameters = dict(step.parameters)
    length, inverse = _length(step), bool(parameters["inverse"])
    count, input_length = prod(step.shapes[0][:-1]), step.shapes[0][-1]
    output_length = step.output_shapes[0][-1]
    transforms = _Transforms(capabilities, _real(step))
    tables = None if is_smooth(length) else transforms.chirp(length, convolution_length(length))
    for start, rows in _batches(step, count, capabilities):
        ends = TransformEnds(
            BufferRows("input", 0, step.input_dtypes[0], start * input_length, input_length),
            BufferRows("output", 0, step.output_dtypes[0], start * output_length, output_length),
            hermitian=step.op is calls.irfft,
            conjugate_source=inverse,
            conjugate_target=inverse,
            scale=scale_of(str(parameters["norm"]), length, inverse=inverse),
        )
        if tables is None:
            transforms.add(rows, length, ends, 0)
        else:
            transforms.convolve(rows, ends, tables)
    return Program(tuple(transforms.launches), tuple(transforms.scratch))


def _batches(step: CallStep, count: int, capabilities: Capabilities) -> Iterator[tuple[int, int]]:
    """Yield the first row and the number of rows of each batch, for which scratch memory is enough."""
    scratch = _scratch_row(step, capabilities)
    most = max(1, min(SCRATCH_LIMIT, capabilities.binding_limit - 512) // scratch) if scratch else count
    for start in range(0, count, most):
        yield start, min(most, count - start)


def _scratch_row(step: CallStep, capabilities: Capabilities) -> int:
    """Return how many bytes of each scratch buffer a row takes."""
    length, real = _length(step), _real(step)
    if not is_smooth(length):
        length = convolution_length(length)
    elif length <= room(length, _capacities(length, real, capabilities)[-1]):
        return 0
    return length * complex_of(real).itemsize


def _unsupported(step: CallStep, capabilities: Capabilities) -> str | None:
    if capabilities.workgroup_memory < SMALL_MEMORY:
        return f"a transform needs {SMALL_MEMORY} bytes of workgroup memory"
    return None


FOURIER: Final = CallKernels(_program, _unsupported, pieces=ALL_PLACES)
