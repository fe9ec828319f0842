"""A pytest plugin under which launches use the public interface of wgpu-py: no release of it counts as tested."""

from gpuarray.providers.wgpu import native

native.TESTED = (0, 0)
