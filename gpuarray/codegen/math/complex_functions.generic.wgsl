// Exponentials, logarithms, circular and hyperbolic functions of complex numbers; special cases as C99, Annex G.

// factor exp(x) (cos y, sin y). The power of two in exp(x) comes last, by integers: exp(x) alone may overflow, and one of
// the parts be subnormal, which devices flush.
fn polar_exp_FLOAT(factor: FLOAT, x: FLOAT, y: FLOAT) -> vec2<FLOAT> {
  // what is tiny is its own sine, of which a multiple is taken, since it may be subnormal
  let tiny = magnitude_FLOAT(y) < magnitude_FLOAT(FLOAT(1e-30));
  let up = select(0, 64, tiny);
  var sine = ldexp_FLOAT(y, up);
  if (!tiny) { sine = slow_path_sin_FLOAT(y, 0u); }
  let direction = vec2<FLOAT>(factor * slow_path_sin_FLOAT(y, 1u), factor * sine);
  if (!isfinite_FLOAT(x)) { return direction * slow_path_exp_FLOAT(x); }
  let bounded = clamped_FLOAT(x, FLOAT(2 * exponent_bias_FLOAT));
  let n = round(bounded * FLOAT(1.44269504088896340736));
  let high = opaque_FLOAT(bounded - n * ln2_high_FLOAT);
  let rest = direction * add_FLOAT(FLOAT(1.0), expm1_reduced_FLOAT(high, -(n * ln2_low_FLOAT)));
  return vec2<FLOAT>(ldexp_FLOAT(rest.x, i32(n)), ldexp_FLOAT(rest.y, i32(n) - up));
}
fn exp_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (!truth_FLOAT(z.y)) { return vec2<FLOAT>(exp_FLOAT(z.x), z.y); }
  if (!isfinite_FLOAT(z.y)) {
    if (isinf_FLOAT(z.x) && signbit_FLOAT(z.x)) { return vec2<FLOAT>(FLOAT(0.0), copysign_FLOAT(FLOAT(0.0), z.y)); }
    if (isinf_FLOAT(z.x)) { return vec2<FLOAT>(infinity_FLOAT(), nan_FLOAT()); }
    return vec2<FLOAT>(nan_FLOAT(), nan_FLOAT());
  }
  return polar_exp_FLOAT(FLOAT(1.0), z.x, z.y);
}
fn ln2_times_FLOAT(x: FLOAT) -> vec2<FLOAT> {
  let product = two_product_FLOAT(x, ln2_high_FLOAT);
  return two_sum_FLOAT(product.x, opaque_FLOAT(x * ln2_low_FLOAT) + product.y);
}
// exp(z log 2), with z log 2 = high + low in two parts, is exp(high) (1 + low).
fn exp2_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (!truth_FLOAT(z.y)) { return vec2<FLOAT>(exp2_FLOAT(z.x), z.y); }
  let x = ln2_times_FLOAT(z.x);
  let y = ln2_times_FLOAT(z.y);
  let most = magnitude_FLOAT(FLOAT(1e-3));
  let is_near = magnitude_FLOAT(x.y) < most && magnitude_FLOAT(y.y) < most;
  let found = exp_COMPLEX(select(z * FLOAT(0.69314718055994530942), vec2<FLOAT>(x.x, y.x), is_near));
  if (!is_near || !isfinite_FLOAT(found.x) || !isfinite_FLOAT(found.y)) { return found; }
  return found + vec2<FLOAT>(found.x * x.y - found.y * y.y, found.x * y.y + found.y * x.y);
}
fn expm1_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  let most = FLOAT(exponent_bias_FLOAT) * FLOAT(0.5);
  if (isfinite_FLOAT(z.x) && abs_FLOAT(z.x) > most) { return exp_COMPLEX(z) - vec2<FLOAT>(FLOAT(1.0), FLOAT(0.0)); }
  let half_sine = sin_FLOAT(z.y * FLOAT(0.5));
  let cosine = cos_FLOAT(z.y);
  let power = exp_FLOAT(z.x);
  let near = opaque_FLOAT(expm1_FLOAT(z.x) * cosine) - FLOAT(2.0) * half_sine * half_sine;
  let far = opaque_FLOAT(power * cosine) - FLOAT(1.0);  // away from 1 it keeps its digits
  return vec2<FLOAT>(select(near, far, z.x > FLOAT(2.0) || z.x < FLOAT(-1.0)), power * sin_FLOAT(z.y));
}

