// step 0: reads [0], writes [3]
//   loop 0+1
//   %0:f:complex64 = load 0 c
//   %1:f:complex64 = multiply %0:complex64 %0:complex64
//   %2:u:complex64 = scalar 0
//   %3:f:complex64 = add %1:complex64 %2:complex64
//   store 0:complex64 %3 f c

// workgroups: 1 x 1 x 1
// library: multiply_c64, opaque_c64
// in range: no index is out of bounds
// map_multiply_add
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec2<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let one2: vec2<f32> = vec2<f32>(bitcast<f32>(parameters.words[0].z), bitcast<f32>(parameters.words[0].w));
  let i0 = first;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let v0_0: vec2<f32> = input0[i0];
  let v0_1: vec2<f32> = input0[i1];
  let v0_2: vec2<f32> = input0[i2];
  let v0_3: vec2<f32> = input0[i3];
  let v1_0: vec2<f32> = multiply_c64(v0_0, v0_0);
  let v1_1: vec2<f32> = multiply_c64(v0_1, v0_1);
  let v1_2: vec2<f32> = multiply_c64(v0_2, v0_2);
  let v1_3: vec2<f32> = multiply_c64(v0_3, v0_3);
  let v3_0: vec2<f32> = opaque_c64(v1_0 + one2);
  let v3_1: vec2<f32> = opaque_c64(v1_1 + one2);
  let v3_2: vec2<f32> = opaque_c64(v1_2 + one2);
  let v3_3: vec2<f32> = opaque_c64(v1_3 + one2);
  output0[i0] = v3_0;
  if (first + 256u < parameters.words[0].y) { output0[i1] = v3_1; }
  if (first + 512u < parameters.words[0].y) { output0[i2] = v3_2; }
  if (first + 768u < parameters.words[0].y) { output0[i3] = v3_3; }
}
