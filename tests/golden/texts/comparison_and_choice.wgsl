// workgroups 5x1x1
// map_greater_negative_where
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const magnitude_bits_f32 = 0x7fffffffu;
fn magnitude_f32(x: f32) -> u32 { return bitcast<u32>(x) & magnitude_bits_f32; }
const sign_bit_f32 = 0x80000000u;
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= sign_bit_f32; }
fn order_f32(x: f32) -> i32 {
  let magnitude = i32(magnitude_f32(x));
  return select(magnitude, -magnitude, signbit_f32(x));
}
const infinity_bits_f32 = 0x7f800000u;
fn isnan_f32(x: f32) -> bool { return magnitude_f32(x) > infinity_bits_f32; }
fn comparable_f32(x: f32, y: f32) -> bool { return !isnan_f32(x) && !isnan_f32(y); }
fn less_f32(x: f32, y: f32) -> bool { return order_f32(x) < order_f32(y) && comparable_f32(x, y); }
fn greater_f32(x: f32, y: f32) -> bool { return less_f32(y, x); }
fn negative_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ sign_bit_f32); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one1: f32 = bitcast<f32>(parameters.words[0].z);
  let w0 = input0[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v2_0: bool = greater_f32(v0_0, one1);
  let v2_1: bool = greater_f32(v0_1, one1);
  let v2_2: bool = greater_f32(v0_2, one1);
  let v2_3: bool = greater_f32(v0_3, one1);
  let v3_0: f32 = negative_f32(v0_0);
  let v3_1: f32 = negative_f32(v0_1);
  let v3_2: f32 = negative_f32(v0_2);
  let v3_3: f32 = negative_f32(v0_3);
  let v4_0: f32 = select(v3_0, v0_0, v2_0);
  let v4_1: f32 = select(v3_1, v0_1, v2_1);
  let v4_2: f32 = select(v3_2, v0_2, v2_2);
  let v4_3: f32 = select(v3_3, v0_3, v2_3);
  output0[first / 4u] = vec4<f32>(v4_0, v4_1, v4_2, v4_3);
}
