// workgroups 1x1x1
// rows_subtract_square_sum_sqrt pairs
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
const most_moderate_f32 = 1.099511627776e12f;
const least_moderate_f32 = 9.094947017729282e-13f;
fn guard_sqrt_f32(fine: bool, x: f32) -> bool {
  return fine & (x < most_moderate_f32) & (x >= least_moderate_f32);
}
override fused_multiply_add: bool = false;
fn opaque_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + u32(zero_u32()));
}
const upper_half_f32 = 0xfffff000u;
fn product_error_f32(a: f32, b: f32, product: f32) -> f32 {
  if (fused_multiply_add) { return fma(a, b, -product); }
  let a_high = bitcast<f32>(bitcast<u32>(a) & upper_half_f32);
  let b_high = bitcast<f32>(bitcast<u32>(b) & upper_half_f32);
  let a_low = a - a_high;
  let b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}
fn residue_f32(x: f32, a: f32, b: f32) -> f32 {
  if (fused_multiply_add) { return fma(-a, b, x); }
  let product = opaque_f32(a * b);
  return (x - product) - product_error_f32(a, b, product);
}
fn fast_path_sqrt_f32(x: f32) -> f32 {
  let inverse = inverseSqrt(x);
  let half = 0.5f * inverse;
  let estimate = multiply_f32(x, inverse);
  let better = fma(residue_f32(x, estimate, estimate), half, estimate);
  let root = fma(residue_f32(x, better, better), half, better);
  if (fused_multiply_add) { return root; }
  let bits = bitcast<u32>(root);
  let left = residue_f32(x, root, root);
  let above = bitcast<f32>(bits + 1u) - root;
  let below = root - bitcast<f32>(bits - 1u);
  return bitcast<f32>(bits + u32(left > root * above) - u32(left <= -root * below));
}
const magnitude_bits_f32 = 0x7fffffffu;
fn magnitude_f32(x: f32) -> u32 { return bitcast<u32>(x) & magnitude_bits_f32; }
fn truth_f32(x: f32) -> bool { return magnitude_f32(x) != 0; }
const infinity_bits_f32 = 0x7f800000u;
fn isnan_f32(x: f32) -> bool { return magnitude_f32(x) > infinity_bits_f32; }
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= sign_bit_f32; }
const nan_bits_f32 = 0x7fc00000u;
fn nan_f32() -> f32 { return bitcast<f32>(nan_bits_f32 ^ u32(zero_u32())); }
fn isinf_f32(x: f32) -> bool { return magnitude_f32(x) == infinity_bits_f32; }
const implicit_bit_f32 = 0x00800000u;
const fraction_width_f32 = 23u;
fn exponent_field_f32(x: f32) -> i32 { return i32(u32(magnitude_f32(x) >> fraction_width_f32)); }
fn leading_zeros_u32(x: u32) -> u32 { return countLeadingZeros(x); }
fn scale_f32(x: f32) -> i32 {
  let magnitude = magnitude_f32(x);
  if (magnitude >= implicit_bit_f32) { return exponent_field_f32(x); }
  return 1 - i32(leading_zeros_u32(magnitude) - leading_zeros_u32(implicit_bit_f32));
}
const exponent_bias_f32 = 127;
fn significand_f32(x: f32) -> u32 {
  let magnitude = magnitude_f32(x);
  let fraction = magnitude & (implicit_bit_f32 - 1);
  if (magnitude >= implicit_bit_f32) { return fraction | implicit_bit_f32; }
  return fraction << (leading_zeros_u32(fraction) - leading_zeros_u32(implicit_bit_f32));
}
const exponent_mask_f32 = 0xffu;
fn compose_f32(sign: u32, significand: u32, scale: i32) -> f32 {
  if (scale > 0) {
    let bits = significand + (u32(u32(scale - 1)) << fraction_width_f32);
    return bitcast<f32>(sign | select(bits, infinity_bits_f32, scale >= i32(exponent_mask_f32)));
  }
  let shift = u32(min(1 - scale, i32(fraction_width_f32) + 2));
  let kept = significand >> shift;
  let lost = significand - (kept << shift);
  let tie = u32(1) << (shift - 1u);
  return bitcast<f32>(sign | (kept + u32(lost > tie || (lost == tie && (kept & 1) == 1))));
}
fn sqrt_slow_path_f32(x: f32) -> f32 {
  if (!truth_f32(x) || isnan_f32(x)) { return x; }
  if (signbit_f32(x)) { return nan_f32(); }
  if (isinf_f32(x)) { return x; }
  let exponent = scale_f32(x) - exponent_bias_f32;
  let half = exponent >> 1u;
  let odd = u32(exponent & 1);
  let m = significand_f32(x);
  var root = u32(sqrt(bitcast<f32>(m + 0x3f000000u) * f32(1u + odd)) * 8388608.0f);
  var left = i32((m << (23u + odd)) - root * root);
  for (var i = 0u; i < 3u && left < 0; i = i + 1u) {
    root = root - 1u;
    left = left + i32(2u * root + 1u);
  }
  for (var i = 0u; i < 3u && left > i32(2u * root); i = i + 1u) {
    left = left - i32(2u * root + 1u);
    root = root + 1u;
  }
  return compose_f32(0u, root + u32(left > i32(root)), half + exponent_bias_f32);
}
fn sqrt_f32(x: f32) -> f32 {
  if (guard_sqrt_f32(true, x)) { return fast_path_sqrt_f32(x); }
  return sqrt_slow_path_f32(x);
}
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
var<workgroup> held0: array<f32, 1040>;
var<workgroup> held1: array<f32, 1040>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  var rest = block / parameters.words[1].y;
  let left = (block - rest * parameters.words[1].z) * 64u;
  let top = rest % parameters.words[1].w * 64u;
  let x = local % 16u; let y = local / 16u * 4u;
  var total_a10: f32 = 0.0f;
  var total_a16: f32 = 0.0f;
  var total_a22: f32 = 0.0f;
  var total_a28: f32 = 0.0f;
  var total_a34: f32 = 0.0f;
  var total_a40: f32 = 0.0f;
  var total_a46: f32 = 0.0f;
  var total_a52: f32 = 0.0f;
  var total_a58: f32 = 0.0f;
  var total_a64: f32 = 0.0f;
  var total_a70: f32 = 0.0f;
  var total_a76: f32 = 0.0f;
  var total_a82: f32 = 0.0f;
  var total_a88: f32 = 0.0f;
  var total_a94: f32 = 0.0f;
  var total_a100: f32 = 0.0f;
  let base0 = parameters.words[2].x;
  let base1 = parameters.words[3].x;
  for (var start = 0u; start < parameters.words[0].w; start += 16u) {
  for (var n = local; n < 1024u; n += 256u) { let d = n % 16u; let e = n / 16u;
  if (start + d < parameters.words[2].w) { held0[d * 65u + e] = input0[base0 + min(top + e, parameters.words[0].y - 1u) * parameters.words[2].y + (start + d) * parameters.words[2].z]; } }
  for (var n = local; n < 1024u; n += 256u) { let d = n % 16u; let e = n / 16u;
  if (start + d < parameters.words[3].w) { held1[d * 65u + e] = input1[base1 + min(left + e, parameters.words[0].z - 1u) * parameters.words[3].y + (start + d) * parameters.words[3].z]; } }
  workgroupBarrier();
  var a10: f32 = 0.0f;
  var a16: f32 = 0.0f;
  var a22: f32 = 0.0f;
  var a28: f32 = 0.0f;
  var a34: f32 = 0.0f;
  var a40: f32 = 0.0f;
  var a46: f32 = 0.0f;
  var a52: f32 = 0.0f;
  var a58: f32 = 0.0f;
  var a64: f32 = 0.0f;
  var a70: f32 = 0.0f;
  var a76: f32 = 0.0f;
  var a82: f32 = 0.0f;
  var a88: f32 = 0.0f;
  var a94: f32 = 0.0f;
  var a100: f32 = 0.0f;
  let count = min(16u, parameters.words[0].w - start);
  for (var k = 0u; k < count; k++) {
  let v0_r0: f32 = held0[k * 65u + y + 0u];
  let v0_r1: f32 = held0[k * 65u + y + 1u];
  let v0_r2: f32 = held0[k * 65u + y + 2u];
  let v0_r3: f32 = held0[k * 65u + y + 3u];
  let v1_c0: f32 = held1[k * 65u + x + 0u];
  let v1_c1: f32 = held1[k * 65u + x + 16u];
  let v1_c2: f32 = held1[k * 65u + x + 32u];
  let v1_c3: f32 = held1[k * 65u + x + 48u];
  {
  let v2_0_0: f32 = subtract_f32(v0_r0, v1_c0);
  let v3_0_0: f32 = multiply_f32(v2_0_0, v2_0_0);
  a10 = add_f32(a10, v3_0_0);
  }
  {
  let v2_0_1: f32 = subtract_f32(v0_r0, v1_c1);
  let v3_0_1: f32 = multiply_f32(v2_0_1, v2_0_1);
  a16 = add_f32(a16, v3_0_1);
  }
  {
  let v2_0_2: f32 = subtract_f32(v0_r0, v1_c2);
  let v3_0_2: f32 = multiply_f32(v2_0_2, v2_0_2);
  a22 = add_f32(a22, v3_0_2);
  }
  {
  let v2_0_3: f32 = subtract_f32(v0_r0, v1_c3);
  let v3_0_3: f32 = multiply_f32(v2_0_3, v2_0_3);
  a28 = add_f32(a28, v3_0_3);
  }
  {
  let v2_1_0: f32 = subtract_f32(v0_r1, v1_c0);
  let v3_1_0: f32 = multiply_f32(v2_1_0, v2_1_0);
  a34 = add_f32(a34, v3_1_0);
  }
  {
  let v2_1_1: f32 = subtract_f32(v0_r1, v1_c1);
  let v3_1_1: f32 = multiply_f32(v2_1_1, v2_1_1);
  a40 = add_f32(a40, v3_1_1);
  }
  {
  let v2_1_2: f32 = subtract_f32(v0_r1, v1_c2);
  let v3_1_2: f32 = multiply_f32(v2_1_2, v2_1_2);
  a46 = add_f32(a46, v3_1_2);
  }
  {
  let v2_1_3: f32 = subtract_f32(v0_r1, v1_c3);
  let v3_1_3: f32 = multiply_f32(v2_1_3, v2_1_3);
  a52 = add_f32(a52, v3_1_3);
  }
  {
  let v2_2_0: f32 = subtract_f32(v0_r2, v1_c0);
  let v3_2_0: f32 = multiply_f32(v2_2_0, v2_2_0);
  a58 = add_f32(a58, v3_2_0);
  }
  {
  let v2_2_1: f32 = subtract_f32(v0_r2, v1_c1);
  let v3_2_1: f32 = multiply_f32(v2_2_1, v2_2_1);
  a64 = add_f32(a64, v3_2_1);
  }
  {
  let v2_2_2: f32 = subtract_f32(v0_r2, v1_c2);
  let v3_2_2: f32 = multiply_f32(v2_2_2, v2_2_2);
  a70 = add_f32(a70, v3_2_2);
  }
  {
  let v2_2_3: f32 = subtract_f32(v0_r2, v1_c3);
  let v3_2_3: f32 = multiply_f32(v2_2_3, v2_2_3);
  a76 = add_f32(a76, v3_2_3);
  }
  {
  let v2_3_0: f32 = subtract_f32(v0_r3, v1_c0);
  let v3_3_0: f32 = multiply_f32(v2_3_0, v2_3_0);
  a82 = add_f32(a82, v3_3_0);
  }
  {
  let v2_3_1: f32 = subtract_f32(v0_r3, v1_c1);
  let v3_3_1: f32 = multiply_f32(v2_3_1, v2_3_1);
  a88 = add_f32(a88, v3_3_1);
  }
  {
  let v2_3_2: f32 = subtract_f32(v0_r3, v1_c2);
  let v3_3_2: f32 = multiply_f32(v2_3_2, v2_3_2);
  a94 = add_f32(a94, v3_3_2);
  }
  {
  let v2_3_3: f32 = subtract_f32(v0_r3, v1_c3);
  let v3_3_3: f32 = multiply_f32(v2_3_3, v2_3_3);
  a100 = add_f32(a100, v3_3_3);
  }
  }
  a10 = add_f32(a10, total_a10); total_a10 = a10;
  a16 = add_f32(a16, total_a16); total_a16 = a16;
  a22 = add_f32(a22, total_a22); total_a22 = a22;
  a28 = add_f32(a28, total_a28); total_a28 = a28;
  a34 = add_f32(a34, total_a34); total_a34 = a34;
  a40 = add_f32(a40, total_a40); total_a40 = a40;
  a46 = add_f32(a46, total_a46); total_a46 = a46;
  a52 = add_f32(a52, total_a52); total_a52 = a52;
  a58 = add_f32(a58, total_a58); total_a58 = a58;
  a64 = add_f32(a64, total_a64); total_a64 = a64;
  a70 = add_f32(a70, total_a70); total_a70 = a70;
  a76 = add_f32(a76, total_a76); total_a76 = a76;
  a82 = add_f32(a82, total_a82); total_a82 = a82;
  a88 = add_f32(a88, total_a88); total_a88 = a88;
  a94 = add_f32(a94, total_a94); total_a94 = a94;
  a100 = add_f32(a100, total_a100); total_a100 = a100;
  workgroupBarrier();
  }
  for (var n = 0u; n < 16u; n++) {
  var a4: f32 = 0.0f;
  switch n {
  case 0u: { a4 = total_a10; }
  case 1u: { a4 = total_a16; }
  case 2u: { a4 = total_a22; }
  case 3u: { a4 = total_a28; }
  case 4u: { a4 = total_a34; }
  case 5u: { a4 = total_a40; }
  case 6u: { a4 = total_a46; }
  case 7u: { a4 = total_a52; }
  case 8u: { a4 = total_a58; }
  case 9u: { a4 = total_a64; }
  case 10u: { a4 = total_a70; }
  case 11u: { a4 = total_a76; }
  case 12u: { a4 = total_a82; }
  case 13u: { a4 = total_a88; }
  case 14u: { a4 = total_a94; }
  default: { a4 = total_a100; }
  }
  let r0 = top + y + n / 4u;
  let r1 = left + x + n % 4u * 16u;
  if (r0 < parameters.words[0].y && r1 < parameters.words[0].z) {
  let one4: f32 = a4;
  let one5: f32 = sqrt_f32(one4);
  output0[r0 * parameters.words[4].x + r1 * parameters.words[4].y] = one5;
  } }
}
