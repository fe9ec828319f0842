// step 0: reads [0, 3], writes [8]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   %1:u:float32 = scalar 0
//   %2:f:float32 = add %0:float32 %1:float32
//   %3:f:float32 = load 1 c
//   %4:u:float32 = scalar 1
//   %5:f:float32 = multiply %3:float32 %4:float32
//   store 0:float32 %2 f c
//   store 0:float32 %5 f c
// step 1: reads [6], writes [8]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   store 0:float32 %0 f c

// workgroups: 5 x 1 x 1
// library: add_f32, multiply_f32
// in range: no index is out of bounds
// map_add_multiply
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one1: f32 = bitcast<f32>(parameters.words[0].z);
  let one4: f32 = bitcast<f32>(parameters.words[0].w);
  let w0 = input0[first / 4u];
  let w3 = input1[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v3_0: f32 = w3.x;
  let v3_1: f32 = w3.y;
  let v3_2: f32 = w3.z;
  let v3_3: f32 = w3.w;
  let v2_0: f32 = add_f32(v0_0, one1);
  let v2_1: f32 = add_f32(v0_1, one1);
  let v2_2: f32 = add_f32(v0_2, one1);
  let v2_3: f32 = add_f32(v0_3, one1);
  let v5_0: f32 = multiply_f32(v3_0, one4);
  let v5_1: f32 = multiply_f32(v3_1, one4);
  let v5_2: f32 = multiply_f32(v3_2, one4);
  let v5_3: f32 = multiply_f32(v3_3, one4);
  output0[first / 4u] = vec4<f32>(v2_0, v2_1, v2_2, v2_3);
  output0[(parameters.words[1].x + first) / 4u] = vec4<f32>(v5_0, v5_1, v5_2, v5_3);
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// map_copy
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let w0 = input0[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  output0[first / 4u] = vec4<f32>(v0_0, v0_1, v0_2, v0_3);
}
