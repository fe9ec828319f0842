"""All settings, as one dataclass. Only this module reads environment variables.

The value of a setting comes from the first of these that sets it: an enclosing ``with gpuarray.using(...)`` block, an
assignment to ``gpuarray.config.<field>``, the environment variable ``GPUARRAY_<FIELD>``, the default.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import platformdirs

from gpuarray.errors import ConfigurationError
from gpuarray.immediacy import ONE_THREAD, set_common_limit, set_own_limit

_PREFIX: Final = "GPUARRAY_"
#: The most elements of arrays that NumPy computes one by one beside a GPU.
_BESIDE_GPU: Final = 1 << 17


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
        "and fallbacks, 2 also steps and launches, 3 also the reason for the placement of each step, 4 also its WGSL.",
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
        "When a factorisation on a GPU that fails raises its error: `call` (at the line of the call, which waits for "
        "it, as NumPy does), or `read` (when the program next reads a value of a GPU, so that calls do not wait).",
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
        1 << 18,
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

    def immediate_limit(self) -> int:
        """Return the most elements of arrays with which single operations are computed at once; 0 records all."""
        if self.strict_array_api or self.offload == "always":
            return 0
        beside_gpu = not self.is_without_gpu if self.device == "auto" else self.device != "cpu"
        return self.host_limit(beside_gpu=beside_gpu)

    def host_limit(self, *, beside_gpu: bool) -> int:
        """Return the most elements of arrays that NumPy's functions compute one by one.

        Up to 2^18 elements most graphs take less time so than by a plan on the host: the results stay in the caches.
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
        """Whether the device ``"auto"`` has turned out to be the host."""
        return self.automatic in _hosts

    @property
    def automatic(self) -> tuple[str, bool]:
        """The settings on which it depends what the device ``"auto"`` is."""
        return self.provider, self.software


#: The settings with which the device ``"auto"`` has turned out to be the host. To look for GPUs may take a second.
_hosts: Final[set[tuple[str, bool]]] = set()
_FIELDS: Final = {f.name: f for f in fields(Config)}
_BOOLEANS: Final[Mapping[str, bool]] = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False,
                                        "no": False, "off": False, "": False}  # fmt: skip


#: Checks of other modules, by setting: each returns why a value is not accepted, or an empty string.
_checks: Final[dict[str, Callable[[Any], str]]] = {}


def add_check(name: str, check: Callable[[Any], str], present: Callable[[Any], str] | None = None) -> None:
    """Check a setting whenever it is set, by a function that this module cannot import, and check its value now.

    Parameters
    ----------
    name : str
        The setting.
    check : callable
        Returns why a value is not accepted, or an empty string.
    present : callable, optional
        The same for the present value, where the check would take too long for an import.

    Raises
    ------
    ConfigurationError
        If the present value, from an environment variable, is not accepted.
    """
    _checks[name] = present or check
    _checked(name, getattr(config.current, name), environment_name(name))
    _checks[name] = check


def _checked(name: str, value: Any, origin: str) -> Any:
    if name not in _FIELDS:
        raise ConfigurationError(f"unknown setting {name!r}; the settings are {', '.join(_FIELDS)}")
    setting = _FIELDS[name]
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
    reason = _checks[name](value) if name in _checks else ""
    if reason:
        raise ConfigurationError(f"{origin} is {value!r}; {reason}")
    return kind(value)


def environment_name(name: str) -> str:
    """Return the name of the environment variable of the field ``name``."""
    return _PREFIX + name.upper()


def from_environment(environ: Mapping[str, str]) -> Config:
    """Return the configuration that is set by environment variables.

    Raises
    ------
    ConfigurationError
        If the value of a variable is invalid.
    """
    values = {name: environ[environment_name(name)] for name in _FIELDS if environment_name(name) in environ}
    return Config(**{name: _checked(name, value, environment_name(name)) for name, value in values.items()})


class _Strictness:
    """Whether ``strict_array_api`` was ever on. Each operation tests this flag, which is cheaper than a setting.

    ``when_possible`` are functions that are called when it becomes so.
    """

    __slots__ = ("possible", "when_possible")

    def __init__(self) -> None:
        self.possible = False
        self.when_possible: list[Callable[[], None]] = []


strictness: Final = _Strictness()


