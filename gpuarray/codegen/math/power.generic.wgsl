// Powers and roots. Errors below 1 ULP. After fdlibm.

// 0 where y is no integer, 1 where it is odd, 2 where it is even (as are infinities).
fn parity_FLOAT(y: FLOAT) -> u32 {
  let exponent = exponent_field_FLOAT(y) - exponent_bias_FLOAT;
  if (exponent < 0) { return select(0u, 2u, !truth_FLOAT(y)); }
  if (exponent > i32(fraction_width_FLOAT)) { return 2u; }
  let significand = significand_FLOAT(y);
  let unit = UNSIGNED(1) << u32(i32(fraction_width_FLOAT) - exponent);
  if ((significand & (unit - 1)) != 0) { return 0u; }
  return select(2u, 1u, (significand & unit) != 0);
}
// log2(x) of positive finite x in two parts, the first with its lower half clear.
fn log2_parts_FLOAT(x: FLOAT) -> vec2<FLOAT> {
  var n = scale_FLOAT(x) - exponent_bias_FLOAT;
  var m = compose_FLOAT(UNSIGNED(0), significand_FLOAT(x), exponent_bias_FLOAT);
  var center = FLOAT(1.0);
  var center_high = FLOAT(0.0);
  var center_low = FLOAT(0.0);
  if (m > FLOAT(1.7320508)) {
    m = FLOAT(0.5) * m;
    n = n + 1;
  } else if (m > FLOAT(1.2247449)) {
    center = FLOAT(1.5);
    center_high = log2_1_5_high_FLOAT;
    center_low = log2_1_5_low_FLOAT;
  }
  // s = (m - center) / (m + center) in two parts
  let u = m - center;
  let v = FLOAT(1.0) / (m + center);
  let s = opaque_FLOAT(u * v);
  let s_high = upper_FLOAT(s);
  let sum_high = upper_FLOAT(opaque_FLOAT(m + center));
  let sum_low = m - opaque_FLOAT(sum_high - center);
  let s_low = v * (opaque_FLOAT(u - s_high * sum_high) - s_high * sum_low);
  // log(m / center) = 2/3 s (3 + s**2 + ...)
  let z = s * s;
  let series = opaque_FLOAT(z * z * log_power_series_FLOAT(z) + s_low * (s_high + s));
  let square = opaque_FLOAT(s_high * s_high);
  let t_high = upper_FLOAT(FLOAT(3.0) + square + series);
  let t_low = series - opaque_FLOAT(opaque_FLOAT(t_high - FLOAT(3.0)) - square);
  let p = opaque_FLOAT(s_high * t_high);
  let q = opaque_FLOAT(s_low * t_high + t_low * s);
  let p_high = upper_FLOAT(p + q);
  let p_low = q - opaque_FLOAT(p_high - p);
  let high = opaque_FLOAT(two_thirds_inverse_ln2_high_FLOAT * p_high);
  let low = opaque_FLOAT(
    two_thirds_inverse_ln2_low_FLOAT * p_high + p_low * two_thirds_inverse_ln2_FLOAT + center_low);
  let whole = FLOAT(n);
  let result = upper_FLOAT(((high + low) + center_high) + whole);
  let taken = opaque_FLOAT(opaque_FLOAT(opaque_FLOAT(result - whole) - center_high) - high);
  return vec2<FLOAT>(result, low - taken);
}
// x**y for positive finite x other than 1, finite y.
fn pow_positive_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  let logarithm = log2_parts_FLOAT(x);
  let power = clamped_FLOAT(y, largest_power_FLOAT);
  let power_high = upper_FLOAT(power);
  let low = opaque_FLOAT((power - power_high) * logarithm.x + power * logarithm.y);
  let high = opaque_FLOAT(power_high * logarithm.x);
  let limit = FLOAT(4 * exponent_bias_FLOAT);
  if (abs_FLOAT(high) > limit) { return select(infinity_FLOAT(), FLOAT(0.0), high < FLOAT(0.0)); }
  let n = round(high + low);
  let left = opaque_FLOAT(high - n);
  let t = upper_FLOAT(low + left);
  let rest = (low - opaque_FLOAT(t - left)) * FLOAT(0.69314718055994530942) + t * ln2_rest_FLOAT;
  return scaled_FLOAT(expm1_reduced_FLOAT(t * ln2_upper_FLOAT, rest), i32(n));
}
fn slow_path_pow_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (!truth_FLOAT(y) || bitcast<UNSIGNED>(x) == one_bits_FLOAT) { return FLOAT(1.0); }
  if (isnan_FLOAT(x)) { return x; }
  if (isnan_FLOAT(y)) { return y; }
  let parity = parity_FLOAT(y);
  let sign = select(UNSIGNED(0), sign_bit_FLOAT, signbit_FLOAT(x) && parity == 1u);
  var magnitude = FLOAT(1.0);
  if (!truth_FLOAT(x) || isinf_FLOAT(x)) {
    magnitude = select(FLOAT(0.0), infinity_FLOAT(), isinf_FLOAT(x) != signbit_FLOAT(y));
  } else if (isinf_FLOAT(y)) {
    let above = magnitude_FLOAT(x) > one_bits_FLOAT;
    if (magnitude_FLOAT(x) != one_bits_FLOAT) {
      magnitude = select(FLOAT(0.0), infinity_FLOAT(), above != signbit_FLOAT(y));
    }
  } else if (signbit_FLOAT(x) && parity == 0u) {
    return nan_FLOAT();
  } else if (magnitude_FLOAT(x) != one_bits_FLOAT) {
    magnitude = pow_positive_FLOAT(abs_FLOAT(x), y);
  }
  return bitcast<FLOAT>(bitcast<UNSIGNED>(magnitude) | sign);
}
fn pow_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT { return slow_path_pow_FLOAT(x, y); }

