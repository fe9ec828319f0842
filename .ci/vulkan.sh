#!/bin/sh
# Makes sure that wgpu finds a device that is not OpenGL: vulkan.sh PYTHON. On Linux a machine without a GPU gets
# Mesa's llvmpipe, from mesa-vulkan-drivers, if apt is usable.
set -eu
python=$1

found() {
  "$python" - 2>/dev/null <<'END'
import sys

import wgpu

backends = {adapter.info["backend_type"] for adapter in wgpu.gpu.enumerate_adapters_sync()}
sys.exit(not backends & {"Vulkan", "Metal", "D3D12"})
END
}

if found; then
  exit 0
fi
sh "$(dirname "$0")/apt.sh" mesa-vulkan-drivers "wgpu finds no Vulkan device, which the tests need"
if ! found; then
  echo "wgpu still finds no Vulkan device. What it says:" >&2
  "$python" -c 'import wgpu; print([adapter.summary for adapter in wgpu.gpu.enumerate_adapters_sync()])' >&2
  exit 1
fi
