"""The settings, as one dataclass: names, defaults, documentation and accepted values.

:mod:`gpuarray.config` has the values that hold now.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import platformdirs

from gpuarray.errors import ConfigurationError
from gpuarray.immediacy import ONE_THREAD

_PREFIX: Final = "GPUARRAY_"
#: The most elements of arrays that NumPy computes one by one beside a GPU.
_BESIDE_GPU: Final = 1 << 17


class _Strictness:
    """Whether ``strict_array_api`` was ever on. Each operation tests this flag, which is cheaper than a setting.

    ``when_possible`` are functions that are called when it becomes so.
    """

    __slots__ = ("possible", "when_possible")

    def __init__(self) -> None:
        self.possible = False
        self.when_possible: list[Callable[[], None]] = []


strictness: Final = _Strictness()


class _RecordingSettings:
    """The settings that each operation needs, apart for the same reason.

    Attributes
    ----------
    origins : bool
        Whether operations store their source lines: the last value of the setting.
    counted : int
        The operations of graphs of fewer levels are not too many, whatever the ``pending_limit`` of the thread.
    gpu : bool
        Whether a GPU was opened, or is to be looked for when the device ``"auto"`` is used next.
    midsize : bool
        Whether operations on mid-sized arrays are recorded where the device ``"auto"`` may be a GPU.
    """

    __slots__ = ("counted", "gpu", "midsize", "origins")

    def __init__(self) -> None:
        self.origins = True
        self.counted = 0
        self.gpu = False
        self.midsize = False


recording: Final = _RecordingSettings()


def _choice(*accepted: str) -> dict[str, Any]:
    return {"accepted": accepted}


def _setting(default: Any, doc: str, **metadata: Any) -> Any:
    return field(default=default, metadata={"doc": doc, **metadata})


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of this package, which are also the attributes of ``gpuarray.config``."""

    device: str = _setting("auto", "Device of new arrays: `auto`, `cpu`, `wgpu` or `wgpu:N`.")
    provider: str = _setting(
        "auto",
        "Provider of the device `auto`: `auto` (a hardware GPU if there is one, otherwise the CPU), or the name of a "
        "provider.",
    )
    fallback: str = _setting(
        "allow",
        "Action if a step of another device must run on the host: `allow` (count it), `warn` (once per line of the "
        "program), or `error`.",
        **_choice("allow", "warn", "error"),
    )
    transfer: str = _setting(
        "allow",
        "Action if an implicit conversion such as `np.asarray(x)` or `float(x)` downloads elements: `allow` (count "
        "it), `warn` (once per line of the program), or `error`.",
        **_choice("allow", "warn", "error"),
    )
    fuse: bool = _setting(
        True, "Fuse operations into as few kernels as possible. If False, each operation is a step of its own."
    )
    math: str = _setting(
        "precise",
        "Implementation of float32 functions on a GPU: `precise` (errors up to 2 units in the last place, special "
        "values as in NumPy), or `fast` (the driver's `exp`, `log`, `sin`, `cos`, `tan`, `sqrt` and division, which "
        "can be inaccurate in many digits and wrong for NaN, infinities and large arguments).",
        **_choice("precise", "fast"),
    )
    subnormals: str = _setting(
        "keep",
        "Subnormal operands and results of elementwise sums, differences and products of float32 and complex64, on a "
        "GPU that flushes them to 0 (as NVIDIA's do): `keep` (round them as NumPy does), or `flush` (which saves a few "
        "instructions). Other elementwise functions always keep subnormal numbers; sums over axes and matrix products "
        "never do.",
        **_choice("flush", "keep"),
    )
    debug: int = _setting(
        0,
        "Level of the logger `gpuarray`, which writes to stderr unless the program has configured logging: 1 devices "
        "and fallbacks, 2 also steps and launches, 3 also the reason for the placement of each step, 4 also its WGSL. "
        "From 1 on, tracebacks show the frames of this package.",
    )
    origins: bool = _setting(
        True, "Store the source line that recorded each operation, for `explain`, `profile` and error messages."
    )
    verify: bool = _setting(False, "Check the invariants of every graph and plan before it runs.")
    default_float: str = _setting(
        "float64",
        "Default floating dtype: `float64`, as in NumPy, or `float32`.",
        **_choice("float64", "float32"),
    )
    strict_array_api: bool = _setting(
        False,
        "Follow the array API standard where NumPy accepts more or differs: operators and functions of this namespace "
        "reject dtypes that the standard does not allow and promotions between kinds of dtypes, and `floor_divide`, "
        "complex `expm1` and complex `tanh` have the standard's values at infinities.",
    )
    check_indices: bool = _setting(
        True,
        "Check the bounds of index arrays on a device at the line that uses them, which downloads eight bytes. If "
        "False, indices are clamped instead.",
    )
    linalg_errors: str = _setting(
        "call",
        "When factorisations and solvers on a GPU, and `average`, raise errors that depend on values: `call` (at the "
        "line of the call, which waits for them, as NumPy does), or `read` (when the program next reads a value of a "
        "GPU, so that calls do not wait).",
        **_choice("call", "read"),
    )
    offload: str = _setting(
        "auto",
        "Placement of steps on the device `auto`, if there is a GPU: `auto` (minimise the estimated time of the plan, "
        "including transfers), `always` (on the GPU), or `never`.",
        **_choice("auto", "always", "never"),
    )
    calibration: str = _setting(
        "auto",
        "Rates for estimates: `auto` (measured once a program has computed for some seconds on the device `auto`, and "
        "kept in the cache directory), or `off` (those of a typical machine).",
        **_choice("auto", "off"),
    )
    warm_up: bool = _setting(
        False, "When a GPU is opened, compile the kernels of earlier runs with this setting, in the background."
    )
    autotune: str = _setting(
        "cached",
        "Tile sizes of matrix products on a GPU: `cached` (those found by `python -m gpuarray calibrate --tune`, if it "
        "was run), `on` (also find them with the first calibration, which takes some seconds), or `off` (those of a "
        "typical machine).",
        **_choice("cached", "on", "off"),
    )
    refine: bool = _setting(True, "Correct estimates by the measured times of steps.")
    memory_limit: int = _setting(0, "Maximum bytes of all buffers of one device, including pooled ones; 0 is no limit.")
    direct_limit: int = _setting(
        1 << 19,
        "Maximum number of elements of arrays that are computed by NumPy's functions one by one, without a plan, if "
        "their operands are in host memory. Beside a GPU it is at most 131,072, and an eighth of that while the GPU "
        "takes less time for larger ones. 0 makes a plan for every evaluation.",
    )
    direct_pinned: bool = _setting(
        True, "Apply `direct_limit` to arrays of a pinned GPU, too; if False, the GPU computes all of them."
    )
    compiled: bool = _setting(
        True,
        "Use the extension modules in C, for small arrays and for elementwise operations on the host, if the package "
        "was built with a compiler. Read when the package is imported.",
    )
    pending_limit: int = _setting(128, "Depth at which a pending graph is evaluated automatically.")
    cache_dir: str = _setting(
        "", "Directory of files kept between runs; empty means the cache directory of the platform."
    )
    power_preference: str = _setting(
        "high-performance",
        "Preferred GPU of the device `wgpu`: `high-performance` or `low-power`.",
        **_choice("high-performance", "low-power"),
    )
    adapter: str = _setting(
        "", "Part of the name of an adapter, to select one of several GPUs; empty selects the preferred one."
    )
    software: bool = _setting(False, "Allow the device `auto` to use a software Vulkan device, such as llvmpipe.")
    threads: int = _setting(
        0, "Maximum number of threads for in-process computations and copies of large arrays; 0 means one per core."
    )

    def cache_folder(self) -> Path:
        """Return the directory of files kept between runs, which may not exist yet."""
        return Path(self.cache_dir) if self.cache_dir else Path(platformdirs.user_cache_dir("gpuarray-xp", False))

    def is_direct(self, kind: str) -> bool:
        """Return whether NumPy may compute small values of a kind of device without a plan."""
        return kind == "cpu" or (self.offload != "always" and (kind == "auto" or self.direct_pinned))

    def immediacy(self) -> tuple[int, bool, str | None]:
        """Return what determines which operations are computed at once; see :mod:`gpuarray.immediacy`."""
        default_device = self.device if self.default_float == "float64" else None
        if self.strict_array_api or self.offload == "always":
            return 0, self.direct_pinned, default_device
        beside_gpu = not (self.is_without_gpu or self.is_open) if self.device == "auto" else self.device != "cpu"
        return self.host_limit(beside_gpu=beside_gpu), self.direct_pinned, default_device

    def host_limit(self, *, beside_gpu: bool) -> int:
        """Return the most elements of arrays that NumPy's functions compute one by one.

        Up to 2^19 elements most graphs take less time so than by a plan on the host: the results stay in the caches.
        A GPU takes less time from 2^14 elements on, if the program is one of those for which operations on mid-sized
        arrays are recorded. A limit of memory counts buffers, which they do not use.
        """
        if self.memory_limit:
            return min(self.direct_limit, ONE_THREAD)
        if not beside_gpu or self.offload == "never":
            return self.direct_limit
        return self.midsize if recording.midsize else self.most_midsize

    @property
    def midsize(self) -> int:
        """The number of elements above which arrays are mid-sized."""
        return -(-self.most_midsize // 8)

    @property
    def most_midsize(self) -> int:
        """The number of elements up to which arrays are mid-sized. Larger ones are left to a GPU."""
        return min(self.direct_limit, _BESIDE_GPU)

    @property
    def is_without_gpu(self) -> bool:
        """Whether the device ``"auto"`` is the host, as the settings say or as has turned out."""
        return self.provider == "cpu" or self.automatic in _hosts

    @property
    def is_open(self) -> bool:
        """Whether no GPU was looked for yet, and one is to be only once the program has computed for long."""
        return self.provider == "auto" and not (self.software or self.offload == "always" or recording.gpu)

    @property
    def automatic(self) -> tuple[str, bool]:
        """The settings on which it depends what the device ``"auto"`` is."""
        return self.provider, self.software


#: The settings with which the device ``"auto"`` has turned out to be the host. To look for GPUs may take a second.
_hosts: Final[set[tuple[str, bool]]] = set()
FIELDS: Final = {f.name: f for f in fields(Config)}
_BOOLEANS: Final[Mapping[str, bool]] = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False,
                                        "no": False, "off": False, "": False}  # fmt: skip

