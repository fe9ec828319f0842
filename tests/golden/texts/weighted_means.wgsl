// workgroups 8x1x1
// rows_subtract_square_negative_exp_multiply_and_3
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> input2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> output0: array<f32>;
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
fn negative_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ sign_bit_f32); }
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
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
  let one0: f32 = input0[row * parameters.words[0].w];
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[1].x);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  var a8: f32 = 0.0f;
  var a9: f32 = 0.0f;
  let b0_1 = 0u;
  let b0_6 = 0u;
  let w1_0 = input1[(b0_1 + i0) / 4u];
  let v1_0: f32 = w1_0.x;
  let v1_1: f32 = w1_0.y;
  let v1_2: f32 = w1_0.z;
  let v1_3: f32 = w1_0.w;
  let w6_0 = input2[(b0_6 + i0) / 4u];
  let v6_0: f32 = w6_0.x;
  let v6_1: f32 = w6_0.y;
  let v6_2: f32 = w6_0.z;
  let v6_3: f32 = w6_0.w;
  var fine5 = true;
  let v2_0: f32 = subtract_f32(one0, v1_0);
  let v2_1: f32 = subtract_f32(one0, v1_1);
  let v2_2: f32 = subtract_f32(one0, v1_2);
  let v2_3: f32 = subtract_f32(one0, v1_3);
  let v3_0: f32 = multiply_f32(v2_0, v2_0);
  let v3_1: f32 = multiply_f32(v2_1, v2_1);
  let v3_2: f32 = multiply_f32(v2_2, v2_2);
  let v3_3: f32 = multiply_f32(v2_3, v2_3);
  let v4_0: f32 = negative_f32(v3_0);
  let v4_1: f32 = negative_f32(v3_1);
  let v4_2: f32 = negative_f32(v3_2);
  let v4_3: f32 = negative_f32(v3_3);
  var v5_0: f32 = fast_path_exp_f32(v4_0);
  var v5_1: f32 = fast_path_exp_f32(v4_1);
  var v5_2: f32 = fast_path_exp_f32(v4_2);
  var v5_3: f32 = fast_path_exp_f32(v4_3);
  fine5 = guard_exp_f32(fine5, v4_0);
  fine5 = guard_exp_f32(fine5, v4_1);
  fine5 = guard_exp_f32(fine5, v4_2);
  fine5 = guard_exp_f32(fine5, v4_3);
  if (!fine5) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v1_0; } case 1u: { operand0 = v1_1; } case 2u: { operand0 = v1_2; } default: { operand0 = v1_3; } }
    let again2: f32 = subtract_f32(one0, operand0);
    let again3: f32 = multiply_f32(again2, again2);
    let again4: f32 = negative_f32(again3);
    let again5: f32 = exp_f32(again4);
    switch lane { case 0u: { v5_0 = again5; } case 1u: { v5_1 = again5; } case 2u: { v5_2 = again5; } default: { v5_3 = again5; } }
  } }
  let v7_0: f32 = multiply_f32(v5_0, v6_0);
  let v7_1: f32 = multiply_f32(v5_1, v6_1);
  let v7_2: f32 = multiply_f32(v5_2, v6_2);
  let v7_3: f32 = multiply_f32(v5_3, v6_3);
  a8 = add_f32(a8, add_f32(add_f32(select(0.0f, v7_0, (at0 < end)), select(0.0f, v7_1, (at0 < end))), add_f32(select(0.0f, v7_2, (at0 < end)), select(0.0f, v7_3, (at0 < end)))));
  a9 = add_f32(a9, add_f32(add_f32(select(0.0f, v5_0, (at0 < end)), select(0.0f, v5_1, (at0 < end))), add_f32(select(0.0f, v5_2, (at0 < end)), select(0.0f, v5_3, (at0 < end)))));
  shared0_f32[local] = a8;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a8 = add_f32(a8, shared0_f32[local + half]);
  shared0_f32[local] = a8;
  }
  workgroupBarrier();
  }
  a8 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  let one8: f32 = a8;
  shared0_f32[local] = a9;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a9 = add_f32(a9, shared0_f32[local + half]);
  shared0_f32[local] = a9;
  }
  workgroupBarrier();
  }
  a9 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  let one9: f32 = a9;
  let one10: f32 = divide_f32(one8, one9);
  if (lane == 0u && end > 0u) { output0[row * parameters.words[1].y] = one10; }
}
