"""Every switch, in one dataclass; nothing else reads the environment.

A setting's value is, in this order: what an enclosing ``with gpuarray.using(...)`` says; what was assigned to
``gpuarray.config.<field>``; the environment variable ``GPUARRAY_<FIELD>``; the default.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import platformdirs

from gpuarray.errors import ConfigurationError

_PREFIX: Final = "GPUARRAY_"


def _choice(*accepted: str) -> dict[str, Any]:
    return {"accepted": accepted}


def _setting(default: Any, doc: str, **metadata: Any) -> Any:
    return field(default=default, metadata={"doc": doc, **metadata})


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of this package; read them as attributes of ``gpuarray.config``."""

    device: str = _setting("auto", "Device of new arrays: `auto`, `cpu`, `wgpu` or `wgpu:N`.")
    provider: str = _setting(
        "auto",
        "What the device `auto` means: `auto` (hardware GPU where there is one, else in-process), or a provider's "
        "name.",
    )
    fallback: str = _setting(
        "allow",
        "What happens when a step must run on the host although its device is another: `allow` (and count), `warn` "
        "(once a line of the program), or `error`.",
        **_choice("allow", "warn", "error"),
    )
    transfer: str = _setting(
        "allow",
        "What happens when a conversion such as `np.asarray(x)` or `float(x)` reads elements of a device: `allow` (and "
        "count), `warn` (once a line of the program), or `error`.",
        **_choice("allow", "warn", "error"),
    )
    fuse: bool = _setting(True, "Fuse operations into as few kernels as possible; off runs one step an operation.")
    math: str = _setting(
        "precise",
        "Functions of float32 on a GPU: `precise` (within 2 units in the last place, special values as NumPy), or "
        "`fast`, the driver's own `exp`, `log`, `sin`, `cos`, `tan`, `sqrt` and division, which may err in many digits "
        "and go wrong for NaN, infinities and large arguments.",
        **_choice("precise", "fast"),
    )
    subnormals: str = _setting(
        "keep",
        "Elementwise sums, differences and products of float32 and complex64 that are or take subnormal numbers, on a "
        "GPU that takes these for 0 (NVIDIA's do): `keep`, which rounds them as NumPy does, or `flush`, which saves a "
        "few instructions. Other functions keep subnormal numbers in any case, sums over axes and products of matrices "
        "in none.",
        **_choice("flush", "keep"),
    )
    debug: int = _setting(
        0,
        "How much the logger `gpuarray` is told, on stderr unless the program set up logging: 1 devices and fallbacks, "
        "2 a line for each step and launch, 3 also why each step runs where it runs, 4 also its WGSL.",
    )
    origins: bool = _setting(
        True, "Remember the line of the program that recorded each operation, for `explain`, `profile` and errors."
    )
    verify: bool = _setting(False, "Check every graph and plan against its invariants before it runs.")
    default_float: str = _setting(
        "float64",
        "Dtype of floating-point arrays whose dtype is not given: `float64` as NumPy, or `float32`.",
        **_choice("float64", "float32"),
    )
    strict_array_api: bool = _setting(
        False,
        "Behave as the Array API standard says where NumPy does more, or otherwise: operators and functions of this "
        "namespace refuse dtypes that the standard's do not take and promotions between kinds of dtypes, and "
        "`floor_divide`, complex `expm1` and complex `tanh` have the standard's values at infinities.",
    )
    check_indices: bool = _setting(
        True,
        "Check integer-array indices that live on a device at the line that uses them, which reads back eight bytes; "
        "off clamps them instead.",
    )
    offload: str = _setting(
        "auto",
        "Where steps of the device `auto` run, if it has a GPU: `auto` (where all of a plan is estimated to take the "
        "least time, transfers included), `always` (on the GPU), or `never`.",
        **_choice("auto", "always", "never"),
    )
    calibration: str = _setting(
        "auto",
        "Where estimates come from: `auto` (rates measured at the first use of the device `auto`, and kept in the "
        "cache folder), or `off` (rates of a common machine).",
        **_choice("auto", "off"),
    )
    warm_up: bool = _setting(
        False, "When a GPU is opened, compile in the background the kernels that earlier runs with this setting used."
    )
    autotune: str = _setting(
        "cached",
        "Which tiles products of matrices take on a GPU: `cached` (those that `python -m gpuarray calibrate --tune` "
        "found, if it ran), `on` (found with the first calibration, in some seconds), or `off` (those of a common "
        "machine).",
        **_choice("cached", "on", "off"),
    )
    refine: bool = _setting(True, "Correct estimates by what steps are seen to take.")
    memory_limit: int = _setting(0, "Bytes that buffers of one device may take, pooled ones included; 0 is no limit.")
    pending_limit: int = _setting(128, "Depth of the pending graph at which it is evaluated without being asked.")
    cache_dir: str = _setting("", "Folder of files kept between runs; empty is the platform's cache folder.")
    power_preference: str = _setting(
        "high-performance",
        "Which GPU `wgpu` prefers: `high-performance` or `low-power`.",
        **_choice("high-performance", "low-power"),
    )
    adapter: str = _setting(
        "", "Part of an adapter's name, to choose among several GPUs; empty takes the preferred one."
    )
    software: bool = _setting(False, "Let the device `auto` take a software Vulkan device, such as llvmpipe.")
    threads: int = _setting(0, "Threads that compute in-process and copy big arrays, at most; 0 is one a core.")

    def cache_folder(self) -> Path:
        """Return the folder of files kept between runs; it need not exist yet."""
        return Path(self.cache_dir) if self.cache_dir else Path(platformdirs.user_cache_dir("gpuarray-xp", False))


