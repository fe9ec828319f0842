// Division and square root, correctly rounded, subnormals included. Drivers round f64 rightly but f32 not, so the
// built-in f32 result is only an estimate. For ordinary operands its exact remainder, in float32, settles the last bits;
// for the others, in the slow paths, an integer remainder does.

fn divide_f64(x: f64, y: f64) -> f64 { return x / opaque_f64(y); }
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
  // the quotient's 24 bits from an estimate in [1, 2], off by a few; the remainder fits a word although the product may not
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
// The number quotient + left / divisor at a scale, as `compose_f32`, rounded once to nearest even.
fn compose_rest_f32(sign: u32, quotient: u32, left: u32, divisor: u32, scale: i32) -> f32 {
  if (scale > 0) {
    let up = u32(2u * left > divisor || (2u * left == divisor && (quotient & 1u) == 1u));
    return compose_f32(sign, quotient + up, scale);
  }
  // two more bits and a sticky one are all that the rounding of a subnormal can ask for
  let shift = u32(min(1 - scale, 25));
  let kept = quotient >> shift;
  let lost = 2u * (quotient - (kept << shift)) + u32(left != 0u);
  let tie = 1u << shift;
  return bitcast<f32>(sign | (kept + u32(lost > tie || (lost == tie && (kept & 1u) == 1u))));
}

fn sqrt_f64(x: f64) -> f64 {
  if (signbit_f64(x) && truth_f64(x)) { return select(nan_f64(), x, isnan_f64(x)); }
  return select(sqrt(x), x, !truth_f64(x));
}
fn sqrt_slow_path_f32(x: f32) -> f32 {
  if (!truth_f32(x) || isnan_f32(x)) { return x; }
  if (signbit_f32(x)) { return nan_f32(); }
  if (isinf_f32(x)) { return x; }
  // x = m * 2**(2 half) with m in [1, 4); the root's 24 bits are those of sqrt(m * 2**46)
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

// Whether fma rounds once: the device's self-test tells. One instruction then does the work of nine.
override fused_multiply_add: bool = false;

// a * b - product exactly, where product is the rounded one and nothing over- or underflows (Dekker 1971).
fn product_error_f32(a: f32, b: f32, product: f32) -> f32 {
  if (fused_multiply_add) { return fma(a, b, -product); }
  let a_high = bitcast<f32>(bitcast<u32>(a) & upper_half_f32);
  let b_high = bitcast<f32>(bitcast<u32>(b) & upper_half_f32);
  let a_low = a - a_high;
  let b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}
// x - a * b rounded once where it is near zero.
fn residue_f32(x: f32, a: f32, b: f32) -> f32 {
  if (fused_multiply_add) { return fma(-a, b, x); }
  let product = opaque_f32(a * b);
  return (x - product) - product_error_f32(a, b, product);
}

// Magnitudes from 2**-40 to 2**40: products and quotients of two such numbers, and their errors, are all normal.
const least_moderate_f32 = 9.094947017729282e-13f;
const most_moderate_f32 = 1.099511627776e12f;
fn moderate_f32(x: f32) -> bool { return (abs(x) < most_moderate_f32) & (abs(x) >= least_moderate_f32); }

// An estimate, improved twice by its exact remainder (Markstein 1990): correctly rounded. Where remainders are one
// instruction, they are exact of dividends from 2**-78 on, and of divisors without a normal reciprocal and of quotients
// that overflow the result is 0 or NaN: two comparisons do.
fn guard_divide_f32(fine: bool, x: f32, y: f32, quotient: f32) -> bool {
  if (close_estimates) { return fine & (abs(x) >= 0x1p-78f) & (abs(quotient) >= 0x1p-100f); }
  return fine & moderate_f32(x) & moderate_f32(y);
}
// So is a quotient that is 0 of a dividend that is 0, and not the sum or product of numbers of which something was lost.
fn guard_ratio_f32(fine: bool, x: f32, y: f32, quotient: f32) -> bool {
  return guard_divide_f32(fine, x, y, quotient) | (fine & ((bitcast<u32>(x) | bitcast<u32>(quotient)) == 0u));
}
fn fast_path_divide_f32(x: f32, y: f32) -> f32 {
  let reciprocal = 1.0f / y;
  let estimate = multiply_f32(x, reciprocal);
  let better = fma(residue_f32(x, estimate, y), reciprocal, estimate);
  return fma(residue_f32(x, better, y), reciprocal, better);
}
fn divide_f32(x: f32, y: f32) -> f32 {
  let quotient = fast_path_divide_f32(x, y);
  if (guard_divide_f32(true, x, y, quotient)) { return quotient; }
  return divide_slow_path_f32(x, y);
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
  // without it a root next to the middle between two numbers may be the wrong one: the exact remainder decides
  let bits = bitcast<u32>(root);
  let left = residue_f32(x, root, root);
  let above = bitcast<f32>(bits + 1u) - root;
  let below = root - bitcast<f32>(bits - 1u);
  return bitcast<f32>(bits + u32(left > root * above) - u32(left <= -root * below));
}
fn sqrt_f32(x: f32) -> f32 {
  if (guard_sqrt_f32(true, x)) { return fast_path_sqrt_f32(x); }
  return sqrt_slow_path_f32(x);
}
