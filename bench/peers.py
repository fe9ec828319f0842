"""Adapters of the libraries that are compared, which import their library when they are opened.

A peer has the namespace that workloads use, uploads and downloads arrays, compiles functions if the library compiles,
and waits for the device. It raises :class:`AbsentError` if the library is not available.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

#: Number of uploaded arrays that a library keeps for the next workloads.
_HELD = 3
#: Arrays that torch keeps, by device, which eager and compiled functions share.
_TORCH_HELD: dict[str, dict[int, Any]] = {}


class AbsentError(Exception):
    """A peer, or one function of it, is not available. The message gives the reason."""


class _Seeded:
    """A namespace with a single random number generator."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.random = module.random.default_rng(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


NUMPY: Any = _Seeded(np)


class Peer:
    """NumPy, and the base class of the other peers."""

    name = "numpy"
    place = "cpu"
    has_clock = False

    def __init__(self) -> None:
        self.xp: Any = NUMPY

    def asarray(self, array: np.ndarray) -> Any:
        """Move a NumPy array to the device of this peer."""
        return array

    def asnumpy(self, result: Any) -> np.ndarray:
        """Return a result as a NumPy array."""
        return np.asarray(result)

    def wait(self, results: Sequence[Any]) -> None:
        """Compute ``results`` and wait for them."""

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function to be timed, whose arguments are arrays of this peer."""
        return function

    def repeat(self, step: Callable[..., Any], count: int) -> Callable[..., Any]:
        """Return the function that takes ``count`` steps in a Python loop, from copies of its arguments."""
        step = self.compile(step)

        def loop(*arrays: Any) -> Any:
            arrays = tuple(array + 0 for array in arrays)
            for _ in range(count):
                arrays = step(*arrays)
            return arrays[0]

        return loop

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context manager in which this peer runs."""
        return contextlib.nullcontext()

    def resident(self, array: np.ndarray) -> Any:
        """Return the result of :meth:`asarray`, cached for the last few arrays."""
        held: dict[int, Any] = self.__dict__.setdefault("_held", {})
        result = held.pop(id(array), None) or (array, self.asarray(array))
        held[id(array)] = result  # with the array itself, whose id would else become another's
        while len(held) > _HELD:
            del held[next(iter(held))]
        return result[1]

    def device_ms(self, calls: Callable[[], Any]) -> float:
        """Return the device time of some calls in milliseconds, if :attr:`has_clock`."""
        raise AbsentError(f"{self.name} does not tell")

    def start(self, *results: Any) -> None:
        """Start the computation of ``results`` if the library is lazy."""

    def trim(self) -> None:
        """Release pooled memory."""

    def tidy(self) -> None:
        """Release compiled functions and pooled memory."""
        self.trim()

    def describe(self) -> str:
        """Return the version, and the device if there is a choice."""
        return np.__version__

    def counters(self) -> dict[str, int]:
        """Return event counters since the last :meth:`reset`; empty if the peer has none."""
        return {}

    def reset(self) -> None:
        """Set the event counters to zero."""


class Ours(Peer):
    """gpuarray on one of its devices, with or without ``jit``."""

    def __init__(self, device: str, compiled: bool = False) -> None:
        self.name = f"gpuarray-{'jit-' if compiled else ''}{device}"
        self.device, self.compiled = device, compiled
        self.xp = _Seeded(_imported("gpuarray"))
        with self.scope():
            probe = self.xp.asarray(np.ones(1, np.float32)) + 1
            try:
                self.wait([probe])
            except (RuntimeError, OSError) as error:
                raise AbsentError(str(error)) from error
        self.place = "gpu" if device.startswith("wgpu") else "cpu"
        self.has_clock = self.place == "gpu"

    def asarray(self, array: np.ndarray) -> Any:
        return self.xp.prefetch(self.xp.asarray(array))

    def asnumpy(self, result: Any) -> np.ndarray:
        return self.xp.asnumpy(result)

    def wait(self, results: Sequence[Any]) -> None:
        self.xp.evaluate(*results)
        self.xp.synchronize(self.device)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.xp.jit(function) if self.compiled else function

    def start(self, *results: Any) -> None:
        self.xp.evaluate(*results)

    def device_ms(self, calls: Callable[[], Any]) -> float:
        with self.xp.profile() as result:
            calls()
        return float(result.kernel_time / 1e6)

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        return self.xp.using(device=self.device)

    def describe(self) -> str:
        return f"{self.xp.__version__} on {self.device}"

    def trim(self) -> None:
        if self.place == "cpu":
            registry = import_module("gpuarray.providers.registry")
            registry.open_device(registry.resolve(self.xp.Device(self.device))).pool.trim()

    def counters(self) -> dict[str, int]:
        return dict(self.xp.stats())

    def reset(self) -> None:
        self.xp.reset_stats()


