// Exponentials and logarithms: reduction to a small range, a series, and the exponent put back by integer operations.
// Errors below 2 ULP, most below 1 (docs/accuracy.md). After fdlibm.

// exp(high + low) - 1 - high for |high| <= log(2)/2 or a little more.
fn expm1_rest_FLOAT(high: FLOAT, low: FLOAT) -> FLOAT {
  let x = high + low;
  let c = x - exp_series_FLOAT(x * x);
  return low + (x * c) / (FLOAT(2.0) - c);
}
fn expm1_reduced_FLOAT(high: FLOAT, low: FLOAT) -> FLOAT { return high + expm1_rest_FLOAT(high, low); }
// 2**k * (1 + y) where 1 + y is in [0.5, 2): subnormal and infinite results too.
fn scaled_FLOAT(y: FLOAT, k: i32) -> FLOAT {
  if (k > 1 - exponent_bias_FLOAT && k < exponent_bias_FLOAT) { return (FLOAT(1.0) + y) * power_of_two_FLOAT(k); }
  return ldexp_FLOAT(FLOAT(1.0) + y, k);
}
// Into the range in which integers of exponents are small; NaN becomes some number.
fn clamped_FLOAT(x: FLOAT, limit: FLOAT) -> FLOAT {
  return select(x, copysign_FLOAT(limit, x), magnitude_FLOAT(x) > magnitude_FLOAT(limit));
}
fn slow_path_exp_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  let bounded = clamped_FLOAT(x, FLOAT(exponent_bias_FLOAT));
  let n = round(bounded * FLOAT(1.44269504088896340736));
  let high = opaque_FLOAT(bounded - n * ln2_high_FLOAT);
  return scaled_FLOAT(expm1_reduced_FLOAT(high, -(n * ln2_low_FLOAT)), i32(n));
}
fn exp2_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  let bounded = clamped_FLOAT(x, FLOAT(2 * exponent_bias_FLOAT));
  let n = round(bounded);
  let product = two_product_FLOAT(bounded - n, FLOAT(0.69314718055994530942));
  return scaled_FLOAT(expm1_reduced_FLOAT(product.x, product.y), i32(n));
}
fn expm1_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x) || magnitude_FLOAT(x) < minute_bits_FLOAT) { return x; }
  let bounded = clamped_FLOAT(x, FLOAT(exponent_bias_FLOAT));
  let n = round(bounded * FLOAT(1.44269504088896340736));
  let k = i32(n);
  if (k < -2 - i32(fraction_width_FLOAT)) { return FLOAT(-1.0); }
  let high = opaque_FLOAT(bounded - n * ln2_high_FLOAT);
  let rest = expm1_rest_FLOAT(high, -(n * ln2_low_FLOAT));
  if (k == 0) { return high + rest; }
  if (k > 62) { return scaled_FLOAT(high + rest, k); }
  // 2**k * ((1 - 2**-k) + high + rest), the first exact or, from 2**24 or 2**53 on, no matter
  let sum = fast_two_sum_FLOAT(FLOAT(1.0) - power_of_two_FLOAT(-k), high);
  return power_of_two_FLOAT(k) * (sum.x + (sum.y + rest));
}

