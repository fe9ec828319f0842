// workgroups 60x1x1
// rows_sum_divide_subtract_square_sum_and_8
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
@group(0) @binding(3) var<storage, read_write> output1: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
const most_moderate_f32 = 1.099511627776e12f;
const least_moderate_f32 = 9.094947017729282e-13f;
fn moderate_f32(x: f32) -> bool { return (abs(x) < most_moderate_f32) & (abs(x) >= least_moderate_f32); }
fn is_quick_divide_f32(x: f32, y: f32) -> bool { return moderate_f32(x) & moderate_f32(y); }
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
fn quick_divide_f32(x: f32, y: f32) -> f32 {
  let reciprocal = 1.0f / y;
  let estimate = multiply_f32(x, reciprocal);
  let better = fma(residue_f32(x, estimate, y), reciprocal, estimate);
  return fma(residue_f32(x, better, y), reciprocal, better);
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
fn divide_careful_f32(x: f32, y: f32) -> f32 {
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
  if (is_quick_divide_f32(x, y)) { return quick_divide_f32(x, y); }
  return divide_careful_f32(x, y);
}
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= sign_bit_f32; }
fn order_f32(x: f32) -> i32 {
  let magnitude = i32(magnitude_f32(x));
  return select(magnitude, -magnitude, signbit_f32(x));
}
fn maximum_f32(x: f32, y: f32) -> f32 {
  return select(select(x, y, order_f32(x) <= order_f32(y) || isnan_f32(y)), x, isnan_f32(x));
}
fn is_quick_sqrt_f32(x: f32) -> bool { return (x < most_moderate_f32) & (x >= least_moderate_f32); }
fn quick_sqrt_f32(x: f32) -> f32 {
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
fn nan_f32() -> f32 { return bitcast<f32>(nan_bits_f32 ^ u32(zero_u32())); }
fn sqrt_careful_f32(x: f32) -> f32 {
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
  if (is_quick_sqrt_f32(x)) { return quick_sqrt_f32(x); }
  return sqrt_careful_f32(x);
}
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let row = block;
  let begin = 0u;
  let end = parameters.words[0].z;
  let one2: f32 = bitcast<f32>(parameters.words[0].w);
  let one8: f32 = bitcast<f32>(parameters.words[1].x);
  let one12: f32 = bitcast<f32>(parameters.words[1].y);
  let one14: f32 = bitcast<f32>(parameters.words[1].z);
  let one16: f32 = bitcast<f32>(parameters.words[1].w);
  let origin = 0u;
  var a1: f32 = 0.0f;
  let b0_0 = row * parameters.words[2].x;
  for (var column = begin + local * 4u; column < end; column += 1024u) {
  let i0 = column + 0u;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0 = input0[(b0_0 + column) / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  a1 = add_f32(a1, v0_0);
  a1 = add_f32(a1, v0_1);
  a1 = add_f32(a1, v0_2);
  a1 = add_f32(a1, v0_3);
  }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[0];
  workgroupBarrier();
  let one1: f32 = a1;
  let one3: f32 = divide_f32(one1, one2);
  var a6: f32 = 0.0f;
  var a7: f32 = 0.0f;
  let b1_0 = row * parameters.words[2].y;
  for (var column = begin + local * 4u; column < end; column += 1024u) {
  let i0 = column + 0u;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0 = input0[(b1_0 + column) / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v4_0: f32 = subtract_f32(v0_0, one3);
  let v4_1: f32 = subtract_f32(v0_1, one3);
  let v4_2: f32 = subtract_f32(v0_2, one3);
  let v4_3: f32 = subtract_f32(v0_3, one3);
  let v5_0: f32 = multiply_f32(v4_0, v4_0);
  let v5_1: f32 = multiply_f32(v4_1, v4_1);
  let v5_2: f32 = multiply_f32(v4_2, v4_2);
  let v5_3: f32 = multiply_f32(v4_3, v4_3);
  a6 = add_f32(a6, v5_0);
  a7 = add_f32(a7, v4_0);
  a6 = add_f32(a6, v5_1);
  a7 = add_f32(a7, v4_1);
  a6 = add_f32(a6, v5_2);
  a7 = add_f32(a7, v4_2);
  a6 = add_f32(a6, v5_3);
  a7 = add_f32(a7, v4_3);
  }
  shared0_f32[local] = a6;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  a6 = add_f32(a6, shared0_f32[local + half]);
  shared0_f32[local] = a6;
  }
  workgroupBarrier();
  }
  a6 = shared0_f32[0];
  workgroupBarrier();
  let one6: f32 = a6;
  shared0_f32[local] = a7;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  a7 = add_f32(a7, shared0_f32[local + half]);
  shared0_f32[local] = a7;
  }
  workgroupBarrier();
  }
  a7 = shared0_f32[0];
  workgroupBarrier();
  let one7: f32 = a7;
  let one9: f32 = divide_f32(one7, one8);
  let one10: f32 = multiply_f32(one7, one9);
  let one11: f32 = subtract_f32(one6, one10);
  let one13: f32 = maximum_f32(one11, one12);
  let one15: f32 = divide_f32(one13, one14);
  let one17: f32 = add_f32(one15, one16);
  let one18: f32 = sqrt_f32(one17);
  if (local == 0u) { output0[row * parameters.words[2].z] = one1; }
  if (local == 0u) { output1[row * parameters.words[2].w] = one18; }
}

