// workgroups 244x1x1
// rows_subtract_squared_deviations_divide parts
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
@group(0) @binding(3) var<storage, read_write> scratch1: array<f32>;
@group(0) @binding(4) var<storage, read_write> scratch2: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_f32: array<f32, 256>;
var<workgroup> shared2_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let split = walker / parameters.words[0].w;
  let row = walker - split * parameters.words[0].w;
  let begin = split * 256u;
  let end = parameters.words[0].z;
  let one4: f32 = bitcast<f32>(parameters.words[1].x);
  let one1: f32 = input0[0u];
  let origin = parameters.words[1].y;
  var n3: f32 = 0.0f;
  var m3: f32 = 0.0f;
  var a3: f32 = 0.0f;
  let b0_0 = 0u;
  let apart = parameters.words[1].z;
  {
  var column = begin + lane * 1u;
  for (; column + 7u * apart < end; column += 8u * apart) {
  let i0 = column + 0u * apart;
  let i1 = column + 1u * apart;
  let i2 = column + 2u * apart;
  let i3 = column + 3u * apart;
  let i4 = column + 4u * apart;
  let i5 = column + 5u * apart;
  let i6 = column + 6u * apart;
  let i7 = column + 7u * apart;
  let v0_0: f32 = input0[b0_0 + i0];
  let v0_1: f32 = input0[b0_0 + i1];
  let v0_2: f32 = input0[b0_0 + i2];
  let v0_3: f32 = input0[b0_0 + i3];
  let v0_4: f32 = input0[b0_0 + i4];
  let v0_5: f32 = input0[b0_0 + i5];
  let v0_6: f32 = input0[b0_0 + i6];
  let v0_7: f32 = input0[b0_0 + i7];
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v2_1: f32 = subtract_f32(v0_1, one1);
  let v2_2: f32 = subtract_f32(v0_2, one1);
  let v2_3: f32 = subtract_f32(v0_3, one1);
  let v2_4: f32 = subtract_f32(v0_4, one1);
  let v2_5: f32 = subtract_f32(v0_5, one1);
  let v2_6: f32 = subtract_f32(v0_6, one1);
  let v2_7: f32 = subtract_f32(v0_7, one1);
  { let mean3 = ((v2_0 + v2_1) + (v2_2 + v2_3)) * 0.25f;
  let off3_0 = v2_0 - mean3;
  let off3_1 = v2_1 - mean3;
  let off3_2 = v2_2 - mean3;
  let off3_3 = v2_3 - mean3;
  { let gap = mean3 - m3; let share = 4.0f / max(n3 + 4.0f, 1.0f); a3 += ((off3_0 * off3_0 + off3_1 * off3_1) + (off3_2 * off3_2 + off3_3 * off3_3)) + gap * gap * (n3 * share); m3 += gap * share; n3 += 4.0f; }
  }
  { let mean3 = ((v2_4 + v2_5) + (v2_6 + v2_7)) * 0.25f;
  let off3_0 = v2_4 - mean3;
  let off3_1 = v2_5 - mean3;
  let off3_2 = v2_6 - mean3;
  let off3_3 = v2_7 - mean3;
  { let gap = mean3 - m3; let share = 4.0f / max(n3 + 4.0f, 1.0f); a3 += ((off3_0 * off3_0 + off3_1 * off3_1) + (off3_2 * off3_2 + off3_3 * off3_3)) + gap * gap * (n3 * share); m3 += gap * share; n3 += 4.0f; }
  }
  }
  for (; column < end; column += 1u * apart) {
  let i0 = column;
  let v0_0: f32 = input0[b0_0 + i0];
  let v2_0: f32 = subtract_f32(v0_0, one1);
  { let gap = v2_0 - m3; let share = 1.0f / max(n3 + 1.0f, 1.0f); a3 += 0.0f + gap * gap * (n3 * share); m3 += gap * share; n3 += 1.0f; }
  } }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  { let gap = shared1_f32[local + half] - m3; let share = shared0_f32[local + half] / max(n3 + shared0_f32[local + half], 1.0f); a3 += shared2_f32[local + half] + gap * gap * (n3 * share); m3 += gap * share; n3 += shared0_f32[local + half]; }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  }
  workgroupBarrier();
  }
  n3 = shared0_f32[0u];
  m3 = shared1_f32[0u];
  a3 = shared2_f32[0u];
  workgroupBarrier();
  let part = (parameters.words[1].w + split) * parameters.words[2].x + row;
  if (lane == 0u) { scratch0[part] = n3; }
  if (lane == 0u) { scratch1[part] = m3; }
  if (lane == 0u) { scratch2[part] = a3; }
}

