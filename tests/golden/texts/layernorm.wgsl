// workgroups 8x1x1
// rows_sum_subtract_squared_deviations_divide_add_and_5
struct Parameters { words: array<vec4<u32>, 3> }
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
fn guard_ratio_f32(fine: bool, x: f32, y: f32, quotient: f32) -> bool {
  return guard_divide_f32(fine, x, y, quotient) | (fine & ((bitcast<u32>(x) | bitcast<u32>(quotient)) == 0u));
}
fn guard_sqrt_f32(fine: bool, x: f32) -> bool {
  return fine & (x < most_moderate_f32) & (x >= least_moderate_f32);
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
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= sign_bit_f32; }
fn nan_f32() -> f32 { return bitcast<f32>(nan_bits_f32 ^ u32(zero_u32())); }
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
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_f32: array<f32, 256>;
var<workgroup> shared2_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let one5: f32 = bitcast<f32>(parameters.words[0].w);
  let one7: f32 = bitcast<f32>(parameters.words[1].x);
  let one10: f32 = bitcast<f32>(parameters.words[1].y);
  let origin = 0u;
  let one2: f32 = input0[row * parameters.words[1].z];
  let at0 = lane + 0u;
  let i0 = min(at0, parameters.words[1].w);
  let at1 = lane + 32u;
  let i1 = min(at1, parameters.words[1].w);
  let at2 = lane + 64u;
  let i2 = min(at2, parameters.words[1].w);
  let at3 = lane + 96u;
  let i3 = min(at3, parameters.words[1].w);
  var a1: f32 = 0.0f;
  var n4: f32 = 0.0f;
  var m4: f32 = 0.0f;
  var a4: f32 = 0.0f;
  let b0_0 = row * parameters.words[2].x;
  let v0_0: f32 = input0[b0_0 + i0];
  let v0_1: f32 = input0[b0_0 + i1];
  let v0_2: f32 = input0[b0_0 + i2];
  let v0_3: f32 = input0[b0_0 + i3];
  let v3_0: f32 = subtract_f32(v0_0, one2);
  let v3_1: f32 = subtract_f32(v0_1, one2);
  let v3_2: f32 = subtract_f32(v0_2, one2);
  let v3_3: f32 = subtract_f32(v0_3, one2);
  a1 = add_f32(a1, add_f32(add_f32(select(0.0f, v0_0, (at0 < end)), select(0.0f, v0_1, (at1 < end))), add_f32(select(0.0f, v0_2, (at2 < end)), select(0.0f, v0_3, (at3 < end)))));
  { let count4 = ((select(0.0f, 1.0f, (at0 < end)) + select(0.0f, 1.0f, (at1 < end))) + (select(0.0f, 1.0f, (at2 < end)) + select(0.0f, 1.0f, (at3 < end))));
  let mean4 = ((select(0.0f, v3_0, (at0 < end)) + select(0.0f, v3_1, (at1 < end))) + (select(0.0f, v3_2, (at2 < end)) + select(0.0f, v3_3, (at3 < end)))) / max(count4, 1.0f);
  let off4_0 = select(0.0f, v3_0 - mean4, (at0 < end));
  let off4_1 = select(0.0f, v3_1 - mean4, (at1 < end));
  let off4_2 = select(0.0f, v3_2 - mean4, (at2 < end));
  let off4_3 = select(0.0f, v3_3 - mean4, (at3 < end));
  { let gap = mean4 - m4; let share = count4 / max(n4 + count4, 1.0f); a4 += ((off4_0 * off4_0 + off4_1 * off4_1) + (off4_2 * off4_2 + off4_3 * off4_3)) + gap * gap * (n4 * share); m4 += gap * share; n4 += count4; }
  }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  let one1: f32 = a1;
  shared0_f32[local] = n4;
  shared1_f32[local] = m4;
  shared2_f32[local] = a4;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  { let gap = shared1_f32[local + half] - m4; let share = shared0_f32[local + half] / max(n4 + shared0_f32[local + half], 1.0f); a4 += shared2_f32[local + half] + gap * gap * (n4 * share); m4 += gap * share; n4 += shared0_f32[local + half]; }
  shared0_f32[local] = n4;
  shared1_f32[local] = m4;
  shared2_f32[local] = a4;
  }
  workgroupBarrier();
  }
  n4 = shared0_f32[local & 4294967264u];
  m4 = shared1_f32[local & 4294967264u];
  a4 = shared2_f32[local & 4294967264u];
  workgroupBarrier();
  let one4: f32 = add_f32(a4, subtract_f32(m4, m4));
  let one6: f32 = divide_f32(one4, one5);
  let one8: f32 = add_f32(one6, one7);
  let one9: f32 = sqrt_f32(one8);
  let one11: f32 = divide_f32(one1, one10);
  let b1_14 = 0u;
  let s1_0 = row * parameters.words[2].y;
  let v14_0: f32 = input1[b1_14 + i0];
  let v14_1: f32 = input1[b1_14 + i1];
  let v14_2: f32 = input1[b1_14 + i2];
  let v14_3: f32 = input1[b1_14 + i3];
  var fine13 = true;
  let v12_0: f32 = subtract_f32(v0_0, one11);
  let v12_1: f32 = subtract_f32(v0_1, one11);
  let v12_2: f32 = subtract_f32(v0_2, one11);
  let v12_3: f32 = subtract_f32(v0_3, one11);
  var v13_0: f32 = fast_path_divide_f32(v12_0, one9);
  var v13_1: f32 = fast_path_divide_f32(v12_1, one9);
  var v13_2: f32 = fast_path_divide_f32(v12_2, one9);
  var v13_3: f32 = fast_path_divide_f32(v12_3, one9);
  fine13 = guard_ratio_f32(fine13, v12_0, one9, v13_0);
  fine13 = guard_ratio_f32(fine13, v12_1, one9, v13_1);
  fine13 = guard_ratio_f32(fine13, v12_2, one9, v13_2);
  fine13 = guard_ratio_f32(fine13, v12_3, one9, v13_3);
  if (!fine13) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v0_0; } case 1u: { operand0 = v0_1; } case 2u: { operand0 = v0_2; } default: { operand0 = v0_3; } }
    let again12: f32 = subtract_f32(operand0, one11);
    let again13: f32 = divide_f32(again12, one9);
    switch lane { case 0u: { v13_0 = again13; } case 1u: { v13_1 = again13; } case 2u: { v13_2 = again13; } default: { v13_3 = again13; } }
  } }
  let v15_0: f32 = multiply_f32(v13_0, v14_0);
  let v15_1: f32 = multiply_f32(v13_1, v14_1);
  let v15_2: f32 = multiply_f32(v13_2, v14_2);
  let v15_3: f32 = multiply_f32(v13_3, v14_3);
  if (at0 < end) { output0[s1_0 + i0] = v15_0; }
  if (at1 < end) { output0[s1_0 + i1] = v15_1; }
  if (at2 < end) { output0[s1_0 + i2] = v15_2; }
  if (at3 < end) { output0[s1_0 + i3] = v15_3; }
}
