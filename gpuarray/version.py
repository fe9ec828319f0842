"""The version of this package, which also identifies its records in the disk cache."""

from typing import Final

__version__: Final = "0.1.0"