// x = 2**k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
fn log_exponent_FLOAT(x: FLOAT) -> i32 {
  let bits = significand_FLOAT(x) + (sqrt_two_excess_FLOAT & (implicit_bit_FLOAT - 1));
  return scale_FLOAT(x) - exponent_bias_FLOAT + i32((bits >> fraction_width_FLOAT) - 1);
}
fn log_fraction_FLOAT(x: FLOAT, k: i32) -> FLOAT {
  let shifted = scale_FLOAT(x) - k;
  return bitcast<FLOAT>((UNSIGNED(u32(shifted - 1)) << fraction_width_FLOAT) + significand_FLOAT(x)) - FLOAT(1.0);
}
// log(1 + f) - f + f*f/2.
fn log_tail_FLOAT(f: FLOAT) -> FLOAT {
  let s = f / (FLOAT(2.0) + f);
  return s * (FLOAT(0.5) * f * f + log_series_FLOAT(s * s));
}
// What a logarithm gives outside the positive finite numbers.
fn log_special_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  if (!truth_FLOAT(x)) { return -infinity_FLOAT(); }
  return select(infinity_FLOAT(), nan_FLOAT(), signbit_FLOAT(x));
}
fn ordinary_FLOAT(x: FLOAT) -> bool { return bitcast<UNSIGNED>(x) - 1 < infinity_bits_FLOAT - 1; }
fn log_FLOAT(x: FLOAT) -> FLOAT {
  if (!ordinary_FLOAT(x)) { return log_special_FLOAT(x); }
  let k = log_exponent_FLOAT(x);
  let f = log_fraction_FLOAT(x, k);
  let n = FLOAT(k);
  let half_square = FLOAT(0.5) * f * f;
  return opaque_FLOAT(n * ln2_high_FLOAT) - ((half_square - (log_tail_FLOAT(f) + n * ln2_low_FLOAT)) - f);
}
fn log1p_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x) || magnitude_FLOAT(x) < minute_bits_FLOAT) { return x; }
  let u = opaque_FLOAT(FLOAT(1.0) + x);
  if (!ordinary_FLOAT(u)) { return log_special_FLOAT(u); }
  let k = log_exponent_FLOAT(u);
  // near 0 the fraction is x itself; elsewhere what 1 + x lost is put back to first order
  var f = x;
  var lost = FLOAT(0.0);
  if (k != 0) {
    f = log_fraction_FLOAT(u, k);
    lost = select(x - opaque_FLOAT(u - FLOAT(1.0)), FLOAT(1.0) - opaque_FLOAT(u - x), x > FLOAT(1.0)) / u;
    if (k > 60) { lost = FLOAT(0.0); }
  }
  let n = FLOAT(k);
  let half_square = FLOAT(0.5) * f * f;
  return opaque_FLOAT(n * ln2_high_FLOAT) - ((half_square - (log_tail_FLOAT(f) + (n * ln2_low_FLOAT + lost))) - f);
}
// log(1 + f) in two parts, the first with its lower half clear.
fn log_parts_FLOAT(f: FLOAT) -> vec2<FLOAT> {
  let half_square = opaque_FLOAT(FLOAT(0.5) * f * f);
  let high = upper_FLOAT(f - half_square);
  return vec2<FLOAT>(high, (opaque_FLOAT(f - high) - half_square) + log_tail_FLOAT(f));
}
fn log2_FLOAT(x: FLOAT) -> FLOAT {
  if (!ordinary_FLOAT(x)) { return log_special_FLOAT(x); }
  let k = log_exponent_FLOAT(x);
  let parts = log_parts_FLOAT(log_fraction_FLOAT(x, k));
  let low = (parts.y + parts.x) * inverse_ln2_low_FLOAT + parts.y * inverse_ln2_high_FLOAT;
  let sum = fast_two_sum_FLOAT(FLOAT(k), parts.x * inverse_ln2_high_FLOAT);
  return sum.x + (sum.y + low);
}
fn log10_FLOAT(x: FLOAT) -> FLOAT {
  if (!ordinary_FLOAT(x)) { return log_special_FLOAT(x); }
  let k = log_exponent_FLOAT(x);
  let parts = log_parts_FLOAT(log_fraction_FLOAT(x, k));
  let low = FLOAT(k) * log10_2_low_FLOAT + (parts.y + parts.x) * inverse_ln10_low_FLOAT
    + parts.y * inverse_ln10_high_FLOAT;
  let sum = fast_two_sum_FLOAT(FLOAT(k) * log10_2_high_FLOAT, parts.x * inverse_ln10_high_FLOAT);
  return sum.x + (sum.y + low);
}

// As NumPy: the larger plus log1p of the exponential of the (negative) difference.
fn logaddexp_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (equal_FLOAT(x, y)) { return x + FLOAT(0.69314718055994530942); }
  let difference = x - opaque_FLOAT(y);
  if (isnan_FLOAT(difference)) { return quiet_FLOAT(difference); }
  return maximum_FLOAT(x, y) + log1p_FLOAT(exp_FLOAT(-abs_FLOAT(difference)));
}
fn logaddexp2_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (equal_FLOAT(x, y)) { return x + FLOAT(1.0); }
  let difference = x - opaque_FLOAT(y);
  if (isnan_FLOAT(difference)) { return quiet_FLOAT(difference); }
  let power = exp2_FLOAT(-abs_FLOAT(difference));
  return maximum_FLOAT(x, y) + FLOAT(1.44269504088896340736) * log1p_FLOAT(power);
}
