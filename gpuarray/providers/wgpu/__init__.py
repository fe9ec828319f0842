"""The wgpu provider: runs steps as WGSL kernels on Vulkan, Metal or DirectX 12."""
