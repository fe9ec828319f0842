"""Compiles the extension modules when the package is built, if there is a compiler.

Without one, or if compiling fails, the package is complete too: the methods in Python have the same results.
"""

import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The source of each module, and what takes longer without it.
SOURCES = {
    Path("gpuarray/array/_compiled.c"): "operators of small arrays",
    Path("gpuarray/jit/_compiled.c"): "calls of recorded functions",
    Path("gpuarray/ops/_compiled.c"): "random numbers and orders on the host",
    Path("gpuarray/ops/_chains.c"): "elementwise operations on the host",
}


class ExtensionModules(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Builds the extension modules beside their sources, where an editable installation finds them, too."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add modules to the wheel, which is then for this platform and this version of Python."""
        if self.target_name != "wheel" or sys.implementation.name != "cpython":
            return
        for source, purpose in SOURCES.items():
            try:
                made = self._compile(source)
            except Exception as error:  # a compiler fails in many ways
                self.app.display_warning(f"{source} was not compiled, so {purpose} take longer: {error}")
                continue
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"].append(made.as_posix())

    def _compile(self, source: Path) -> Path:
        # imported here because the source distribution is built without them
        import numpy as np
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext

        name = source.with_suffix("").as_posix().replace("/", ".")
        headers = [str(header) for header in Path(self.root, "gpuarray").rglob("*.h")]
        extension = Extension(name, [source.as_posix()], include_dirs=[np.get_include()], depends=headers)
        with chdir(self.root), TemporaryDirectory() as folder:
            command = build_ext(Distribution({"ext_modules": [extension]}))
            command.inplace = True
            command.build_temp = command.build_lib = folder
            command.ensure_finalized()
            command.run()
            return Path(command.get_ext_fullpath(name)).resolve().relative_to(Path(self.root).resolve())