// log of the magnitude; near 1 from x*x + y*y - 1 with the products in two parts.
fn log_magnitude_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  let large = maximum_FLOAT(abs_FLOAT(x), abs_FLOAT(y));
  let small = minimum_FLOAT(abs_FLOAT(x), abs_FLOAT(y));
  if (isinf_FLOAT(x) || isinf_FLOAT(y)) { return infinity_FLOAT(); }
  if (!ordinary_FLOAT(large)) { return log_FLOAT(large); }
  if (large > FLOAT(0.5) && large < FLOAT(1.5) && small < FLOAT(1.5)) {
    let a = two_product_FLOAT(large, large);
    let b = two_product_FLOAT(small, small);
    let most = two_sum_FLOAT(a.x, FLOAT(-1.0));
    let sum = two_sum_FLOAT(most.x, b.x);
    return FLOAT(0.5) * log1p_FLOAT(sum.x + (sum.y + most.y + a.y + b.y));
  }
  let exponent = scale_FLOAT(large) - exponent_bias_FLOAT;
  let magnitude = hypot_FLOAT(ldexp_FLOAT(large, -exponent), ldexp_FLOAT(small, -exponent));
  return FLOAT(exponent) * ln2_high_FLOAT + (log_FLOAT(magnitude) + FLOAT(exponent) * ln2_low_FLOAT);
}
fn log_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  return vec2<FLOAT>(log_magnitude_FLOAT(z.x, z.y), atan2_FLOAT(z.y, z.x));
}
fn log2_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return log_COMPLEX(z) * FLOAT(1.44269504088896340736); }
fn log10_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return log_COMPLEX(z) * FLOAT(0.43429448190325182765); }
// 0.5 log1p(2x + x*x + y*y) where that is small, which keeps what NumPy's log(hypot(x + 1, y)) would lose.
fn log1p_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  let angle = atan2_FLOAT(z.y, FLOAT(1.0) + z.x);
  if (less_FLOAT(abs_FLOAT(z.x), FLOAT(0.25)) && less_FLOAT(abs_FLOAT(z.y), FLOAT(0.5))) {
    let a = two_product_FLOAT(z.x, FLOAT(2.0) + z.x);
    let b = two_product_FLOAT(z.y, z.y);
    let sum = two_sum_FLOAT(a.x, b.x);
    return vec2<FLOAT>(FLOAT(0.5) * log1p_FLOAT(sum.x + (sum.y + a.y + b.y)), angle);
  }
  return vec2<FLOAT>(log_magnitude_FLOAT(FLOAT(1.0) + z.x, z.y), angle);
}

