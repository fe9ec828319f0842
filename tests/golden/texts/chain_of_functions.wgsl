// workgroups 5x1x1
// map_sin_square_negative_multiply_exp_and_5
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const magnitude_bits_f32 = 0x7fffffffu;
fn magnitude_f32(x: f32) -> u32 { return bitcast<u32>(x) & magnitude_bits_f32; }
fn abs_f32(x: f32) -> f32 { return bitcast<f32>(magnitude_f32(x)); }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
fn guard_exp_f32(fine: bool, x: f32) -> bool { return fine & (x < 88.0f); }
fn opaque_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + u32(zero_u32()));
}
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
const infinity_bits_f32 = 0x7f800000u;
fn isnan_f32(x: f32) -> bool { return magnitude_f32(x) > infinity_bits_f32; }
const sign_bit_f32 = 0x80000000u;
fn copysign_f32(x: f32, y: f32) -> f32 {
  return bitcast<f32>(magnitude_f32(x) | (bitcast<u32>(opaque_f32(y)) & sign_bit_f32));
}
fn clamped_f32(x: f32, limit: f32) -> f32 {
  return select(x, copysign_f32(limit, x), magnitude_f32(x) > magnitude_f32(limit));
}
fn isfinite_f32(x: f32) -> bool { return magnitude_f32(x) < infinity_bits_f32; }
fn truth_f32(x: f32) -> bool { return magnitude_f32(x) != 0; }
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
const implicit_bit_f32 = 0x00800000u;
fn leading_zeros_u32(x: u32) -> u32 { return countLeadingZeros(x); }
fn significand_f32(x: f32) -> u32 {
  let magnitude = magnitude_f32(x);
  let fraction = magnitude & (implicit_bit_f32 - 1);
  if (magnitude >= implicit_bit_f32) { return fraction | implicit_bit_f32; }
  return fraction << (leading_zeros_u32(fraction) - leading_zeros_u32(implicit_bit_f32));
}
fn exponent_field_f32(x: f32) -> i32 { return i32(u32(magnitude_f32(x) >> fraction_width_f32)); }
fn scale_f32(x: f32) -> i32 {
  let magnitude = magnitude_f32(x);
  if (magnitude >= implicit_bit_f32) { return exponent_field_f32(x); }
  return 1 - i32(leading_zeros_u32(magnitude) - leading_zeros_u32(implicit_bit_f32));
}
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
fn sin_fast_path_series_f32(z: f32) -> f32 {
  return -0.16666667f + z * (0.0083333505f + z * (-0.00019843093f + z * (2.7627066e-06f
    + z * -2.5561661e-08f)));
}
fn half_turn_sin_f32(r: f32, n: u32) -> f32 {
  let z = r * r;
  return bitcast<f32>(bitcast<u32>(fma(r * z, sin_fast_path_series_f32(z), r)) ^ (n << 31u));
}
override fused_multiply_add: bool = false;
const half_pi_lowest_f32 = -1.7151245e-15f;
const half_pi_low_f32 = -4.371139e-08f;
const half_pi_f32 = 1.5707964f;
const half_pi_1_f32 = 1.5708008f;
const half_pi_2_f32 = -4.4535846e-06f;
const half_pi_3_f32 = -8.706138e-10f;
const half_pi_4_f32 = 6.223372e-14f;
fn less_half_turns_f32(x: f32, n: f32) -> f32 {
  if (fused_multiply_add) {
    return fma(-n, 2.0f * half_pi_lowest_f32, fma(-n, 2.0f * half_pi_low_f32, fma(-n, 2.0f * half_pi_f32, x)));
  }
  let near = x - n * (2.0f * half_pi_1_f32);
  let next = n * (2.0f * half_pi_2_f32);
  let left = opaque_f32(near - next);
  return (left + (((near - left) - next) - n * (2.0f * half_pi_3_f32))) - n * (2.0f * half_pi_4_f32);
}
const tiny_bits_f32 = 0x39000000u;
fn fast_path_sin_f32(x: f32) -> f32 {
  let shifted = shifted_nearest_f32(x, 0.318309886f);
  let y = half_turn_sin_f32(less_half_turns_f32(x, shifted - rounder_f32), bitcast<u32>(shifted));
  return select(y, x, abs(x) < bitcast<f32>(tiny_bits_f32));
}
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
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
const fast_path_limit_f32 = 4096.0f;
fn guard_sin_f32(fine: bool, x: f32) -> bool { return fine & (abs(x) < fast_path_limit_f32); }
const most_moderate_f32 = 1.099511627776e12f;
const least_moderate_f32 = 9.094947017729282e-13f;
fn guard_sqrt_f32(fine: bool, x: f32) -> bool {
  return fine & (x < most_moderate_f32) & (x >= least_moderate_f32);
}
fn negative_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ sign_bit_f32); }
const nan_bits_f32 = 0x7fc00000u;
fn quiet_f32(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) | nan_bits_f32); }
struct Reduced_f32 { high: f32, low: f32, quadrant: u32 }
const quarter_pi_bits_f32 = 0x3f490fdau;
const quadrants_f32 = 4096.0f;
fn two_sum_f32(a: f32, b: f32) -> vec2<f32> {
  let sum = opaque_f32(a + b);
  let b_part = opaque_f32(sum - a);
  return vec2<f32>(sum, opaque_f32(a - opaque_f32(sum - b_part)) + opaque_f32(b - b_part));
}
fn reduce_small_f32(x: f32) -> Reduced_f32 {
  let n = round(x * f32(0.63661977236758134308));
  let first = x - n * half_pi_1_f32;
  let second = two_sum_f32(first, -(n * half_pi_2_f32));
  let third = two_sum_f32(second.x, -(n * half_pi_3_f32));
  let sum = two_sum_f32(third.x, (second.y + third.y) - n * half_pi_4_f32);
  return Reduced_f32(sum.x, sum.y, u32(i32(n) & 3));
}
const word_width_u32 = 32u;
const exponent_bias_f32 = 127;
fn shifted_word_u32(x: u32, y: u32, up: u32) -> u32 {
  return select((x << up) | (y >> ((word_width_u32 - up) & (word_width_u32 - 1u))), x, up == 0u);
}
const two_over_pi_words_u32 = array<u32, 8>(
  0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
fn two_over_pi_u32(i: u32) -> u32 { return two_over_pi_words_u32[i]; }
const half_word_mask_u32 = 0x0000ffffu;
fn multiply_high_u32(x: u32, y: u32) -> u32 {
  let half_width = word_width_u32 / 2u;
  let x_low = x & half_word_mask_u32;
  let x_high = x >> half_width;
  let y_low = y & half_word_mask_u32;
  let y_high = y >> half_width;
  let first = x_low * y_high + ((x_low * y_low) >> half_width);
  let second = x_high * y_low + (first & half_word_mask_u32);
  return x_high * y_high + (first >> half_width) + (second >> half_width);
}
fn power_of_two_f32(n: i32) -> f32 {
  return bitcast<f32>(u32(u32(n + exponent_bias_f32)) << fraction_width_f32);
}
fn two_product_f32(a: f32, b: f32) -> vec2<f32> {
  let a_high = bitcast<f32>(bitcast<u32>(a) & upper_half_f32);
  let b_high = bitcast<f32>(bitcast<u32>(b) & upper_half_f32);
  let a_low = a - a_high;
  let b_low = b - b_high;
  let product = opaque_f32(a * b);
  let first = opaque_f32(a_high * b_high - product);
  let second = opaque_f32(first + a_high * b_low);
  return vec2<f32>(product, opaque_f32(second + a_low * b_high) + a_low * b_low);
}
fn fast_two_sum_f32(a: f32, b: f32) -> vec2<f32> {
  let sum = opaque_f32(a + b);
  return vec2<f32>(sum, b - opaque_f32(sum - a));
}
fn reduce_late_f32(x: f32, quarters: u32) -> Reduced_f32 {
  let width = word_width_u32;
  let significand = significand_f32(x);
  let position = u32(exponent_field_f32(x) - exponent_bias_f32 - i32(fraction_width_f32) - 2 + i32(width));
  let index = position / width;
  let up = position % width;
  let word_0 = shifted_word_u32(two_over_pi_u32(index), two_over_pi_u32(index + 1u), up);
  let word_1 = shifted_word_u32(two_over_pi_u32(index + 1u), two_over_pi_u32(index + 2u), up);
  let word_2 = shifted_word_u32(two_over_pi_u32(index + 2u), two_over_pi_u32(index + 3u), up);
  let carried = multiply_high_u32(significand, word_2);
  var low_word = significand * word_1 + carried;
  var high_word = significand * word_0 + multiply_high_u32(significand, word_1) + u32(low_word < carried);
  high_word = high_word - (quarters << (width - 4u));
  let quadrant = (high_word + (u32(1) << (width - 3u))) >> (width - 2u);
  high_word = high_word - (quadrant << (width - 2u));
  let negative = (high_word >> (width - 1u)) == 1;
  if (negative) {
    low_word = ~low_word + 1;
    high_word = ~high_word + u32(low_word == 0);
  }
  var zeros = 0u;
  if (high_word == 0) {
    high_word = low_word;
    low_word = u32(0);
    zeros = width;
  }
  let up_again = leading_zeros_u32(high_word);
  zeros = zeros + up_again;
  high_word = shifted_word_u32(high_word, low_word, up_again);
  low_word = low_word << up_again;
  let top = fraction_width_f32 + 1u;
  let exponent = 1 - i32(zeros);
  let high = compose_f32(u32(0), high_word >> (width - top), exponent + exponent_bias_f32);
  let rest = f32((high_word << top) | (low_word >> (width - top)));
  let low = rest * power_of_two_f32(exponent - i32(top) + 1 - i32(width));
  let product = two_product_f32(high, half_pi_f32);
  let sum = fast_two_sum_f32(product.x, product.y + (high * half_pi_low_f32 + low * half_pi_f32));
  let sign = select(f32(1.0), f32(-1.0), negative);
  return Reduced_f32(sign * sum.x, sign * sum.y, u32(quadrant & 3));
}
fn reduce_large_f32(x: f32) -> Reduced_f32 { return reduce_late_f32(x, u32(0)); }
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= sign_bit_f32; }
fn reduce_f32(x: f32) -> Reduced_f32 {
  if (magnitude_f32(x) <= quarter_pi_bits_f32) { return Reduced_f32(x, f32(0.0), 0u); }
  if (abs_f32(x) < quadrants_f32) { return reduce_small_f32(x); }
  let reduced = reduce_large_f32(abs_f32(x));
  if (!signbit_f32(x)) { return reduced; }
  return Reduced_f32(-reduced.high, -reduced.low, (4u - reduced.quadrant) & 3u);
}
const sin_first_f32 = -0.16666667f;
fn sin_series_f32(z: f32) -> f32 { return 0.00833338f + z * (-0.00019853513f + z * 2.8375432e-06f); }
fn sin_polynomial_f32(x: f32, z: f32) -> f32 {
  return x + x * z * (sin_first_f32 + z * sin_series_f32(z));
}
fn cos_series_f32(z: f32) -> f32 {
  return 0.041666668f + z * (-0.0013888982f + z * (2.4822986e-05f + z * -2.8977658e-07f));
}
fn cos_polynomial_f32(z: f32) -> f32 {
  return 1.0f + z * (-0.5f + z * cos_series_f32(z));
}
fn quadrant_sin_f32(r: f32, quadrant: i32) -> f32 {
  let z = r * r;
  let y = select(sin_polynomial_f32(r, z), cos_polynomial_f32(z), (quadrant & 1) == 1);
  return bitcast<f32>(bitcast<u32>(y) ^ ((bitcast<u32>(quadrant) << 30u) & sign_bit_f32));
}
fn slow_path_sin_f32(x: f32, shift: u32) -> f32 {
  if (!isfinite_f32(x)) { return quiet_f32(x); }
  let reduced = reduce_f32(x);
  return quadrant_sin_f32(reduced.high, i32(reduced.quadrant + shift));
}
fn sin_f32(x: f32) -> f32 {
  if (guard_sin_f32(true, x)) { return fast_path_sin_f32(x); }
  return slow_path_sin_f32(x, 0u);
}
fn nan_f32() -> f32 { return bitcast<f32>(nan_bits_f32 ^ u32(zero_u32())); }
fn isinf_f32(x: f32) -> bool { return magnitude_f32(x) == infinity_bits_f32; }
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
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one7: f32 = bitcast<f32>(parameters.words[0].z);
  let w0 = input0[first / 4u];
  var fine = true;
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  var v1_0: f32 = fast_path_sin_f32(v0_0);
  var v1_1: f32 = fast_path_sin_f32(v0_1);
  var v1_2: f32 = fast_path_sin_f32(v0_2);
  var v1_3: f32 = fast_path_sin_f32(v0_3);
  fine = guard_sin_f32(fine, v0_0);
  fine = guard_sin_f32(fine, v0_1);
  fine = guard_sin_f32(fine, v0_2);
  fine = guard_sin_f32(fine, v0_3);
  let v3_0: f32 = negative_f32(v0_0);
  let v3_1: f32 = negative_f32(v0_1);
  let v3_2: f32 = negative_f32(v0_2);
  let v3_3: f32 = negative_f32(v0_3);
  let v4_0: f32 = multiply_f32(v3_0, v0_0);
  let v4_1: f32 = multiply_f32(v3_1, v0_1);
  let v4_2: f32 = multiply_f32(v3_2, v0_2);
  let v4_3: f32 = multiply_f32(v3_3, v0_3);
  var v5_0: f32 = fast_path_exp_f32(v4_0);
  var v5_1: f32 = fast_path_exp_f32(v4_1);
  var v5_2: f32 = fast_path_exp_f32(v4_2);
  var v5_3: f32 = fast_path_exp_f32(v4_3);
  fine = guard_exp_f32(fine, v4_0);
  fine = guard_exp_f32(fine, v4_1);
  fine = guard_exp_f32(fine, v4_2);
  fine = guard_exp_f32(fine, v4_3);
  let v6_0: f32 = abs_f32(v0_0);
  let v6_1: f32 = abs_f32(v0_1);
  let v6_2: f32 = abs_f32(v0_2);
  let v6_3: f32 = abs_f32(v0_3);
  let v8_0: f32 = add_f32(v6_0, one7);
  let v8_1: f32 = add_f32(v6_1, one7);
  let v8_2: f32 = add_f32(v6_2, one7);
  let v8_3: f32 = add_f32(v6_3, one7);
  var v9_0: f32 = fast_path_sqrt_f32(v8_0);
  var v9_1: f32 = fast_path_sqrt_f32(v8_1);
  var v9_2: f32 = fast_path_sqrt_f32(v8_2);
  var v9_3: f32 = fast_path_sqrt_f32(v8_3);
  fine = guard_sqrt_f32(fine, v8_0);
  fine = guard_sqrt_f32(fine, v8_1);
  fine = guard_sqrt_f32(fine, v8_2);
  fine = guard_sqrt_f32(fine, v8_3);
  let v2_0: f32 = multiply_f32(v1_0, v1_0);
  let v2_1: f32 = multiply_f32(v1_1, v1_1);
  let v2_2: f32 = multiply_f32(v1_2, v1_2);
  let v2_3: f32 = multiply_f32(v1_3, v1_3);
  let v10_0: f32 = multiply_f32(v5_0, v9_0);
  let v10_1: f32 = multiply_f32(v5_1, v9_1);
  let v10_2: f32 = multiply_f32(v5_2, v9_2);
  let v10_3: f32 = multiply_f32(v5_3, v9_3);
  let v11_0: f32 = add_f32(v2_0, v10_0);
  let v11_1: f32 = add_f32(v2_1, v10_1);
  let v11_2: f32 = add_f32(v2_2, v10_2);
  let v11_3: f32 = add_f32(v2_3, v10_3);
  if (!fine) {
  for (var lane = 0u; lane < 4u; lane++) {
    let at = first + lane;
    if (at >= parameters.words[0].y) { break; }
    let v0_0: f32 = input0[(at) / 4u][(at) % 4u];
    let again1: f32 = sin_f32(v0_0);
    let again2: f32 = multiply_f32(again1, again1);
    let again3: f32 = negative_f32(v0_0);
    let again4: f32 = multiply_f32(again3, v0_0);
    let again5: f32 = exp_f32(again4);
    let again6: f32 = abs_f32(v0_0);
    let again8: f32 = add_f32(again6, one7);
    let again9: f32 = sqrt_f32(again8);
    let again10: f32 = multiply_f32(again5, again9);
    let again11: f32 = add_f32(again2, again10);
    output0[(at) / 4u][(at) % 4u] = again11;
  }
  return;
  }
  output0[first / 4u] = vec4<f32>(v11_0, v11_1, v11_2, v11_3);
}