// workgroups 1x1x1
// rows_subtract_squared_deviations_divide end
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
@group(0) @binding(3) var<storage, read> scratch0: array<f32>;
@group(0) @binding(4) var<storage, read> scratch1: array<f32>;
@group(0) @binding(5) var<storage, read> scratch2: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
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
fn fast_path_divide_f32(x: f32, y: f32) -> f32 {
  let reciprocal = 1.0f / y;
  let estimate = multiply_f32(x, reciprocal);
  let better = fma(residue_f32(x, estimate, y), reciprocal, estimate);
  return fma(residue_f32(x, better, y), reciprocal, better);
}
override close_estimates: bool = false;
const most_moderate_f32 = 1.099511627776e12f;
const least_moderate_f32 = 9.094947017729282e-13f;
fn moderate_f32(x: f32) -> bool { return (abs(x) < most_moderate_f32) & (abs(x) >= least_moderate_f32); }
fn guard_divide_f32(fine: bool, x: f32, y: f32, quotient: f32) -> bool {
  if (close_estimates) { return fine & (abs(x) >= 0x1p-78f) & (abs(quotient) >= 0x1p-100f); }
  return fine & moderate_f32(x) & moderate_f32(y);
}
const magnitude_bits_f32 = 0x7fffffffu;
fn magnitude_f32(x: f32) -> u32 { return bitcast<u32>(x) & magnitude_bits_f32; }
const infinity_bits_f32 = 0x7f800000u;
fn isnan_f32(x: f32) -> bool { return magnitude_f32(x) > infinity_bits_f32; }
fn truth_f32(x: f32) -> bool { return magnitude_f32(x) != 0; }
fn isinf_f32(x: f32) -> bool { return magnitude_f32(x) == infinity_bits_f32; }
const nan_bits_f32 = 0x7fc00000u;
const implicit_bit_f32 = 0x00800000u;
fn leading_zeros_u32(x: u32) -> u32 { return countLeadingZeros(x); }
fn significand_f32(x: f32) -> u32 {
  let magnitude = magnitude_f32(x);
  let fraction = magnitude & (implicit_bit_f32 - 1);
  if (magnitude >= implicit_bit_f32) { return fraction | implicit_bit_f32; }
  return fraction << (leading_zeros_u32(fraction) - leading_zeros_u32(implicit_bit_f32));
}
const fraction_width_f32 = 23u;
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
fn compose_rest_f32(sign: u32, quotient: u32, left: u32, divisor: u32, scale: i32) -> f32 {
  if (scale > 0) {
    let up = u32(2u * left > divisor || (2u * left == divisor && (quotient & 1u) == 1u));
    return compose_f32(sign, quotient + up, scale);
  }
  let shift = u32(min(1 - scale, 25));
  let kept = quotient >> shift;
  let lost = 2u * (quotient - (kept << shift)) + u32(left != 0u);
  let tie = 1u << shift;
  return bitcast<f32>(sign | (kept + u32(lost > tie || (lost == tie && (kept & 1u) == 1u))));
}
fn exponent_field_f32(x: f32) -> i32 { return i32(u32(magnitude_f32(x) >> fraction_width_f32)); }
fn scale_f32(x: f32) -> i32 {
  let magnitude = magnitude_f32(x);
  if (magnitude >= implicit_bit_f32) { return exponent_field_f32(x); }
  return 1 - i32(leading_zeros_u32(magnitude) - leading_zeros_u32(implicit_bit_f32));
}
const exponent_bias_f32 = 127;
fn divide_slow_path_f32(x: f32, y: f32) -> f32 {
  if (isnan_f32(x)) { return x; }
  if (isnan_f32(y)) { return y; }
  let sign = (bitcast<u32>(x) ^ bitcast<u32>(y)) & sign_bit_f32;
  if (!truth_f32(y) || isinf_f32(x)) {
    let undefined = !truth_f32(x) || isinf_f32(y);
    return bitcast<f32>(select(sign | infinity_bits_f32, nan_bits_f32, undefined));
  }
  if (!truth_f32(x) || isinf_f32(y)) { return bitcast<f32>(sign); }
  let a = significand_f32(x);
  let b = significand_f32(y);
  let up = u32(a < b);
  let estimate = bitcast<f32>(a + 0x3f000000u) * f32(1u + up) / bitcast<f32>(b + 0x3f000000u);
  var quotient = u32(estimate * 8388608.0f);
  var left = i32((a << (23u + up)) - quotient * b);
  for (var i = 0u; i < 3u && left < 0; i = i + 1u) {
    quotient = quotient - 1u;
    left = left + i32(b);
  }
  for (var i = 0u; i < 3u && left >= i32(b); i = i + 1u) {
    quotient = quotient + 1u;
    left = left - i32(b);
  }
  return compose_rest_f32(sign, quotient, u32(left), b, scale_f32(x) - scale_f32(y) + exponent_bias_f32 - i32(up));
}
fn divide_f32(x: f32, y: f32) -> f32 {
  let quotient = fast_path_divide_f32(x, y);
  if (guard_divide_f32(true, x, y, quotient)) { return quotient; }
  return divide_slow_path_f32(x, y);
}
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_f32: array<f32, 256>;
var<workgroup> shared2_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  let one4: f32 = bitcast<f32>(parameters.words[0].w);
  let one1: f32 = input0[0u];
  var n3: f32 = 0.0f;
  var m3: f32 = 0.0f;
  var a3: f32 = 0.0f;
  var part = lane;
  for (; part + 768u < parameters.words[1].x; part += 1024u) {
  let scratch0_0 = scratch0[(part + 0u) * parameters.words[1].y + row];
  let scratch0_1 = scratch0[(part + 256u) * parameters.words[1].y + row];
  let scratch0_2 = scratch0[(part + 512u) * parameters.words[1].y + row];
  let scratch0_3 = scratch0[(part + 768u) * parameters.words[1].y + row];
  let scratch1_0 = scratch1[(part + 0u) * parameters.words[1].y + row];
  let scratch1_1 = scratch1[(part + 256u) * parameters.words[1].y + row];
  let scratch1_2 = scratch1[(part + 512u) * parameters.words[1].y + row];
  let scratch1_3 = scratch1[(part + 768u) * parameters.words[1].y + row];
  let scratch2_0 = scratch2[(part + 0u) * parameters.words[1].y + row];
  let scratch2_1 = scratch2[(part + 256u) * parameters.words[1].y + row];
  let scratch2_2 = scratch2[(part + 512u) * parameters.words[1].y + row];
  let scratch2_3 = scratch2[(part + 768u) * parameters.words[1].y + row];
  { let gap = scratch1_0 - m3; let share = scratch0_0 / max(n3 + scratch0_0, 1.0f); a3 += scratch2_0 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_0; }
  { let gap = scratch1_1 - m3; let share = scratch0_1 / max(n3 + scratch0_1, 1.0f); a3 += scratch2_1 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_1; }
  { let gap = scratch1_2 - m3; let share = scratch0_2 / max(n3 + scratch0_2, 1.0f); a3 += scratch2_2 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_2; }
  { let gap = scratch1_3 - m3; let share = scratch0_3 / max(n3 + scratch0_3, 1.0f); a3 += scratch2_3 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_3; }
  }
  for (; part < parameters.words[1].x; part += 256u) {
  let scratch0_0 = scratch0[part * parameters.words[1].y + row];
  let scratch1_0 = scratch1[part * parameters.words[1].y + row];
  let scratch2_0 = scratch2[part * parameters.words[1].y + row];
  { let gap = scratch1_0 - m3; let share = scratch0_0 / max(n3 + scratch0_0, 1.0f); a3 += scratch2_0 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_0; }
  }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  { let gap = shared1_f32[local + half] - m3; let share = shared0_f32[local + half] / max(n3 + shared0_f32[local + half], 1.0f); a3 += shared2_f32[local + half] + gap * gap * (n3 * share); m3 += gap * share; n3 += shared0_f32[local + half]; }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  }
  workgroupBarrier();
  }
  n3 = shared0_f32[0u];
  m3 = shared1_f32[0u];
  a3 = shared2_f32[0u];
  workgroupBarrier();
  let one3: f32 = add_f32(a3, subtract_f32(m3, m3));
  let one5: f32 = divide_f32(one3, one4);
  if (lane == 0u) { output0[0u] = one5; }
}