// An infinite number as a direction of length 1 or so, another with its NaN parts as 0: C99, G.5.1.
fn boxed_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  return vec2<FLOAT>(
    copysign_FLOAT(FLOAT(isinf_FLOAT(z.x)), z.x), copysign_FLOAT(FLOAT(isinf_FLOAT(z.y)), z.y));
}
fn without_nan_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  return vec2<FLOAT>(
    select(z.x, copysign_FLOAT(FLOAT(0.0), z.x), isnan_FLOAT(z.x)),
    select(z.y, copysign_FLOAT(FLOAT(0.0), z.y), isnan_FLOAT(z.y)));
}
// The product as C has it: infinite where a factor is, NaN parts or not.
fn multiply_infinite_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  let product = multiply_COMPLEX(a, b);
  if (!isnan_FLOAT(product.x) || !isnan_FLOAT(product.y) || (!isinf_COMPLEX(a) && !isinf_COMPLEX(b))) { return product; }
  var x = without_nan_COMPLEX(a);
  var y = without_nan_COMPLEX(b);
  if (isinf_COMPLEX(a)) { x = boxed_COMPLEX(a); }
  if (isinf_COMPLEX(b)) { y = boxed_COMPLEX(b); }
  let direction = multiply_COMPLEX(x, y);
  return vec2<FLOAT>(multiply_FLOAT(infinity_FLOAT(), direction.x), multiply_FLOAT(infinity_FLOAT(), direction.y));
}
// The product of as many equal factors, by repeated squares.
fn repeated_product_COMPLEX(factor: vec2<FLOAT>, count: u32) -> vec2<FLOAT> {
  // from 1, whose product with an infinity has a NaN, in NumPy too
  var result = opaque_COMPLEX(vec2<FLOAT>(FLOAT(1.0), FLOAT(0.0)));
  var base = factor;
  var left = count;
  while (left != 0u) {
    if ((left & 1u) == 1u) { result = multiply_COMPLEX(result, base); }
    base = multiply_COMPLEX(base, base);
    left = left >> 1u;
  }
  return result;
}
// A power by multiplication, as NumPy; the exponent is an integer of less than 100.
fn whole_power_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  if (!truth_COMPLEX(b)) { return vec2<FLOAT>(FLOAT(1.0), FLOAT(0.0)); }
  if (!truth_COMPLEX(a)) {
    if (greater_FLOAT(b.x, FLOAT(0.0))) { return vec2<FLOAT>(FLOAT(0.0), FLOAT(0.0)); }
    return vec2<FLOAT>(nan_FLOAT(), nan_FLOAT());
  }
  let left = u32(abs_FLOAT(b.x));
  if (!signbit_FLOAT(b.x) && left <= 3u) {
    if (left == 1u) { return a; }
    let square = multiply_COMPLEX(a, a);
    if (left == 2u) { return square; }
    return multiply_COMPLEX(a, square);
  }
  let power = repeated_product_COMPLEX(a, left);
  if (!signbit_FLOAT(b.x)) { return power; }
  if (max(magnitude_FLOAT(power.x), magnitude_FLOAT(power.y)) < implicit_bit_FLOAT) {
    // its reciprocal may be finite, also where subnormal numbers are 0
    let other = repeated_product_COMPLEX(reciprocal_COMPLEX(a), left);
    if (isfinite_COMPLEX(other)) { return other; }
  }
  return divide_COMPLEX(opaque_COMPLEX(vec2<FLOAT>(FLOAT(1.0), FLOAT(0.0))), power);
}
// As NumPy: small integer exponents by multiplication, all others by exp(b log(a)).
fn pow_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  let small = magnitude_FLOAT(b.x) < magnitude_FLOAT(FLOAT(100.0));
  let is_whole = !truth_FLOAT(b.y) && small && parity_FLOAT(b.x) != 0u;
  if (is_whole || !truth_COMPLEX(a)) { return whole_power_COMPLEX(a, b); }
  let logarithm = log_COMPLEX(a);
  let exponent = multiply_infinite_COMPLEX(b, logarithm);
  if (!isfinite_COMPLEX(exponent)) { return exp_COMPLEX(exponent); }
  // a few digits more than one number has, as an error of the exponent is a relative one of the power
  let x = two_product_FLOAT(b.x, logarithm.x);
  let y = two_product_FLOAT(b.y, logarithm.y);
  let u = two_product_FLOAT(b.x, logarithm.y);
  let v = two_product_FLOAT(b.y, logarithm.x);
  let real = two_sum_FLOAT(x.x, -y.x);
  let imaginary = two_sum_FLOAT(u.x, v.x);
  let power = exp_COMPLEX(vec2<FLOAT>(real.x, imaginary.x));
  let least = min(magnitude_FLOAT(power.x), magnitude_FLOAT(power.y));
  if (least < magnitude_FLOAT(FLOAT(1e-30)) || !isfinite_COMPLEX(power)) { return power; }
  let rest = vec2<FLOAT>(real.y + (x.y - y.y), imaginary.y + (u.y + v.y));
  return power + vec2<FLOAT>(power.x * rest.x - power.y * rest.y, power.x * rest.y + power.y * rest.x);
}