// An estimate from the bits, a polynomial to half precision, one Halley step from a root whose square is exact.
fn cbrt_FLOAT(x: FLOAT) -> FLOAT {
  if (!isfinite_FLOAT(x) || !truth_FLOAT(x)) { return x; }
  let exponent = scale_FLOAT(x) - exponent_bias_FLOAT;
  let third = (exponent + 3000) / 3 - 1000;
  let m = compose_FLOAT(UNSIGNED(0), significand_FLOAT(x), exponent - 3 * third + exponent_bias_FLOAT);
  var t = bitcast<FLOAT>(bitcast<UNSIGNED>(m) / 3 + cbrt_excess_FLOAT);
  let r = (t * t) * (t / m);
  t = upper_FLOAT(t * cbrt_series_FLOAT(r));
  let quotient = m / (t * t);
  let root = t + t * ((quotient - t) / (t + t + quotient));
  return copysign_FLOAT(root * power_of_two_FLOAT(third), x);
}
// The squares of the scaled operands in two parts each, and a root corrected by what it misses.
fn hypot_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (isinf_FLOAT(x) || isinf_FLOAT(y)) { return infinity_FLOAT(); }
  if (isnan_FLOAT(x)) { return x; }
  if (isnan_FLOAT(y)) { return y; }
  let a = maximum_FLOAT(abs_FLOAT(x), abs_FLOAT(y));
  let b = minimum_FLOAT(abs_FLOAT(x), abs_FLOAT(y));
  if (!truth_FLOAT(b)) { return a; }
  // scaled by a power of two only where squares could overflow or lose bits
  var exponent = 0;
  var x_scaled = a;
  var y_scaled = b;
  if (exponent_field_FLOAT(a) > exponent_bias_FLOAT + exponent_bias_FLOAT / 3
      || exponent_field_FLOAT(b) < exponent_bias_FLOAT - exponent_bias_FLOAT / 3) {
    exponent = scale_FLOAT(a) - exponent_bias_FLOAT;
    if (scale_FLOAT(b) - exponent_bias_FLOAT < exponent - i32(fraction_width_FLOAT) - 2) { return a; }
    x_scaled = ldexp_FLOAT(a, -exponent);
    y_scaled = ldexp_FLOAT(b, -exponent);
  }
  let large = two_product_FLOAT(x_scaled, x_scaled);
  let small = two_product_FLOAT(y_scaled, y_scaled);
  let sum = fast_two_sum_FLOAT(large.x, small.x);
  let root = sqrt(sum.x);
  let square = two_product_FLOAT(root, root);
  let missing = (opaque_FLOAT(sum.x - square.x) - square.y) + (sum.y + large.y + small.y);
  let result = root + missing / (FLOAT(2.0) * root);
  if (exponent == 0) { return result; }
  return ldexp_FLOAT(result, exponent);
}
