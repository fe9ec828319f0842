// workgroups 8x1x1
// rows_max_subtract_exp_sum_divide
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
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
fn guard_exp_f32(fine: bool, x: f32) -> bool { return fine & (x < 88.0f); }
const rounder_f32 = 12582912.0f;
fn shifted_nearest_f32(x: f32, factor: f32) -> f32 { return fma(x, factor, opaque_f32(rounder_f32)); }
const ln2_low_f32 = 1.4286068e-06f;
const ln2_high_f32 = 0.69314575f;
fn exp_fast_path_series_f32(r: f32) -> f32 {
  return 0.49999994f + r * (0.16666517f + r * (0.041668102f + r * (0.0083691925f + r * 0.0013839114f)));
}
fn exp_reduced_f32(x: f32, shifted: f32) -> f32 {
  let n = shifted - rounder_f32;
  let r = fma(-n, ln2_low_f32, fma(-n, ln2_high_f32, x));
  return 1.0f + r * (1.0f + r * exp_fast_path_series_f32(r));
}
fn fast_path_exp_f32(x: f32) -> f32 {
  let bounded = max(x, -110.0f);
  let shifted = shifted_nearest_f32(bounded, 1.44269504f);
  let bits = bitcast<u32>(exp_reduced_f32(bounded, shifted)) + (bitcast<u32>(shifted) << 23u);
  let subnormal = bitcast<u32>(bitcast<f32>(bits + (149u << 23u)) + 8388608.0f) - 0x4b000000u;
  return bitcast<f32>(select(bits, subnormal, bitcast<i32>(bits) < 0x00800000));
}
fn copysign_f32(x: f32, y: f32) -> f32 {
  return bitcast<f32>(magnitude_f32(x) | (bitcast<u32>(opaque_f32(y)) & sign_bit_f32));
}
fn clamped_f32(x: f32, limit: f32) -> f32 {
  return select(x, copysign_f32(limit, x), magnitude_f32(x) > magnitude_f32(limit));
}
fn isfinite_f32(x: f32) -> bool { return magnitude_f32(x) < infinity_bits_f32; }
fn ldexp_f32(x: f32, n: i32) -> f32 {
  if (!isfinite_f32(x) || !truth_f32(x)) { return x; }
  return compose_f32(bitcast<u32>(x) & sign_bit_f32, significand_f32(x), scale_f32(x) + n);
}
const rounder_bits_f32 = 0x4b400000;
fn exp_f32(x: f32) -> f32 {
  if (guard_exp_f32(true, x)) { return fast_path_exp_f32(x); }
  if (isnan_f32(x)) { return x; }
  let bounded = clamped_f32(x, 104.0f);
  let shifted = shifted_nearest_f32(bounded, 1.44269504f);
  return ldexp_f32(exp_reduced_f32(bounded, shifted), bitcast<i32>(shifted) - rounder_bits_f32);
}
fn guard_ratio_f32(fine: bool, x: f32, y: f32, quotient: f32) -> bool {
  return guard_divide_f32(fine, x, y, quotient) | (fine & ((bitcast<u32>(x) | bitcast<u32>(quotient)) == 0u));
}
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
fn key1(x: f32) -> u32 {
  let bits = bitcast<i32>(bitcast<u32>(x));
  return bitcast<u32>(bits ^ ((bits >> 31u) | -0x80000000)) - 0x7fffffu;
}
fn value1(key: u32) -> f32 {
  let ordered = bitcast<i32>(key + 0x7fffffu);
  return bitcast<f32>(bitcast<u32>(ordered ^ ((~ordered >> 31u) | -0x80000000)));
}
var<workgroup> shared0_u32: array<u32, 256>;
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let origin = 0u;
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[0].w);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  var a1 = 0u;
  let b0_0 = row * parameters.words[1].x;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  a1 = max(a1, max(max(select(0u, key1(v0_0), (at0 < end)), select(0u, key1(v0_1), (at0 < end))), max(select(0u, key1(v0_2), (at0 < end)), select(0u, key1(v0_3), (at0 < end)))));
  shared0_u32[local] = a1;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a1 = max(a1, shared0_u32[local + half]);
  shared0_u32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_u32[local & 4294967264u];
  workgroupBarrier();
  let one1: f32 = value1(a1);
  var a4: f32 = 0.0f;
  var fine3 = true;
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v2_1: f32 = subtract_f32(v0_1, one1);
  let v2_2: f32 = subtract_f32(v0_2, one1);
  let v2_3: f32 = subtract_f32(v0_3, one1);
  var v3_0: f32 = fast_path_exp_f32(v2_0);
  var v3_1: f32 = fast_path_exp_f32(v2_1);
  var v3_2: f32 = fast_path_exp_f32(v2_2);
  var v3_3: f32 = fast_path_exp_f32(v2_3);
  fine3 = guard_exp_f32(fine3, v2_0);
  fine3 = guard_exp_f32(fine3, v2_1);
  fine3 = guard_exp_f32(fine3, v2_2);
  fine3 = guard_exp_f32(fine3, v2_3);
  if (!fine3) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v0_0; } case 1u: { operand0 = v0_1; } case 2u: { operand0 = v0_2; } default: { operand0 = v0_3; } }
    let again2: f32 = subtract_f32(operand0, one1);
    let again3: f32 = exp_f32(again2);
    switch lane { case 0u: { v3_0 = again3; } case 1u: { v3_1 = again3; } case 2u: { v3_2 = again3; } default: { v3_3 = again3; } }
  } }
  a4 = add_f32(a4, add_f32(add_f32(select(0.0f, v3_0, (at0 < end)), select(0.0f, v3_1, (at0 < end))), add_f32(select(0.0f, v3_2, (at0 < end)), select(0.0f, v3_3, (at0 < end)))));
  shared0_f32[local] = a4;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a4 = add_f32(a4, shared0_f32[local + half]);
  shared0_f32[local] = a4;
  }
  workgroupBarrier();
  }
  a4 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  let one4: f32 = a4;
  let s2_0 = row * parameters.words[1].y;
  var fine5 = true;
  var v5_0: f32 = fast_path_divide_f32(v3_0, one4);
  var v5_1: f32 = fast_path_divide_f32(v3_1, one4);
  var v5_2: f32 = fast_path_divide_f32(v3_2, one4);
  var v5_3: f32 = fast_path_divide_f32(v3_3, one4);
  fine5 = guard_ratio_f32(fine5, v3_0, one4, v5_0);
  fine5 = guard_ratio_f32(fine5, v3_1, one4, v5_1);
  fine5 = guard_ratio_f32(fine5, v3_2, one4, v5_2);
  fine5 = guard_ratio_f32(fine5, v3_3, one4, v5_3);
  if (!fine5) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v3_0; } case 1u: { operand0 = v3_1; } case 2u: { operand0 = v3_2; } default: { operand0 = v3_3; } }
    let again5: f32 = divide_f32(operand0, one4);
    switch lane { case 0u: { v5_0 = again5; } case 1u: { v5_1 = again5; } case 2u: { v5_2 = again5; } default: { v5_3 = again5; } }
  } }
  if (at0 < end) {
  output0[(s2_0 + i0) / 4u] = vec4<f32>(v5_0, v5_1, v5_2, v5_3);
  }
}