class Numexpr(Peer):
    """numexpr, for the workloads that its expressions support."""

    name = "numexpr"

    def __init__(self) -> None:
        self.xp = _imported("numexpr")

    def describe(self) -> str:
        return self.xp.__version__


class Autograd(Peer):
    """HIPS autograd: NumPy with derivatives in reverse mode."""

    name = "autograd"

    def __init__(self) -> None:
        autograd = self._autograd = _imported("autograd")
        self.xp = _Seeded(import_module("autograd.numpy"))
        self.xp.value_and_grad = lambda function, argnums=0: autograd.value_and_grad(function, argnums)
        self.xp.grad = lambda function, argnums=0: autograd.grad(function, argnums)

    def describe(self) -> str:
        return str(getattr(self._autograd, "__version__", ""))


class _TorchNamespace:
    """PyTorch with the names of the array API, which creates arrays on one device."""

    def __init__(self, torch: Any, device: str) -> None:
        self._torch = torch
        self._device = device
        self.max = torch.amax
        self.fft = torch.fft
        self.grad, self.jvp, self.vmap, self.jacfwd = (
            getattr(torch.func, name) for name in ("grad", "jvp", "vmap", "jacfwd")
        )
        for name in ("arange", "linspace", "full", "zeros", "ones", "empty"):
            setattr(self, name, self._placed(getattr(torch, name)))
        self.random = SimpleNamespace(standard_normal=self._placed(torch.randn), random=self._placed(torch.rand))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)

    def value_and_grad(self, function: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
        both = self._torch.func.grad_and_value(function, argnums)
        return lambda *arrays: both(*arrays)[::-1]

    def _placed(self, create: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **keywords: create(*arguments, device=self._device, **keywords)

    def maximum(self, x: Any, y: Any) -> Any:
        return self._torch.maximum(x, y) if hasattr(y, "device") else self._torch.clamp(x, min=y)

    def var(self, x: Any, axis: int | None = None) -> Any:
        return self._torch.var(x, axis, correction=0)

    def added_in_order(self, x: Any, y: Any) -> Any:
        return self._torch.add(x, y, out=self.empty(x.shape, dtype=x.dtype))

    def histogram(self, x: Any, bins: int) -> Any:
        return self._torch.histc(x, bins)

    def sort(self, x: Any) -> Any:
        return self._torch.sort(x).values


class Torch(Peer):
    """PyTorch, eager or through torch.compile, on one device."""

    def __init__(self, device: str, compiled: bool) -> None:
        self.name = f"torch{'-compile' if compiled else ''}-{device}"
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # processes for one kernel at a time cost seconds
        self.torch = _imported("torch")
        if device == "cuda" and not self.torch.cuda.is_available():
            raise AbsentError("torch finds no GPU")
        self.device, self.compiled = device, compiled
        self._held = _TORCH_HELD.setdefault(device, {})
        self.place = "gpu" if device == "cuda" else "cpu"
        self.torch.set_grad_enabled(False)
        self.xp = _TorchNamespace(self.torch, device)

    def asarray(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array).to(self.device)

    def asnumpy(self, result: Any) -> np.ndarray:
        return result.cpu().numpy() if hasattr(result, "cpu") else np.asarray(result)

    def wait(self, results: Sequence[Any]) -> None:
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.torch.compile(function, dynamic=False) if self.compiled else function

    def tidy(self) -> None:
        if self.compiled:
            self.torch._dynamo.reset()  # workloads share a line of code, and one line is compiled a few times only
        self.trim()

    def trim(self) -> None:
        if self.device == "cuda":
            self.torch.cuda.empty_cache()

    def describe(self) -> str:
        return f"{self.torch.__version__} on {self.device}"


class _JaxNamespace:
    """jax.numpy, with random numbers from a key that is split in each call."""

    def __init__(self, jax: Any) -> None:
        self._jax = jax
        self.random = SimpleNamespace(standard_normal=self._drawn("normal"), random=self._drawn("uniform"))
        self.grad, self.value_and_grad, self.jvp = jax.grad, jax.value_and_grad, jax.jvp
        self.vmap, self.jacfwd, self.checkpoint = jax.vmap, jax.jacfwd, jax.checkpoint

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jax.numpy, name)

    def seed(self, key: Any) -> None:
        self._key = key

    def _drawn(self, name: str) -> Callable[..., Any]:
        def draw(size: int, dtype: Any) -> Any:
            self._key, key = self._jax.random.split(self._key)
            return getattr(self._jax.random, name)(key, (size,), dtype)

        return draw

    def bincount(self, x: Any, minlength: int) -> Any:
        return self._jax.numpy.bincount(x, length=minlength)

    def with_inner(self, plane: Any, inner: Any) -> Any:
        """Return a plane with its interior replaced."""
        return plane.at[1:-1, 1:-1].set(inner)

    def repeated(self, count: int, step: Callable[[Any], Any], state: Any) -> Any:
        """Compute steps in a loop that JAX compiles."""

        def body(_: Any, carried: Any) -> Any:
            self._key, state = carried
            state = step(state)
            return self._key, state

        self._key, state = self._jax.lax.fori_loop(0, count, body, (self._key, state))
        return state


class Jax(Peer):
    """JAX through jax.jit, on the CPU or on a GPU."""

    def __init__(self, place: str) -> None:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # leaves the device's memory to the other peers
        self.name = f"jax-{place}"
        self.place = place
        self.jax = _imported("jax")
        self.jax.config.update("jax_enable_x64", True)  # otherwise float64 is float32, which is no comparison
        self.jax.config.update("jax_default_matmul_precision", "highest")  # otherwise float32 is TF32
        try:
            self.device = self.jax.devices(place)[0]
        except RuntimeError as error:
            raise AbsentError(str(error).splitlines()[0]) from error
        self.xp = _JaxNamespace(self.jax)

    def asarray(self, array: np.ndarray) -> Any:
        return self.jax.device_put(array, self.device)

    def wait(self, results: Sequence[Any]) -> None:
        self.jax.block_until_ready(list(results))

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def seeded(key: Any, *arrays: Any) -> Any:
            self.xp.seed(key)
            return function(*arrays)

        compiled = self.jax.jit(seeded)
        key = self.jax.device_put(self.jax.random.key(0), self.device)
        return lambda *arrays: compiled(key, *arrays)

    def repeat(self, step: Callable[..., Any], count: int) -> Callable[..., Any]:
        return self.compile(lambda *state: self.xp.repeated(count, lambda some: step(*some), state)[0])

    def scope(self) -> contextlib.AbstractContextManager[Any]:
        return self.jax.default_device(self.device)

    def describe(self) -> str:
        return f"{self.jax.__version__} on {self.device}"


class Cupy(Peer):
    """CuPy on the current CUDA device."""

    name = "cupy"
    place = "gpu"

    def __init__(self) -> None:
        self.xp = _imported("cupy")
        try:
            self.xp.ones(1)
        except Exception as error:  # the CUDA runtime has exceptions of its own
            raise AbsentError(f"cupy cannot run: {error}") from error

    def asarray(self, array: np.ndarray) -> Any:
        return self.xp.asarray(array)

    def asnumpy(self, result: Any) -> np.ndarray:
        return self.xp.asnumpy(result)

    def wait(self, results: Sequence[Any]) -> None:
        self.xp.cuda.Device().synchronize()

    def trim(self) -> None:
        self.xp.get_default_memory_pool().free_all_blocks()

    def describe(self) -> str:
        return self.xp.__version__


PEERS: dict[str, Callable[[], Peer]] = {
    "numpy": Peer,
    "numexpr": Numexpr,
    "autograd": Autograd,
    "torch-cpu": lambda: Torch("cpu", compiled=False),
    "torch-compile-cpu": lambda: Torch("cpu", compiled=True),
    "jax-cpu": lambda: Jax("cpu"),
    "cupy": Cupy,
    "torch-cuda": lambda: Torch("cuda", compiled=False),
    "torch-compile-cuda": lambda: Torch("cuda", compiled=True),
    "jax-gpu": lambda: Jax("gpu"),
}
"""The other libraries, in the order of the tables."""


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise AbsentError(f"{name} is not installed") from error