fn sinh_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (!truth_FLOAT(z.y)) { return vec2<FLOAT>(sinh_FLOAT(z.x), z.y); }
  if (!isfinite_FLOAT(z.y)) {
    // C99 leaves the sign of this infinity open
    let real = select(nan_FLOAT(), infinity_FLOAT(), isinf_FLOAT(z.x));
    return vec2<FLOAT>(select(real, z.x, !truth_FLOAT(z.x)), nan_FLOAT());
  }
  if (abs_FLOAT(z.x) > exp_limit_FLOAT) {
    let w = polar_exp_FLOAT(FLOAT(0.5), abs_FLOAT(z.x), z.y);
    return vec2<FLOAT>(select(w.x, -w.x, signbit_FLOAT(z.x)), w.y);
  }
  return vec2<FLOAT>(sinh_FLOAT(z.x) * cos_FLOAT(z.y), cosh_FLOAT(z.x) * sin_FLOAT(z.y));
}
fn cosh_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (!truth_FLOAT(z.y)) {
    return vec2<FLOAT>(cosh_FLOAT(z.x), select(z.y, negative_FLOAT(z.y), signbit_FLOAT(z.x) && !isnan_FLOAT(z.x)));
  }
  if (!isfinite_FLOAT(z.y)) {
    let real = select(nan_FLOAT(), infinity_FLOAT(), isinf_FLOAT(z.x));
    return vec2<FLOAT>(real, select(nan_FLOAT(), FLOAT(0.0), !truth_FLOAT(z.x)));
  }
  if (!truth_FLOAT(z.x)) { return vec2<FLOAT>(cos_FLOAT(z.y), z.x * sin_FLOAT(z.y)); }
  if (abs_FLOAT(z.x) > exp_limit_FLOAT) {
    let w = polar_exp_FLOAT(FLOAT(0.5), abs_FLOAT(z.x), z.y);
    return vec2<FLOAT>(w.x, select(w.y, -w.y, signbit_FLOAT(z.x)));
  }
  return vec2<FLOAT>(cosh_FLOAT(z.x) * cos_FLOAT(z.y), sinh_FLOAT(z.x) * sin_FLOAT(z.y));
}
// Kahan (1987).
fn tanh_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (isnan_FLOAT(z.x)) { return vec2<FLOAT>(z.x, select(z.x, z.y, !truth_FLOAT(z.y))); }
  if (isinf_FLOAT(z.x)) {
    var y = z.y;
    if (isfinite_FLOAT(y)) { y = sin_FLOAT(y) * cos_FLOAT(y); }
    return vec2<FLOAT>(copysign_FLOAT(FLOAT(1.0), z.x), copysign_FLOAT(FLOAT(0.0), y));
  }
  if (!isfinite_FLOAT(z.y)) { return vec2<FLOAT>(select(nan_FLOAT(), z.x, !truth_FLOAT(z.x)), nan_FLOAT()); }
  if (abs_FLOAT(z.x) > FLOAT(22.0)) {
    let decay = exp_FLOAT(-abs_FLOAT(z.x));
    return vec2<FLOAT>(
      copysign_FLOAT(FLOAT(1.0), z.x), opaque_FLOAT(FLOAT(4.0) * sin_FLOAT(z.y) * cos_FLOAT(z.y) * decay) * decay);
  }
  let t = tan_FLOAT(z.y);
  let s = sinh_FLOAT(z.x);
  let beta = FLOAT(1.0) + t * t;
  let rho = sqrt(FLOAT(1.0) + s * s);
  let denominator = FLOAT(1.0) + beta * s * s;
  // near 0 the same as sinh x and a correction
  let near = s + s * ((t * t - beta * s * s * (rho / (rho + FLOAT(1.0)))) / denominator);
  let is_near = abs_FLOAT(s) < FLOAT(1.0) && abs_FLOAT(t) < FLOAT(0.25);
  return vec2<FLOAT>(select((beta * rho * s) / denominator, near, is_near), t / denominator);
}
fn sin_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (!isfinite_FLOAT(z.x) && isinf_FLOAT(z.y)) { return vec2<FLOAT>(nan_FLOAT(), infinity_FLOAT()); }
  return turned_right_COMPLEX(sinh_COMPLEX(turned_left_COMPLEX(z)));
}
fn cos_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return cosh_COMPLEX(turned_left_COMPLEX(z)); }
fn tan_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return turned_right_COMPLEX(tanh_COMPLEX(turned_left_COMPLEX(z))); }

