"""Programs written by hand, for tests of what runs them on a wgpu device."""

import numpy as np

from gpuarray.codegen.programs import Binding, Launch


def kernel(vectors, body):
    return f"@group(0) @binding(0) var<uniform> words: array<vec4<u32>, {vectors}>;\n{body}"


ADD = kernel(
    1,
    """
@group(0) @binding(1) var<storage, read> left: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> right: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> result: array<vec4<f32>>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < words[0].x) { result[id.x] = left[id.x] + bitcast<f32>(words[0].y) * right[id.x]; }
}
""",
)
DUMP = kernel(
    2,
    """
@group(0) @binding(1) var<storage, read_write> result: array<vec4<u32>>;
@compute @workgroup_size(1) fn main() { result[0] = words[0]; result[1] = words[1]; }
""",
)
FILL = kernel(
    1,
    """
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < words[0].x) { result[id.x] = words[0].y + id.x; }
}
""",
)


def add_launch(count, left=("input", 0), right=("input", 1), result=("output", 0), offset=0, factor=1.0):
    """result = left + factor * right over ``count`` elements, a multiple of 4."""
    nbytes = 4 * count
    windows = tuple(
        Binding(kind, slot, offset, nbytes, writable)
        for (kind, slot), writable in ((left, False), (right, False), (result, True))
    )
    factor_bits = int(np.float32(factor).view(np.uint32))
    return Launch(ADD, "add", windows, (count // 4, factor_bits, 0, 0), (), (-(-count // 256), 1, 1))


def upload(provider, array):
    buffer = provider.allocate(array.nbytes)
    provider.write(buffer, array)
    return buffer


def download(provider, buffer, count, dtype):
    array = np.empty(count, dtype)
    provider.read(buffer, array)
    return array
