// step 0: reads [0], writes [8]
//   copy int16
// step 1: reads [8], writes [8]
//   loop 0+1 input 0 is output 0
//   %0:f:int16 = load 0 s1
//   %1:u:int16 = scalar 0
//   %2:f:int16 = add %0:int16 %1:int16
//   store 0:int16 %2 f s1
// step 2: reads [8], writes [7]
//   loop 0+1
//   %0:f:int16 = load 0 c
//   %1:f:int16 = load 0 c
//   %2:f:int16 = add %0:int16 %1:int16
//   store 0:int16 %2 f c
// step 3: reads [7], writes [8]
//   loop 0+1
//   %0:f:int16 = load 0 c
//   store 0:int16 %0 f c

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// copy_int16
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let i = block * 256u + local;
  if (i < parameters.words[0].y) { output0[i] = input0[i]; }
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// map_add
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let one1: i32 = bitcast<i32>(parameters.words[0].z);
  let i0 = first;
  let c0_0 = i0;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let c1_0 = i1;
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let c2_0 = i2;
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let c3_0 = i3;
  let v0_0: i32 = ((bitcast<i32>((atomicLoad(&output0[(parameters.words[0].w + c0_0 * parameters.words[1].x) >> 1u]) >> (((parameters.words[0].w + c0_0 * parameters.words[1].x) & 1u) * 16u))) << 16u) >> 16u);
  let v0_1: i32 = ((bitcast<i32>((atomicLoad(&output0[(parameters.words[0].w + c1_0 * parameters.words[1].x) >> 1u]) >> (((parameters.words[0].w + c1_0 * parameters.words[1].x) & 1u) * 16u))) << 16u) >> 16u);
  let v0_2: i32 = ((bitcast<i32>((atomicLoad(&output0[(parameters.words[0].w + c2_0 * parameters.words[1].x) >> 1u]) >> (((parameters.words[0].w + c2_0 * parameters.words[1].x) & 1u) * 16u))) << 16u) >> 16u);
  let v0_3: i32 = ((bitcast<i32>((atomicLoad(&output0[(parameters.words[0].w + c3_0 * parameters.words[1].x) >> 1u]) >> (((parameters.words[0].w + c3_0 * parameters.words[1].x) & 1u) * 16u))) << 16u) >> 16u);
  let v2_0: i32 = ((((v0_0 + one1)) << 16u) >> 16u);
  let v2_1: i32 = ((((v0_1 + one1)) << 16u) >> 16u);
  let v2_2: i32 = ((((v0_2 + one1)) << 16u) >> 16u);
  let v2_3: i32 = ((((v0_3 + one1)) << 16u) >> 16u);
  atomicAnd(&output0[(parameters.words[1].y + c0_0 * parameters.words[1].z) >> 1u], ~(0xffffu << (((parameters.words[1].y + c0_0 * parameters.words[1].z) & 1u) * 16u))); atomicOr(&output0[(parameters.words[1].y + c0_0 * parameters.words[1].z) >> 1u], (bitcast<u32>(v2_0) & 0xffffu) << (((parameters.words[1].y + c0_0 * parameters.words[1].z) & 1u) * 16u));
  if (first + 256u < parameters.words[0].y) { atomicAnd(&output0[(parameters.words[1].y + c1_0 * parameters.words[1].z) >> 1u], ~(0xffffu << (((parameters.words[1].y + c1_0 * parameters.words[1].z) & 1u) * 16u))); atomicOr(&output0[(parameters.words[1].y + c1_0 * parameters.words[1].z) >> 1u], (bitcast<u32>(v2_1) & 0xffffu) << (((parameters.words[1].y + c1_0 * parameters.words[1].z) & 1u) * 16u)); }
  if (first + 512u < parameters.words[0].y) { atomicAnd(&output0[(parameters.words[1].y + c2_0 * parameters.words[1].z) >> 1u], ~(0xffffu << (((parameters.words[1].y + c2_0 * parameters.words[1].z) & 1u) * 16u))); atomicOr(&output0[(parameters.words[1].y + c2_0 * parameters.words[1].z) >> 1u], (bitcast<u32>(v2_2) & 0xffffu) << (((parameters.words[1].y + c2_0 * parameters.words[1].z) & 1u) * 16u)); }
  if (first + 768u < parameters.words[0].y) { atomicAnd(&output0[(parameters.words[1].y + c3_0 * parameters.words[1].z) >> 1u], ~(0xffffu << (((parameters.words[1].y + c3_0 * parameters.words[1].z) & 1u) * 16u))); atomicOr(&output0[(parameters.words[1].y + c3_0 * parameters.words[1].z) >> 1u], (bitcast<u32>(v2_3) & 0xffffu) << (((parameters.words[1].y + c3_0 * parameters.words[1].z) & 1u) * 16u)); }
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// map_add
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec2<u32>>;
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
  let v0_0: i32 = ((bitcast<i32>((input0[(i0) >> 1u] >> (((i0) & 1u) * 16u))) << 16u) >> 16u);
  let v0_1: i32 = ((bitcast<i32>((input0[(i1) >> 1u] >> (((i1) & 1u) * 16u))) << 16u) >> 16u);
  let v0_2: i32 = ((bitcast<i32>((input0[(i2) >> 1u] >> (((i2) & 1u) * 16u))) << 16u) >> 16u);
  let v0_3: i32 = ((bitcast<i32>((input0[(i3) >> 1u] >> (((i3) & 1u) * 16u))) << 16u) >> 16u);
  let v1_0: i32 = ((bitcast<i32>((input0[(i0 + parameters.words[0].z) >> 1u] >> (((i0 + parameters.words[0].z) & 1u) * 16u))) << 16u) >> 16u);
  let v1_1: i32 = ((bitcast<i32>((input0[(i1 + parameters.words[0].z) >> 1u] >> (((i1 + parameters.words[0].z) & 1u) * 16u))) << 16u) >> 16u);
  let v1_2: i32 = ((bitcast<i32>((input0[(i2 + parameters.words[0].z) >> 1u] >> (((i2 + parameters.words[0].z) & 1u) * 16u))) << 16u) >> 16u);
  let v1_3: i32 = ((bitcast<i32>((input0[(i3 + parameters.words[0].z) >> 1u] >> (((i3 + parameters.words[0].z) & 1u) * 16u))) << 16u) >> 16u);
  let v2_0: i32 = ((((v0_0 + v1_0)) << 16u) >> 16u);
  let v2_1: i32 = ((((v0_1 + v1_1)) << 16u) >> 16u);
  let v2_2: i32 = ((((v0_2 + v1_2)) << 16u) >> 16u);
  let v2_3: i32 = ((((v0_3 + v1_3)) << 16u) >> 16u);
  output0[first / 4u] = vec2<u32>(((bitcast<u32>(v2_0) & 0xffffu) | ((bitcast<u32>(v2_1) & 0xffffu) << 16u)), ((bitcast<u32>(v2_2) & 0xffffu) | ((bitcast<u32>(v2_3) & 0xffffu) << 16u)));
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// map_copy
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<atomic<u32>>;
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
  let w0 = input0[first / 4u];
  let v0_0: u32 = ((w0.x >> 0u) & 0xffffu);
  let v0_1: u32 = ((w0.x >> 16u) & 0xffffu);
  let v0_2: u32 = ((w0.y >> 0u) & 0xffffu);
  let v0_3: u32 = ((w0.y >> 16u) & 0xffffu);
  atomicAnd(&output0[(i0 + parameters.words[0].z) >> 1u], ~(0xffffu << (((i0 + parameters.words[0].z) & 1u) * 16u))); atomicOr(&output0[(i0 + parameters.words[0].z) >> 1u], (v0_0 & 0xffffu) << (((i0 + parameters.words[0].z) & 1u) * 16u));
  if (first + 1u < parameters.words[0].y) { atomicAnd(&output0[(i1 + parameters.words[0].z) >> 1u], ~(0xffffu << (((i1 + parameters.words[0].z) & 1u) * 16u))); atomicOr(&output0[(i1 + parameters.words[0].z) >> 1u], (v0_1 & 0xffffu) << (((i1 + parameters.words[0].z) & 1u) * 16u)); }
  if (first + 2u < parameters.words[0].y) { atomicAnd(&output0[(i2 + parameters.words[0].z) >> 1u], ~(0xffffu << (((i2 + parameters.words[0].z) & 1u) * 16u))); atomicOr(&output0[(i2 + parameters.words[0].z) >> 1u], (v0_2 & 0xffffu) << (((i2 + parameters.words[0].z) & 1u) * 16u)); }
  if (first + 3u < parameters.words[0].y) { atomicAnd(&output0[(i3 + parameters.words[0].z) >> 1u], ~(0xffffu << (((i3 + parameters.words[0].z) & 1u) * 16u))); atomicOr(&output0[(i3 + parameters.words[0].z) >> 1u], (v0_3 & 0xffffu) << (((i3 + parameters.words[0].z) & 1u) * 16u)); }
}
