// Inverse trigonometric functions. Errors below 1 ULP, but of atan2 below 2. After fdlibm.

fn asin_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x) || magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  if (magnitude_FLOAT(x) > one_bits_FLOAT) { return nan_FLOAT(); }
  if (magnitude_FLOAT(x) < half_bits_FLOAT) { return x + x * asin_series_FLOAT(x * x); }
  // pi/2 - 2 asin(sqrt((1 - |x|) / 2))
  let t = (FLOAT(1.0) - abs_FLOAT(x)) * FLOAT(0.5);
  let series = asin_series_FLOAT(t);
  let root = sqrt(t);
  let high = upper_FLOAT(root);
  let low = select((t - high * high) / (root + high), FLOAT(0.0), t == FLOAT(0.0));
  let p = FLOAT(2.0) * root * series - (half_pi_low_FLOAT - FLOAT(2.0) * low);
  let q = FLOAT(0.5) * half_pi_FLOAT - FLOAT(2.0) * high;
  return copysign_FLOAT(FLOAT(0.5) * half_pi_FLOAT - (p - q), x);
}
fn acos_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  if (magnitude_FLOAT(x) > one_bits_FLOAT) { return nan_FLOAT(); }
  if (magnitude_FLOAT(x) < half_bits_FLOAT) {
    return half_pi_FLOAT - (x - (half_pi_low_FLOAT - x * asin_series_FLOAT(x * x)));
  }
  let t = (FLOAT(1.0) - abs_FLOAT(x)) * FLOAT(0.5);
  let series = asin_series_FLOAT(t);
  let root = sqrt(t);
  if (signbit_FLOAT(x)) {
    return FLOAT(2.0) * (half_pi_FLOAT - (root + (series * root - half_pi_low_FLOAT)));
  }
  if (t == FLOAT(0.0)) { return t; }
  let high = upper_FLOAT(root);
  let low = (t - high * high) / (root + high);
  return FLOAT(2.0) * (high + (series * root + low));
}
fn atan_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x) || magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  if (isinf_FLOAT(x)) { return copysign_FLOAT(half_pi_FLOAT, x); }
  let a = abs_FLOAT(x);
  if (a < FLOAT(0.4375)) { return x - x * atan_series_FLOAT(x * x); }
  // atan(a) = atan(c) + atan((a - c) / (1 + a c)) for c = 1/2, 1, 3/2, infinity
  var high = half_pi_FLOAT;
  var low = half_pi_low_FLOAT;
  var t = FLOAT(0.0);
  if (a < FLOAT(0.6875)) {
    high = atan_half_FLOAT;
    low = atan_half_low_FLOAT;
    t = (FLOAT(2.0) * a - FLOAT(1.0)) / (FLOAT(2.0) + a);
  } else if (a < FLOAT(1.1875)) {
    high = FLOAT(0.5) * half_pi_FLOAT;
    low = FLOAT(0.5) * half_pi_low_FLOAT;
    t = (a - FLOAT(1.0)) / (a + FLOAT(1.0));
  } else if (a < FLOAT(2.4375)) {
    high = atan_three_halves_FLOAT;
    low = atan_three_halves_low_FLOAT;
    t = (a - FLOAT(1.5)) / (FLOAT(1.0) + FLOAT(1.5) * a);
  } else {
    t = FLOAT(-1.0) / a;
  }
  return copysign_FLOAT(high - ((t * atan_series_FLOAT(t * t) - low) - t), x);
}
// The angle of (x, y); the signs of zeros choose the side.
fn atan2_FLOAT(y: FLOAT, x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  if (isnan_FLOAT(y)) { return y; }
  var angle = FLOAT(0.0);
  if (!truth_FLOAT(y)) { angle = FLOAT(0.0); }
  else if (isinf_FLOAT(x) && isinf_FLOAT(y)) { angle = FLOAT(0.5) * half_pi_FLOAT; }
  else if (isinf_FLOAT(y) || !truth_FLOAT(x)) { angle = half_pi_FLOAT; }
  else if (!isinf_FLOAT(x)) { angle = atan_FLOAT(divide_FLOAT(abs_FLOAT(y), abs_FLOAT(x))); }
  if (signbit_FLOAT(x)) {
    angle = FLOAT(2.0) * half_pi_FLOAT - (angle - FLOAT(2.0) * half_pi_low_FLOAT);
  }
  return copysign_FLOAT(angle, y);
}
