"""Compiles the operators of small arrays when the package is built, if there is a compiler.

Without one, or if compiling fails, the package is complete too: the methods in Python have the same results.
"""

import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("gpuarray/array/_compiled.c")


class CompiledOperators(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Builds the extension module beside its source, where an editable installation finds it, too."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and add the module to the wheel, which is then for this platform and this version of Python."""
        if self.target_name != "wheel" or sys.implementation.name != "cpython":
            return
        try:
            made = self._compile()
        except Exception as error:  # a compiler fails in many ways
            self.app.display_warning(f"{SOURCE} was not compiled, so operators of small arrays take longer: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(made.as_posix())

    def _compile(self) -> Path:
        # imported here because the source distribution is built without them
        import numpy as np
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext

        name = SOURCE.with_suffix("").as_posix().replace("/", ".")
        headers = [str(header) for header in (Path(self.root) / SOURCE.parent).glob("*.h")]
        extension = Extension(name, [SOURCE.as_posix()], include_dirs=[np.get_include()], depends=headers)
        with chdir(self.root), TemporaryDirectory() as folder:
            command = build_ext(Distribution({"ext_modules": [extension]}))
            command.inplace = True
            command.build_temp = command.build_lib = folder
            command.ensure_finalized()
            command.run()
            return Path(command.get_ext_fullpath(name)).resolve().relative_to(Path(self.root).resolve())