// workgroups 5x1x1
// map_divide_subtract_multiply
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read> input2: array<f32>;
@group(0) @binding(4) var<storage, read> input3: array<f32>;
@group(0) @binding(5) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const most_moderate_f32 = 1.099511627776e12f;
const least_moderate_f32 = 9.094947017729282e-13f;
fn moderate_f32(x: f32) -> bool { return (abs(x) < most_moderate_f32) & (abs(x) >= least_moderate_f32); }
fn is_quick_divide_f32(x: f32, y: f32) -> bool { return moderate_f32(x) & moderate_f32(y); }
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
fn quick_divide_f32(x: f32, y: f32) -> f32 {
  let reciprocal = 1.0f / y;
  let estimate = multiply_f32(x, reciprocal);
  let better = fma(residue_f32(x, estimate, y), reciprocal, estimate);
  return fma(residue_f32(x, better, y), reciprocal, better);
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
fn divide_careful_f32(x: f32, y: f32) -> f32 {
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
  if (is_quick_divide_f32(x, y)) { return quick_divide_f32(x, y); }
  return divide_careful_f32(x, y);
}
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one2: f32 = bitcast<f32>(parameters.words[0].z);
  let i0 = first;
  let q0_1 = i0 / parameters.words[0].w;
  let c0_1 = i0 - q0_1 * parameters.words[0].w;
  let c0_0 = q0_1;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let q1_1 = i1 / parameters.words[0].w;
  let c1_1 = i1 - q1_1 * parameters.words[0].w;
  let c1_0 = q1_1;
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let q2_1 = i2 / parameters.words[0].w;
  let c2_1 = i2 - q2_1 * parameters.words[0].w;
  let c2_0 = q2_1;
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let q3_1 = i3 / parameters.words[0].w;
  let c3_1 = i3 - q3_1 * parameters.words[0].w;
  let c3_0 = q3_1;
  let w0 = input0[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v1_0: f32 = input1[parameters.words[1].x + c0_0 * parameters.words[1].y];
  let v1_1: f32 = input1[parameters.words[1].x + c1_0 * parameters.words[1].y];
  let v1_2: f32 = input1[parameters.words[1].x + c2_0 * parameters.words[1].y];
  let v1_3: f32 = input1[parameters.words[1].x + c3_0 * parameters.words[1].y];
  var v3_0: f32;
  var v3_1: f32;
  var v3_2: f32;
  var v3_3: f32;
  if (is_quick_divide_f32(v1_0, one2) & is_quick_divide_f32(v1_1, one2) & is_quick_divide_f32(v1_2, one2) & is_quick_divide_f32(v1_3, one2)) {
    v3_0 = quick_divide_f32(v1_0, one2);
    v3_1 = quick_divide_f32(v1_1, one2);
    v3_2 = quick_divide_f32(v1_2, one2);
    v3_3 = quick_divide_f32(v1_3, one2);
  } else { for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    var operand1: f32;
    switch lane { case 0u: { operand0 = v1_0; operand1 = one2; } case 1u: { operand0 = v1_1; operand1 = one2; } case 2u: { operand0 = v1_2; operand1 = one2; } default: { operand0 = v1_3; operand1 = one2; } }
    let found = divide_f32(operand0, operand1);
    switch lane { case 0u: { v3_0 = found; } case 1u: { v3_1 = found; } case 2u: { v3_2 = found; } default: { v3_3 = found; } }
  } }
  let v4_0: f32 = subtract_f32(v0_0, v3_0);
  let v4_1: f32 = subtract_f32(v0_1, v3_1);
  let v4_2: f32 = subtract_f32(v0_2, v3_2);
  let v4_3: f32 = subtract_f32(v0_3, v3_3);
  let v5_0: f32 = input2[parameters.words[1].z + c0_0 * parameters.words[1].w];
  let v5_1: f32 = input2[parameters.words[1].z + c1_0 * parameters.words[1].w];
  let v5_2: f32 = input2[parameters.words[1].z + c2_0 * parameters.words[1].w];
  let v5_3: f32 = input2[parameters.words[1].z + c3_0 * parameters.words[1].w];
  var v6_0: f32;
  var v6_1: f32;
  var v6_2: f32;
  var v6_3: f32;
  if (is_quick_divide_f32(v4_0, v5_0) & is_quick_divide_f32(v4_1, v5_1) & is_quick_divide_f32(v4_2, v5_2) & is_quick_divide_f32(v4_3, v5_3)) {
    v6_0 = quick_divide_f32(v4_0, v5_0);
    v6_1 = quick_divide_f32(v4_1, v5_1);
    v6_2 = quick_divide_f32(v4_2, v5_2);
    v6_3 = quick_divide_f32(v4_3, v5_3);
  } else { for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    var operand1: f32;
    switch lane { case 0u: { operand0 = v4_0; operand1 = v5_0; } case 1u: { operand0 = v4_1; operand1 = v5_1; } case 2u: { operand0 = v4_2; operand1 = v5_2; } default: { operand0 = v4_3; operand1 = v5_3; } }
    let found = divide_f32(operand0, operand1);
    switch lane { case 0u: { v6_0 = found; } case 1u: { v6_1 = found; } case 2u: { v6_2 = found; } default: { v6_3 = found; } }
  } }
  let v7_0: f32 = input3[parameters.words[2].x + c0_1 * parameters.words[2].y];
  let v7_1: f32 = input3[parameters.words[2].x + c1_1 * parameters.words[2].y];
  let v7_2: f32 = input3[parameters.words[2].x + c2_1 * parameters.words[2].y];
  let v7_3: f32 = input3[parameters.words[2].x + c3_1 * parameters.words[2].y];
  let v8_0: f32 = multiply_f32(v6_0, v7_0);
  let v8_1: f32 = multiply_f32(v6_1, v7_1);
  let v8_2: f32 = multiply_f32(v6_2, v7_2);
  let v8_3: f32 = multiply_f32(v6_3, v7_3);
  output0[first / 4u] = vec4<f32>(v8_0, v8_1, v8_2, v8_3);
}
