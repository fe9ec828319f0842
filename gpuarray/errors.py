"""The exception family.

Every error of this package is a :class:`GpuArrayError` and also the builtin exception that NumPy raises in the same
situation. Messages state what was given, what is accepted, and what to do.
"""


class GpuArrayError(Exception):
    """Base class of all errors of this package."""


class FallbackError(GpuArrayError, RuntimeError):
    """A step would have to run on the host, and ``config.fallback`` is ``"error"``."""


class TransferError(GpuArrayError, TypeError):
    """An implicit conversion would have to download elements, and ``config.transfer`` is ``"error"``."""


class DeviceError(GpuArrayError, RuntimeError):
    """A device cannot be opened, is closed or lost, or belongs to another process."""


class DeviceMismatchError(GpuArrayError, ValueError):
    """An operation has operands that are pinned to different devices."""


class DeviceMemoryError(GpuArrayError, MemoryError):
    """A device is out of memory, or its memory limit is reached."""


class LostValueError(GpuArrayError, RuntimeError):
    """An update in place was interrupted or failed halfway, and neither the old value nor the new one is left."""


class RecordingError(GpuArrayError, TypeError):
    """A function that ``jit`` records needs something that is known only in each call, such as a value."""


class DerivativeError(GpuArrayError, TypeError):
    """A derivative is needed that is undefined or not implemented, or an argument cannot be differentiated."""


class BatchingError(GpuArrayError, TypeError):
    """A function that ``vmap`` maps reads a value that differs along the batch, or has no batching rule."""


class ConfigurationError(GpuArrayError, ValueError):
    """A setting is unknown or has an invalid value."""


class ReadOnlyError(GpuArrayError, ValueError):
    """The destination of a write is a read-only view, such as the result of ``broadcast_to``."""


class InternalError(GpuArrayError, AssertionError):
    """An invariant of this package is violated, which is a bug. Raised if ``config.verify`` is on."""


class FallbackWarning(UserWarning):
    """A step ran on the host. Issued once per line and function if ``config.fallback`` is ``"warn"``."""


class TransferWarning(UserWarning):
    """An implicit conversion downloaded elements. Issued once per line if ``config.transfer`` is ``"warn"``."""
