"""The values of the settings. Only this module reads environment variables.

The value of a setting comes from the first of these that sets it: an enclosing ``with gpuarray.using(...)`` block, an
assignment to ``gpuarray.config.<field>``, the environment variable ``GPUARRAY_<FIELD>``, the default.
:mod:`gpuarray.settings` lists the settings.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from gpuarray.immediacy import set_common, set_own
from gpuarray.settings import (
    FIELDS,
    Config,
    checked,
    checks,
    environment_name,
    note_host,
    recording,
    strictness,
)


def add_check(name: str, check: Callable[[Any], str], present: Callable[[Any], str]) -> None:
    """Check a setting whenever it is set, by a function that this module cannot import, and check its value now.

    Parameters
    ----------
    name : str
        The setting.
    check : callable
        Returns why a value is not accepted, or an empty string.
    present : callable
        The same for the present value, without what would take too long for an import.

    Raises
    ------
    ConfigurationError
        If the present value, from an environment variable, is not accepted.
    """
    checks[name] = present
    checked(name, getattr(config.current, name), environment_name(name))
    checks[name] = check


def from_environment(environ: Mapping[str, str]) -> Config:
    """Return the configuration that is set by environment variables.

    Raises
    ------
    ConfigurationError
        If the value of a variable is invalid.
    """
    values = {name: environ[environment_name(name)] for name in FIELDS if environment_name(name) in environ}
    return Config(**{name: checked(name, value, environment_name(name)) for name, value in values.items()})


@lru_cache(maxsize=64, typed=True)
def _with(settings: Config, names: tuple[str, ...], *values: Any) -> Config:
    """Return settings with other values of some fields."""
    pairs = zip(names, values, strict=True)
    return replace(settings, **{name: checked(name, value, f"setting {name!r}") for name, value in pairs})


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
        set_common(base.immediacy())

    def _scope(self, scoped: Config | None) -> None:
        """Set what holds in this thread or task; None is what holds outside of ``using`` blocks."""
        self._scoped.set(scoped)
        self._note(self.current)
        set_own(None if scoped is None else scoped.immediacy())

    def note_host(self, automatic: tuple[str, bool]) -> None:
        """Note that the device ``"auto"`` is the host with settings."""
        note_host(automatic)
        self._update_limits()

    def note_gpu(self) -> None:
        """Note that a GPU was opened, or is to be looked for."""
        if not recording.gpu:
            recording.gpu = True
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
        if name not in FIELDS:
            raise AttributeError(f"unknown setting {name!r}; the settings are {', '.join(FIELDS)}")
        return getattr(self.current, name)

    def __setattr__(self, name: str, value: Any) -> None:
        changed = {name: checked(name, value, f"config.{name}")}
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
        return [*FIELDS, "current", "source_of"]

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
