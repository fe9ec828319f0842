// workgroups 1x1x1
// map_add
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read> input1: array<u32>;
@group(0) @binding(3) var<storage, read_write> output0: array<u32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let w0 = input0[first / 4u];
  let w1 = input1[first / 4u];
  let v0_0: u32 = ((w0 >> 0u) & 0xffu);
  let v0_1: u32 = ((w0 >> 8u) & 0xffu);
  let v0_2: u32 = ((w0 >> 16u) & 0xffu);
  let v0_3: u32 = ((w0 >> 24u) & 0xffu);
  let v1_0: u32 = ((w1 >> 0u) & 0xffu);
  let v1_1: u32 = ((w1 >> 8u) & 0xffu);
  let v1_2: u32 = ((w1 >> 16u) & 0xffu);
  let v1_3: u32 = ((w1 >> 24u) & 0xffu);
  let v2_0: u32 = (((v0_0 + v1_0)) & 0xffu);
  let v2_1: u32 = (((v0_1 + v1_1)) & 0xffu);
  let v2_2: u32 = (((v0_2 + v1_2)) & 0xffu);
  let v2_3: u32 = (((v0_3 + v1_3)) & 0xffu);
  output0[first / 4u] = ((v2_0 & 0xffu) << 0u) | ((v2_1 & 0xffu) << 8u) | ((v2_2 & 0xffu) << 16u) | ((v2_3 & 0xffu) << 24u);
}
