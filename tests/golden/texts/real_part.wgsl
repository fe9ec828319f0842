// workgroups 1x1x1
// map_real_multiply
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let one2: f32 = bitcast<f32>(parameters.words[0].z);
  let i0 = first;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let v0_0: vec2<f32> = input0[i0];
  let v0_1: vec2<f32> = input0[i1];
  let v0_2: vec2<f32> = input0[i2];
  let v0_3: vec2<f32> = input0[i3];
  let v1_0: f32 = v0_0.x;
  let v1_1: f32 = v0_1.x;
  let v1_2: f32 = v0_2.x;
  let v1_3: f32 = v0_3.x;
  let v3_0: f32 = multiply_f32(v1_0, one2);
  let v3_1: f32 = multiply_f32(v1_1, one2);
  let v3_2: f32 = multiply_f32(v1_2, one2);
  let v3_3: f32 = multiply_f32(v1_3, one2);
  output0[i0] = v3_0;
  if (first + 256u < parameters.words[0].y) { output0[i1] = v3_1; }
  if (first + 512u < parameters.words[0].y) { output0[i2] = v3_2; }
  if (first + 768u < parameters.words[0].y) { output0[i3] = v3_3; }
}
