// workgroups 1x1x1
// map_multiply_add
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<vec2<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
fn f16_from_bits(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13u)); }
  if (magnitude >= 0x400u) { return bitcast<f32>(sign | ((magnitude << 13u) + 0x38000000u)); }
  return bitcast<f32>(sign | bitcast<u32>(f32(magnitude) * 5.9604644775390625e-08f));
}
fn f16_to_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return sign | 0x7e00u | ((magnitude >> 13u) & 0x3ffu); }
  if (magnitude >= 0x477ff000u) { return sign | 0x7c00u; }
  if (magnitude >= 0x38800000u) {
    let odd = (magnitude >> 13u) & 1u;
    return sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13u);
  }
  if (magnitude < 0x33000000u) { return sign; }
  let shift = 126u - (magnitude >> 23u);
  let significand = (magnitude & 0x7fffffu) | 0x800000u;
  let kept = significand >> shift;
  let lost = significand - (kept << shift);
  let tie = 1u << (shift - 1u);
  return sign | (kept + u32(lost > tie || (lost == tie && (kept & 1u) == 1u)));
}
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
fn round_f16_f32(x: f32) -> f32 { return f16_from_bits(f16_to_bits(x)); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one1: f32 = bitcast<f32>(parameters.words[0].z);
  let w0 = input0[first / 4u];
  let w3 = input1[first / 4u];
  let v0_0: f32 = f16_from_bits((w0.x >> 0u) & 0xffffu);
  let v0_1: f32 = f16_from_bits((w0.x >> 16u) & 0xffffu);
  let v0_2: f32 = f16_from_bits((w0.y >> 0u) & 0xffffu);
  let v0_3: f32 = f16_from_bits((w0.y >> 16u) & 0xffffu);
  let v3_0: f32 = f16_from_bits((w3.x >> 0u) & 0xffffu);
  let v3_1: f32 = f16_from_bits((w3.x >> 16u) & 0xffffu);
  let v3_2: f32 = f16_from_bits((w3.y >> 0u) & 0xffffu);
  let v3_3: f32 = f16_from_bits((w3.y >> 16u) & 0xffffu);
  let v2_0: f32 = round_f16_f32(multiply_f32(v0_0, one1));
  let v2_1: f32 = round_f16_f32(multiply_f32(v0_1, one1));
  let v2_2: f32 = round_f16_f32(multiply_f32(v0_2, one1));
  let v2_3: f32 = round_f16_f32(multiply_f32(v0_3, one1));
  let v4_0: f32 = round_f16_f32(add_f32(v2_0, v3_0));
  let v4_1: f32 = round_f16_f32(add_f32(v2_1, v3_1));
  let v4_2: f32 = round_f16_f32(add_f32(v2_2, v3_2));
  let v4_3: f32 = round_f16_f32(add_f32(v2_3, v3_3));
  output0[first / 4u] = vec2<u32>((f16_to_bits(v4_0) | (f16_to_bits(v4_1) << 16u)), (f16_to_bits(v4_2) | (f16_to_bits(v4_3) << 16u)));
}