class _Recording:
    """What each operation asks for, for the same reason.

    Attributes
    ----------
    origins : bool
        Whether operations store their source lines: the last value of the setting.
    counted : int
        The operations of graphs of fewer levels are not too many, whatever the ``pending_limit`` of the thread.
    midsize : bool
        Whether operations on mid-sized arrays are recorded where the device ``"auto"`` may be a GPU.
    """

    __slots__ = ("counted", "midsize", "origins")

    def __init__(self) -> None:
        self.origins = True
        self.counted = 0
        self.midsize = False


recording: Final = _Recording()


@lru_cache(maxsize=64, typed=True)
def _with(settings: Config, names: tuple[str, ...], *values: Any) -> Config:
    """Return settings with other values of some fields."""
    given = zip(names, values, strict=True)
    return replace(settings, **{name: _checked(name, value, f"setting {name!r}") for name, value in given})


class Settings:
    """The current configuration. Its attributes can be read and assigned; a ``using`` block takes precedence."""

    __slots__ = ("_assigned", "_base", "_scoped")

    def __init__(self, base: Config) -> None:
        object.__setattr__(self, "_assigned", set())
        object.__setattr__(self, "_scoped", ContextVar("gpuarray_config", default=None))
        self._assign(base)

    def _note(self, settings: Config) -> None:
        if settings.strict_array_api and not strictness.possible:
            strictness.possible = True
            for function in strictness.when_possible:
                function()
        recording.origins = settings.origins
        recording.counted = min(settings.pending_limit, self._base.pending_limit) // 8

    def _assign(self, base: Config) -> None:
        """Set what holds outside of ``using`` blocks."""
        object.__setattr__(self, "_base", base)
        self._note(base)
        set_common_limit(base.immediate_limit(), base.direct_pinned)

    def _scope(self, scoped: Config | None) -> None:
        """Set what holds in this thread or task; None is what holds outside of ``using`` blocks."""
        self._scoped.set(scoped)
        self._note(self.current)
        set_own_limit(None if scoped is None else (scoped.immediate_limit(), scoped.direct_pinned))

    def note_host(self, automatic: tuple[str, bool]) -> None:
        """Note that the device ``"auto"`` is the host with settings."""
        _hosts.add(automatic)
        self._update_limits()

    def record_midsize(self, on: bool) -> None:
        """Set whether operations on mid-sized arrays are recorded where the device ``"auto"`` may be a GPU."""
        recording.midsize = on
        self._update_limits()

    def _update_limits(self) -> None:
        """Have the limits follow from the settings again: the common one, and that of this thread or task."""
        self._assign(self._base)
        if (scoped := self._scoped.get()) is not None:
            self._scope(scoped)

    @property
    def current(self) -> Config:
        """The configuration of this thread or task, as one immutable value."""
        scoped: Config | None = self._scoped.get()
        return self._base if scoped is None else scoped

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(f"unknown setting {name!r}; the settings are {', '.join(_FIELDS)}")
        return getattr(self.current, name)

    def __setattr__(self, name: str, value: Any) -> None:
        changed = {name: _checked(name, value, f"config.{name}")}
        self._assign(replace(self._base, **changed))
        self._assigned.add(name)
        scoped = self._scoped.get()
        if scoped is not None:
            self._scope(replace(scoped, **changed))

    def source_of(self, name: str) -> str:
        """Return the source of a value: ``"using"``, ``"assigned"``, the environment variable, or ``"default"``."""
        if getattr(self.current, name) != getattr(self._base, name):
            return "using"
        if name in self._assigned:
            return "assigned"
        return environment_name(name) if environment_name(name) in os.environ else "default"

    def __dir__(self) -> list[str]:
        return [*_FIELDS, "current", "source_of"]

    def __repr__(self) -> str:
        return repr(self.current)

    @contextmanager
    def using(self, **settings: Any) -> Iterator[Config]:
        """Set fields for the duration of a ``with`` block, in the current thread or task.

        Parameters
        ----------
        **settings
            Fields of :class:`Config` and their values.

        Raises
        ------
        ConfigurationError
            If a name is not a setting, or a value is invalid.
        """
        outer = self._scoped.get()
        try:
            scoped = _with(self.current, (*settings,), *settings.values())
        except TypeError:  # a value has no hash
            scoped = _with.__wrapped__(self.current, (*settings,), *settings.values())
        self._scope(scoped)
        try:
            yield self.current
        finally:
            self._scope(outer)


config: Final = Settings(from_environment(os.environ))
using = config.using
