"""The exception family.

Every error of this package is a :class:`GpuArrayError` and also the builtin exception that a NumPy user
would expect in the same place. A message says what was given, what is accepted, and what to do.
"""


class GpuArrayError(Exception):
    """Base class of all errors that this package raises on its own account."""


class FallbackError(GpuArrayError, RuntimeError):
    """A step would have run on the host while ``config.fallback`` is ``"error"``."""


class TransferError(GpuArrayError, TypeError):
    """A conversion would have read elements of a device while ``config.transfer`` is ``"error"``."""


class DeviceError(GpuArrayError, RuntimeError):
    """A device cannot be opened, is closed, was lost, or belongs to another process."""


class DeviceMismatchError(GpuArrayError, ValueError):
    """Arrays that are pinned to different devices met in one operation."""


class DeviceMemoryError(GpuArrayError, MemoryError):
    """A device has no memory left, or its memory limit is reached."""


class RecordingError(GpuArrayError, TypeError):
    """A function that is being recorded by ``jit`` asked for something that only a call has, such as a value."""


class ConfigurationError(GpuArrayError, ValueError):
    """A setting has a value outside what is accepted."""


class ReadOnlyError(GpuArrayError, ValueError):
    """A write to an array that is a read-only view, such as the result of ``broadcast_to``."""


class InternalError(GpuArrayError, AssertionError):
    """An invariant of this package does not hold: a bug of it, found because ``config.verify`` is on."""


class FallbackWarning(UserWarning):
    """A step ran on the host; once for each line and function while ``config.fallback`` is ``"warn"``."""


class TransferWarning(UserWarning):
    """A conversion read elements of a device; once for each line while ``config.transfer`` is ``"warn"``."""