_FIELDS: Final = {f.name: f for f in fields(Config)}
_BOOLEANS: Final[Mapping[str, bool]] = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False,
                                        "no": False, "off": False, "": False}  # fmt: skip


def _checked(name: str, value: Any, origin: str) -> Any:
    if name not in _FIELDS:
        raise ConfigurationError(f"there is no setting {name!r}; the settings are {', '.join(_FIELDS)}")
    setting = _FIELDS[name]
    kind: type[Any] = type(setting.default)
    if isinstance(value, str) and kind is bool:
        if value.strip().lower() not in _BOOLEANS:
            raise ConfigurationError(f"{origin} is {value!r}; accepted are 0 and 1")
        value = _BOOLEANS[value.strip().lower()]
    elif isinstance(value, str) and kind is int:
        try:
            value = int(value)
        except ValueError:
            raise ConfigurationError(f"{origin} is {value!r}; an integer is accepted") from None
    if kind is str and not isinstance(value, str):
        value = str(value)
    if not isinstance(value, kind) and not (kind is bool and isinstance(value, int)):
        raise ConfigurationError(f"{origin} is {value!r}; a value of type {kind.__name__} is accepted")
    if kind is int and int(value) < 0:
        raise ConfigurationError(f"{origin} is {value!r}; it cannot be negative")
    accepted = setting.metadata.get("accepted")
    if accepted and value not in accepted:
        raise ConfigurationError(f"{origin} is {value!r}; accepted are {', '.join(map(repr, accepted))}")
    return kind(value)


def environment_name(name: str) -> str:
    """Return the environment variable that sets the field ``name``."""
    return _PREFIX + name.upper()


def from_environment(environ: Mapping[str, str]) -> Config:
    """Return the configuration that environment variables give.

    Raises
    ------
    ConfigurationError
        If a variable's value is not accepted.
    """
    given = {name: environ[environment_name(name)] for name in _FIELDS if environment_name(name) in environ}
    return Config(**{name: _checked(name, value, environment_name(name)) for name, value in given.items()})


class _Strictness:
    """Whether ``strict_array_api`` was on anywhere yet: asked for every operation, as to read a setting costs more."""

    __slots__ = ("possible",)

    def __init__(self) -> None:
        self.possible = False


strictness: Final = _Strictness()


class _Offloading:
    """Whether ``offload`` was something else than "auto" anywhere yet, for the same reason."""

    __slots__ = ("is_chosen",)

    def __init__(self) -> None:
        self.is_chosen = False


offloading: Final = _Offloading()


class _Recording:
    """Whether operations remember their lines: a copy of ``origins`` as it was last set, for the same reason."""

    __slots__ = ("origins",)

    def __init__(self) -> None:
        self.origins = True


recording: Final = _Recording()


class Settings:
    """The current configuration: attributes are read and assigned; a ``using`` block has precedence."""

    __slots__ = ("_assigned", "_base", "_scoped")

    def __init__(self, base: Config) -> None:
        object.__setattr__(self, "_base", base)
        object.__setattr__(self, "_assigned", set())
        object.__setattr__(self, "_scoped", ContextVar("gpuarray_config", default=None))
        self._note(base)

    @staticmethod
    def _note(settings: Config) -> Config:
        strictness.possible |= settings.strict_array_api
        offloading.is_chosen |= settings.offload != "auto"
        recording.origins = settings.origins
        return settings

    @property
    def current(self) -> Config:
        """The configuration in force here, as one immutable value."""
        scoped: Config | None = self._scoped.get()
        return self._base if scoped is None else scoped

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(f"there is no setting {name!r}; the settings are {', '.join(_FIELDS)}")
        return getattr(self.current, name)

    def __setattr__(self, name: str, value: Any) -> None:
        changed = {name: _checked(name, value, f"config.{name}")}
        object.__setattr__(self, "_base", self._note(replace(self._base, **changed)))
        self._assigned.add(name)
        scoped = self._scoped.get()
        if scoped is not None:
            self._scoped.set(replace(scoped, **changed))

    def source_of(self, name: str) -> str:
        """Return where the value of a setting comes from: ``"using"``, ``"assigned"``, the variable, ``"default"``."""
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
        """Set fields for the duration of a ``with`` block, in this thread or task.

        Parameters
        ----------
        **settings
            Fields of :class:`Config` and their values.

        Raises
        ------
        ConfigurationError
            If a name is no setting, or a value is not accepted.
        """
        changed = {name: _checked(name, value, f"setting {name!r}") for name, value in settings.items()}
        token = self._scoped.set(self._note(replace(self.current, **changed)))
        try:
            yield self.current
        finally:
            self._scoped.reset(token)
            self._note(self.current)


config: Final = Settings(from_environment(os.environ))
using = config.using
