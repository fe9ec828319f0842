// workgroups 244x1x1
// rows_subtract_square_sum_divide parts
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let split = walker / parameters.words[0].w;
  let row = walker - split * parameters.words[0].w;
  let begin = split * 1024u;
  let end = parameters.words[0].z;
  let one5: f32 = bitcast<f32>(parameters.words[1].x);
  let origin = parameters.words[1].y;
  var a4: f32 = 0.0f;
  let b0_0 = 0u;
  let b0_1 = 0u;
  let apart = parameters.words[1].z;
  {
  var column = begin + lane * 4u;
  for (; column + 4u * apart + 3u < end; column += 8u * apart) {
  let i0 = column + 0u * apart + 0u;
  let i1 = column + 0u * apart + 1u;
  let i2 = column + 0u * apart + 2u;
  let i3 = column + 0u * apart + 3u;
  let i4 = column + 4u * apart + 0u;
  let i5 = column + 4u * apart + 1u;
  let i6 = column + 4u * apart + 2u;
  let i7 = column + 4u * apart + 3u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let w0_4 = input0[(b0_0 + i4) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  let v0_4: f32 = w0_4.x;
  let v0_5: f32 = w0_4.y;
  let v0_6: f32 = w0_4.z;
  let v0_7: f32 = w0_4.w;
  let w1_0 = input1[(b0_1 + i0) / 4u];
  let w1_4 = input1[(b0_1 + i4) / 4u];
  let v1_0: f32 = w1_0.x;
  let v1_1: f32 = w1_0.y;
  let v1_2: f32 = w1_0.z;
  let v1_3: f32 = w1_0.w;
  let v1_4: f32 = w1_4.x;
  let v1_5: f32 = w1_4.y;
  let v1_6: f32 = w1_4.z;
  let v1_7: f32 = w1_4.w;
  let v2_0: f32 = subtract_f32(v0_0, v1_0);
  let v2_1: f32 = subtract_f32(v0_1, v1_1);
  let v2_2: f32 = subtract_f32(v0_2, v1_2);
  let v2_3: f32 = subtract_f32(v0_3, v1_3);
  let v3_0: f32 = multiply_f32(v2_0, v2_0);
  let v3_1: f32 = multiply_f32(v2_1, v2_1);
  let v3_2: f32 = multiply_f32(v2_2, v2_2);
  let v3_3: f32 = multiply_f32(v2_3, v2_3);
  let v2_4: f32 = subtract_f32(v0_4, v1_4);
  let v2_5: f32 = subtract_f32(v0_5, v1_5);
  let v2_6: f32 = subtract_f32(v0_6, v1_6);
  let v2_7: f32 = subtract_f32(v0_7, v1_7);
  let v3_4: f32 = multiply_f32(v2_4, v2_4);
  let v3_5: f32 = multiply_f32(v2_5, v2_5);
  let v3_6: f32 = multiply_f32(v2_6, v2_6);
  let v3_7: f32 = multiply_f32(v2_7, v2_7);
  a4 = add_f32(a4, add_f32(add_f32(v3_0, v3_1), add_f32(v3_2, v3_3)));
  a4 = add_f32(a4, add_f32(add_f32(v3_4, v3_5), add_f32(v3_6, v3_7)));
  }
  for (; column < end; column += 4u * apart) {
  let i0 = column;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  let w1_0 = input1[(b0_1 + i0) / 4u];
  let v1_0: f32 = w1_0.x;
  let v1_1: f32 = w1_0.y;
  let v1_2: f32 = w1_0.z;
  let v1_3: f32 = w1_0.w;
  let v2_0: f32 = subtract_f32(v0_0, v1_0);
  let v2_1: f32 = subtract_f32(v0_1, v1_1);
  let v2_2: f32 = subtract_f32(v0_2, v1_2);
  let v2_3: f32 = subtract_f32(v0_3, v1_3);
  let v3_0: f32 = multiply_f32(v2_0, v2_0);
  let v3_1: f32 = multiply_f32(v2_1, v2_1);
  let v3_2: f32 = multiply_f32(v2_2, v2_2);
  let v3_3: f32 = multiply_f32(v2_3, v2_3);
  a4 = add_f32(a4, add_f32(add_f32(v3_0, v3_1), add_f32(v3_2, v3_3)));
  } }
  shared0_f32[local] = a4;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  a4 = add_f32(a4, shared0_f32[local + half]);
  shared0_f32[local] = a4;
  }
  workgroupBarrier();
  }
  a4 = shared0_f32[0u];
  workgroupBarrier();
  let part = (parameters.words[1].w + split) * parameters.words[2].x + row;
  if (lane == 0u) { scratch0[part] = a4; }
}

// workgroups 1x1x1
// rows_subtract_square_sum_divide end
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<f32>;
@group(0) @binding(2) var<storage, read> scratch0: array<f32>;
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
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  let one5: f32 = bitcast<f32>(parameters.words[0].w);
  var a4: f32 = 0.0f;
  var part = lane;
  for (; part + 768u < parameters.words[1].x; part += 1024u) {
  let scratch0_0 = scratch0[(part + 0u) * parameters.words[1].y + row];
  let scratch0_1 = scratch0[(part + 256u) * parameters.words[1].y + row];
  let scratch0_2 = scratch0[(part + 512u) * parameters.words[1].y + row];
  let scratch0_3 = scratch0[(part + 768u) * parameters.words[1].y + row];
  a4 = add_f32(a4, scratch0_0);
  a4 = add_f32(a4, scratch0_1);
  a4 = add_f32(a4, scratch0_2);
  a4 = add_f32(a4, scratch0_3);
  }
  for (; part < parameters.words[1].x; part += 256u) {
  let scratch0_0 = scratch0[part * parameters.words[1].y + row];
  a4 = add_f32(a4, scratch0_0);
  }
  shared0_f32[local] = a4;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  a4 = add_f32(a4, shared0_f32[local + half]);
  shared0_f32[local] = a4;
  }
  workgroupBarrier();
  }
  a4 = shared0_f32[0u];
  workgroupBarrier();
  let one4: f32 = a4;
  let one6: f32 = divide_f32(one4, one5);
  if (lane == 0u) { output0[0u] = one6; }
}
