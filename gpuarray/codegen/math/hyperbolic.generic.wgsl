// Hyperbolic functions and their inverses, from expm1 and log1p. Errors below 2 ULP. After fdlibm.

fn sinh_FLOAT(x: FLOAT) -> FLOAT {
  if (!isfinite_FLOAT(x) || magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  let magnitude = abs_FLOAT(x);
  let half = copysign_FLOAT(FLOAT(0.5), x);
  if (magnitude > exp_limit_FLOAT) { return copysign_FLOAT(exp_halved_FLOAT(magnitude), x); }
  let t = expm1_FLOAT(magnitude);
  if (magnitude < FLOAT(1.0)) { return half * (FLOAT(2.0) * t - t * t / (t + FLOAT(1.0))); }
  return half * (t + t / (t + FLOAT(1.0)));
}
fn cosh_FLOAT(x: FLOAT) -> FLOAT {
  let magnitude = abs_FLOAT(x);
  if (!isfinite_FLOAT(x)) { return magnitude; }
  if (magnitude > exp_limit_FLOAT) { return exp_halved_FLOAT(magnitude); }
  if (magnitude < FLOAT(0.34657359)) {
    let t = expm1_FLOAT(magnitude);
    let w = FLOAT(1.0) + t;
    return FLOAT(1.0) + (t * t) / (w + w);
  }
  let t = exp_FLOAT(magnitude);
  return FLOAT(0.5) * t + FLOAT(0.5) / t;
}
// exp(x) / 2, where exp(x) itself may overflow.
fn exp_halved_FLOAT(x: FLOAT) -> FLOAT {
  let bounded = clamped_FLOAT(x, FLOAT(exponent_bias_FLOAT));
  let n = round(bounded * FLOAT(1.44269504088896340736));
  let high = opaque_FLOAT(bounded - n * ln2_high_FLOAT);
  return scaled_FLOAT(expm1_reduced_FLOAT(high, -(n * ln2_low_FLOAT)), i32(n) - 1);
}
fn tanh_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x) || magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  let magnitude = abs_FLOAT(x);
  if (magnitude > FLOAT(22.0)) { return copysign_FLOAT(FLOAT(1.0), x); }
  if (magnitude > FLOAT(0.54930614)) {
    let t = expm1_FLOAT(FLOAT(2.0) * magnitude);
    return copysign_FLOAT(FLOAT(1.0) - FLOAT(2.0) / (t + FLOAT(2.0)), x);
  }
  if (magnitude > FLOAT(0.25541281)) {
    let t = expm1_FLOAT(FLOAT(2.0) * magnitude);
    return copysign_FLOAT(divide_FLOAT(t, t + FLOAT(2.0)), x);
  }
  let t = expm1_FLOAT(FLOAT(-2.0) * magnitude);
  return copysign_FLOAT(divide_FLOAT(t, t + FLOAT(2.0)), x);
}
fn asinh_FLOAT(x: FLOAT) -> FLOAT {
  if (!isfinite_FLOAT(x) || magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  let a = abs_FLOAT(x);
  if (a > large_FLOAT) { return copysign_FLOAT(log_FLOAT(a) + FLOAT(0.69314718055994530942), x); }
  if (a > FLOAT(2.0)) {
    return copysign_FLOAT(log_FLOAT(FLOAT(2.0) * a + FLOAT(1.0) / (sqrt(a * a + FLOAT(1.0)) + a)), x);
  }
  let square = a * a;
  return copysign_FLOAT(log1p_FLOAT(a + square / (FLOAT(1.0) + sqrt(FLOAT(1.0) + square))), x);
}
fn acosh_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  if (order_FLOAT(x) < SIGNED(one_bits_FLOAT)) { return nan_FLOAT(); }
  if (!isfinite_FLOAT(x)) { return x; }
  if (x > large_FLOAT) { return log_FLOAT(x) + FLOAT(0.69314718055994530942); }
  if (x > FLOAT(2.0)) { return log_FLOAT(FLOAT(2.0) * x - FLOAT(1.0) / (x + sqrt(x * x - FLOAT(1.0)))); }
  // log(1 + t + sqrt(2 t + t*t)), the root with what it misses
  let t = x - FLOAT(1.0);
  if (!truth_FLOAT(t)) { return t; }
  let square = two_product_FLOAT(t, FLOAT(2.0) + t);
  let root = sqrt(square.x);
  let back = two_product_FLOAT(root, root);
  let missing = ((opaque_FLOAT(square.x - back.x) - back.y) + square.y) / (FLOAT(2.0) * root);
  let sum = two_sum_FLOAT(root, t);
  return log1p_FLOAT(sum.x) + (sum.y + missing) / (FLOAT(1.0) + sum.x);
}
fn atanh_FLOAT(x: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x) || magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  if (magnitude_FLOAT(x) > one_bits_FLOAT) { return nan_FLOAT(); }
  if (magnitude_FLOAT(x) == one_bits_FLOAT) { return copysign_FLOAT(infinity_FLOAT(), x); }
  let a = abs_FLOAT(x);
  let t = a + a;
  if (a < FLOAT(0.5)) { return copysign_FLOAT(FLOAT(0.5) * log1p_FLOAT(t + t * a / (FLOAT(1.0) - a)), x); }
  return copysign_FLOAT(FLOAT(0.5) * log1p_FLOAT(t / (FLOAT(1.0) - a)), x);
}
