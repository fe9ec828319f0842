// step 0: reads [0, 1, 3], writes [4]
//   loop 0+2
//   %0:f:float32 = load 0 c
//   %1:f:float32 = load 1 s2
//   %2:f:float32 = multiply %0:float32 %1:float32
//   %3:f:float32 = load 2 s2
//   %4:f:float32 = add %2:float32 %3:float32
//   store 0:float32 %4 f c

// workgroups: 5 x 1 x 1
// library: add_f32, multiply_f32
// in range: no index is out of bounds
// map_multiply_add
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> input2: array<f32>;
@group(0) @binding(4) var<storage, read_write> output0: array<vec4<f32>>;
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
  let w0 = input0[first / 4u];
  let w1 = input1[(parameters.words[0].w + c0_1 * parameters.words[1].x) / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v1_0: f32 = w1.x;
  let v1_1: f32 = w1.y;
  let v1_2: f32 = w1.z;
  let v1_3: f32 = w1.w;
  let v3_0: f32 = input2[parameters.words[1].y + c0_0 * parameters.words[1].z];
  let v3_1: f32 = v3_0;
  let v3_2: f32 = v3_0;
  let v3_3: f32 = v3_0;
  let v2_0: f32 = multiply_f32(v0_0, v1_0);
  let v2_1: f32 = multiply_f32(v0_1, v1_1);
  let v2_2: f32 = multiply_f32(v0_2, v1_2);
  let v2_3: f32 = multiply_f32(v0_3, v1_3);
  let v4_0: f32 = add_f32(v2_0, v3_0);
  let v4_1: f32 = add_f32(v2_1, v3_1);
  let v4_2: f32 = add_f32(v2_2, v3_2);
  let v4_3: f32 = add_f32(v2_3, v3_3);
  output0[first / 4u] = vec4<f32>(v4_0, v4_1, v4_2, v4_3);
}