#: Checks of other modules, by setting: each returns why a value is not accepted, or an empty string.
checks: Final[dict[str, Callable[[Any], str]]] = {}


def note_host(automatic: tuple[str, bool]) -> None:
    """Note that the device ``"auto"`` is the host with these values of :attr:`Config.automatic`."""
    _hosts.add(automatic)


def checked(name: str, value: Any, origin: str) -> Any:
    """Return a value in the type of a setting.

    Parameters
    ----------
    name : str
        The setting.
    value : object
        The value; text is read as in environment variables.
    origin : str
        What gives it, for errors.

    Raises
    ------
    ConfigurationError
        If there is no such setting, or the value is not accepted.
    """
    if name not in FIELDS:
        raise ConfigurationError(f"unknown setting {name!r}; the settings are {', '.join(FIELDS)}")
    setting = FIELDS[name]
    kind: type[Any] = type(setting.default)
    if isinstance(value, str) and kind is bool:
        if value.strip().lower() not in _BOOLEANS:
            raise ConfigurationError(f"{origin} is {value!r}; expected 0 or 1")
        value = _BOOLEANS[value.strip().lower()]
    elif isinstance(value, str) and kind is int:
        try:
            value = int(value)
        except ValueError:
            raise ConfigurationError(f"{origin} is {value!r}; expected an integer") from None
    if kind is str and not isinstance(value, str):
        value = str(value)
    if not isinstance(value, kind) and not (kind is bool and isinstance(value, int)):
        raise ConfigurationError(f"{origin} is {value!r}; expected a value of type {kind.__name__}")
    if kind is int and int(value) < 0:
        raise ConfigurationError(f"{origin} is {value!r}; it must not be negative")
    accepted = setting.metadata.get("accepted")
    if accepted and value not in accepted:
        raise ConfigurationError(f"{origin} is {value!r}; expected one of {', '.join(map(repr, accepted))}")
    reason = checks[name](value) if name in checks else ""
    if reason:
        raise ConfigurationError(f"{origin} is {value!r}; {reason}")
    return kind(value)


def environment_name(name: str) -> str:
    """Return the name of the environment variable of the field ``name``."""
    return _PREFIX + name.upper()
