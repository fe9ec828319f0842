// step 0: reads [0, 2], writes [3]
//   loop 0+1
//   %0:f:int8 = load 0 c
//   %1:f:int8 = load 1 c
//   %2:f:int8 = add %0:int8 %1:int8
//   store 0:int8 %2 f c

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
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
  let i0 = first;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let w1 = input1[first / 4u];
  let v0_0: i32 = ((bitcast<i32>((input0[(i0 + parameters.words[0].z) >> 2u] >> (((i0 + parameters.words[0].z) & 3u) * 8u))) << 24u) >> 24u);
  let v0_1: i32 = ((bitcast<i32>((input0[(i1 + parameters.words[0].z) >> 2u] >> (((i1 + parameters.words[0].z) & 3u) * 8u))) << 24u) >> 24u);
  let v0_2: i32 = ((bitcast<i32>((input0[(i2 + parameters.words[0].z) >> 2u] >> (((i2 + parameters.words[0].z) & 3u) * 8u))) << 24u) >> 24u);
  let v0_3: i32 = ((bitcast<i32>((input0[(i3 + parameters.words[0].z) >> 2u] >> (((i3 + parameters.words[0].z) & 3u) * 8u))) << 24u) >> 24u);
  let v1_0: i32 = ((bitcast<i32>((w1 >> 0u)) << 24u) >> 24u);
  let v1_1: i32 = ((bitcast<i32>((w1 >> 8u)) << 24u) >> 24u);
  let v1_2: i32 = ((bitcast<i32>((w1 >> 16u)) << 24u) >> 24u);
  let v1_3: i32 = ((bitcast<i32>((w1 >> 24u)) << 24u) >> 24u);
  let v2_0: i32 = ((((v0_0 + v1_0)) << 24u) >> 24u);
  let v2_1: i32 = ((((v0_1 + v1_1)) << 24u) >> 24u);
  let v2_2: i32 = ((((v0_2 + v1_2)) << 24u) >> 24u);
  let v2_3: i32 = ((((v0_3 + v1_3)) << 24u) >> 24u);
  output0[first / 4u] = ((bitcast<u32>(v2_0) & 0xffu) << 0u) | ((bitcast<u32>(v2_1) & 0xffu) << 8u) | ((bitcast<u32>(v2_2) & 0xffu) << 16u) | ((bitcast<u32>(v2_3) & 0xffu) << 24u);
}
