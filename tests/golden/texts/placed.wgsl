// step 0: reads [0, 3], writes [4, 6]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   %1:u:float32 = scalar 0
//   %2:f:float32 = multiply %0:float32 %1:float32
//   %3:f:int32 = load 1 c
//   %4:f:uint8 = cast %0:float32
//   store 0:float32 %2 f at %3
//   store 1:uint8 %4 f at %3

// workgroups: 5 x 1 x 1
// library: i32_from_f32, multiply_f32
// in range: no index is out of bounds
// map_multiply_cast
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<i32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
@group(0) @binding(4) var<storage, read_write> output1: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one1: f32 = bitcast<f32>(parameters.words[0].z);
  let i0 = first;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let w0 = input0[first / 4u];
  let w3 = input1[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v3_0: i32 = w3.x;
  let v3_1: i32 = w3.y;
  let v3_2: i32 = w3.z;
  let v3_3: i32 = w3.w;
  let v2_0: f32 = multiply_f32(v0_0, one1);
  let v2_1: f32 = multiply_f32(v0_1, one1);
  let v2_2: f32 = multiply_f32(v0_2, one1);
  let v2_3: f32 = multiply_f32(v0_3, one1);
  let v4_0: u32 = ((u32(i32_from_f32(v0_0))) & 0xffu);
  let v4_1: u32 = ((u32(i32_from_f32(v0_1))) & 0xffu);
  let v4_2: u32 = ((u32(i32_from_f32(v0_2))) & 0xffu);
  let v4_3: u32 = ((u32(i32_from_f32(v0_3))) & 0xffu);
  if (u32(v3_0) < parameters.words[0].w) { output0[u32(v3_0)] = v2_0; }
  if (first + 1u < parameters.words[0].y) { if (u32(v3_1) < parameters.words[0].w) { output0[u32(v3_1)] = v2_1; } }
  if (first + 2u < parameters.words[0].y) { if (u32(v3_2) < parameters.words[0].w) { output0[u32(v3_2)] = v2_2; } }
  if (first + 3u < parameters.words[0].y) { if (u32(v3_3) < parameters.words[0].w) { output0[u32(v3_3)] = v2_3; } }
  if (u32(v3_0) < parameters.words[1].x) { atomicAnd(&output1[(u32(v3_0)) >> 2u], ~(0xffu << (((u32(v3_0)) & 3u) * 8u))); atomicOr(&output1[(u32(v3_0)) >> 2u], (v4_0 & 0xffu) << (((u32(v3_0)) & 3u) * 8u)); }
  if (first + 1u < parameters.words[0].y) { if (u32(v3_1) < parameters.words[1].x) { atomicAnd(&output1[(u32(v3_1)) >> 2u], ~(0xffu << (((u32(v3_1)) & 3u) * 8u))); atomicOr(&output1[(u32(v3_1)) >> 2u], (v4_1 & 0xffu) << (((u32(v3_1)) & 3u) * 8u)); } }
  if (first + 2u < parameters.words[0].y) { if (u32(v3_2) < parameters.words[1].x) { atomicAnd(&output1[(u32(v3_2)) >> 2u], ~(0xffu << (((u32(v3_2)) & 3u) * 8u))); atomicOr(&output1[(u32(v3_2)) >> 2u], (v4_2 & 0xffu) << (((u32(v3_2)) & 3u) * 8u)); } }
  if (first + 3u < parameters.words[0].y) { if (u32(v3_3) < parameters.words[1].x) { atomicAnd(&output1[(u32(v3_3)) >> 2u], ~(0xffu << (((u32(v3_3)) & 3u) * 8u))); atomicOr(&output1[(u32(v3_3)) >> 2u], (v4_3 & 0xffu) << (((u32(v3_3)) & 3u) * 8u)); } }
}