// The inverses after Kahan (1987), from the roots of 1 - z and 1 + z.
fn asin_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return turned_right_COMPLEX(asinh_COMPLEX(turned_left_COMPLEX(z))); }
fn asinh_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (isinf_COMPLEX(z)) {
    return vec2<FLOAT>(copysign_FLOAT(infinity_FLOAT(), z.x), atan2_FLOAT(z.y, abs_FLOAT(z.x)));
  }
  if (isnan_COMPLEX(z)) { return vec2<FLOAT>(nan_FLOAT(), select(nan_FLOAT(), z.y, !truth_FLOAT(z.y))); }
  // asinh(z) = -i asin(i z): with w = i z, roots of 1 - w and 1 + w
  let below = sqrt_COMPLEX(vec2<FLOAT>(FLOAT(1.0) + z.y, negative_FLOAT(z.x)));
  let above = sqrt_COMPLEX(vec2<FLOAT>(FLOAT(1.0) - z.y, z.x));
  let imaginary = below.x * above.y - opaque_FLOAT(below.y * above.x);
  let real = opaque_FLOAT(below.x * above.x) - opaque_FLOAT(below.y * above.y);
  return vec2<FLOAT>(copysign_FLOAT(asinh_FLOAT(imaginary), z.x), atan2_FLOAT(z.y, abs_FLOAT(real)));
}
fn acos_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (isinf_COMPLEX(z)) {
    return vec2<FLOAT>(atan2_FLOAT(abs_FLOAT(z.y), z.x), copysign_FLOAT(infinity_FLOAT(), negative_FLOAT(z.y)));
  }
  if (isnan_COMPLEX(z)) { return vec2<FLOAT>(select(nan_FLOAT(), half_pi_FLOAT, !truth_FLOAT(z.x)), nan_FLOAT()); }
  let below = sqrt_COMPLEX(vec2<FLOAT>(FLOAT(1.0) - z.x, negative_FLOAT(z.y)));
  let above = sqrt_COMPLEX(vec2<FLOAT>(FLOAT(1.0) + z.x, z.y));
  let imaginary = above.x * below.y - opaque_FLOAT(above.y * below.x);
  return vec2<FLOAT>(FLOAT(2.0) * atan2_FLOAT(below.x, above.x), copysign_FLOAT(asinh_FLOAT(imaginary), negative_FLOAT(z.y)));
}
fn acosh_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  let w = acos_COMPLEX(z);
  if (isnan_FLOAT(w.x) && isnan_FLOAT(w.y)) { return w; }
  if (isnan_FLOAT(w.x)) { return vec2<FLOAT>(abs_FLOAT(w.y), w.x); }
  return vec2<FLOAT>(abs_FLOAT(w.y), copysign_FLOAT(w.x, z.y));
}
fn atanh_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (isinf_COMPLEX(z)) {
    let angle = copysign_FLOAT(half_pi_FLOAT, z.y);
    return vec2<FLOAT>(copysign_FLOAT(FLOAT(0.0), z.x), select(angle, z.y, isnan_FLOAT(z.y)));
  }
  if (isnan_COMPLEX(z)) { return vec2<FLOAT>(select(nan_FLOAT(), z.x, !truth_FLOAT(z.x)), nan_FLOAT()); }
  let x = abs_FLOAT(z.x);
  let y = abs_FLOAT(z.y);
  if (maximum_FLOAT(x, y) > vast_FLOAT) {
    return vec2<FLOAT>(copysign_FLOAT(abs_FLOAT(reciprocal_COMPLEX(z).x), z.x), copysign_FLOAT(half_pi_FLOAT, z.y));
  }
  let rest = FLOAT(1.0) - x;
  let denominator = rest * rest + y * y;
  var real = infinity_FLOAT();
  if (truth_FLOAT(denominator)) { real = FLOAT(0.25) * log1p_FLOAT(FLOAT(4.0) * x / denominator); }
  else if (truth_FLOAT(y)) { real = FLOAT(0.5) * (FLOAT(0.69314718055994530942) - log_FLOAT(y)); }
  let imaginary = FLOAT(0.5) * atan2_FLOAT(FLOAT(2.0) * y, rest * (FLOAT(1.0) + x) - y * y);
  return vec2<FLOAT>(copysign_FLOAT(real, z.x), copysign_FLOAT(imaginary, z.y));
}
fn atan_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return turned_right_COMPLEX(atanh_COMPLEX(turned_left_COMPLEX(z))); }
