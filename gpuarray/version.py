"""The version of this package: what records of earlier ones are told from."""

from typing import Final

__version__: Final = "0.1.0"
