// step 0: reads [0], writes [3]
//   loop 0+2
//   %0:f:float32 = load 0 s2
//   %1:f:float32 = load 0 s2
//   %2:f:float32 = add %0:float32 %1:float32
//   store 0:float32 %2 f c

// workgroups: 3 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// map_add
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let i0 = first;
  let c0_q1 = i0 / parameters.words[0].z;
  let c0_1 = i0 - c0_q1 * parameters.words[0].z;
  let c0_0 = c0_q1;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let v0_0: f32 = input0[parameters.words[0].w + c0_0 * parameters.words[1].x + c0_1 * parameters.words[1].y];
  let v0_1: f32 = input0[parameters.words[0].w + c0_0 * parameters.words[1].x + (c0_1 + 1u) * parameters.words[1].y];
  let v0_2: f32 = input0[parameters.words[0].w + c0_0 * parameters.words[1].x + (c0_1 + 2u) * parameters.words[1].y];
  let v0_3: f32 = input0[parameters.words[0].w + c0_0 * parameters.words[1].x + (c0_1 + 3u) * parameters.words[1].y];
  let v1_0: f32 = input0[parameters.words[1].z + c0_0 * parameters.words[1].w + c0_1 * parameters.words[2].x];
  let v1_1: f32 = input0[parameters.words[1].z + c0_0 * parameters.words[1].w + (c0_1 + 1u) * parameters.words[2].x];
  let v1_2: f32 = input0[parameters.words[1].z + c0_0 * parameters.words[1].w + (c0_1 + 2u) * parameters.words[2].x];
  let v1_3: f32 = input0[parameters.words[1].z + c0_0 * parameters.words[1].w + (c0_1 + 3u) * parameters.words[2].x];
  let v2_0: f32 = add_f32(v0_0, v1_0);
  let v2_1: f32 = add_f32(v0_1, v1_1);
  let v2_2: f32 = add_f32(v0_2, v1_2);
  let v2_3: f32 = add_f32(v0_3, v1_3);
  output0[first / 4u] = vec4<f32>(v2_0, v2_1, v2_2, v2_3);
}
