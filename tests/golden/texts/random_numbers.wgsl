// step 0: reads [], writes [0]
//   loop 0+1
//   %0:f:float32 = index random_uniform c [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
//   store 0:float32 %0 f c

// workgroups: 1 x 1 x 1
// library: Block_4x64, vec8_uniform_f32
// in range: no index is out of bounds
// map_random_uniform
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 2048u + local * 8u;
  if (first >= parameters.words[0].y) { return; }
  let i0 = first;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let i4 = min(first + 4u, parameters.words[0].y - 1u);
  let i5 = min(first + 5u, parameters.words[0].y - 1u);
  let i6 = min(first + 6u, parameters.words[0].y - 1u);
  let i7 = min(first + 7u, parameters.words[0].y - 1u);
  let eight0 = vec8_uniform_f32(i0, vec4<u32>(parameters.words[0].z, parameters.words[0].w, parameters.words[1].x, parameters.words[1].y), Block_4x64(vec4<u32>(parameters.words[1].z, parameters.words[1].w, parameters.words[2].x, parameters.words[2].y), vec4<u32>(parameters.words[2].z, parameters.words[2].w, parameters.words[3].x, parameters.words[3].y)), parameters.words[3].z, parameters.words[3].w, parameters.words[4].x);
  let v0_0: f32 = eight0.low.x;
  let v0_1: f32 = eight0.low.y;
  let v0_2: f32 = eight0.low.z;
  let v0_3: f32 = eight0.low.w;
  let v0_4: f32 = eight0.high.x;
  let v0_5: f32 = eight0.high.y;
  let v0_6: f32 = eight0.high.z;
  let v0_7: f32 = eight0.high.w;
  output0[first / 4u] = vec4<f32>(v0_0, v0_1, v0_2, v0_3);
  output0[first / 4u + 1u] = vec4<f32>(v0_4, v0_5, v0_6, v0_7);
}
