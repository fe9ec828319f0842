// Complex numbers as (real, imaginary) pairs: arithmetic, order and roots, in NumPy's formulas and special cases.

fn opaque_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return vec2<FLOAT>(opaque_FLOAT(z.x), opaque_FLOAT(z.y)); }
fn subtract_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> { return opaque_COMPLEX(a - opaque_COMPLEX(b)); }
fn negative_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return vec2<FLOAT>(negative_FLOAT(z.x), negative_FLOAT(z.y)); }
fn conj_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return vec2<FLOAT>(z.x, negative_FLOAT(z.y)); }
fn rint_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return vec2<FLOAT>(rint_FLOAT(z.x), rint_FLOAT(z.y)); }
fn abs_COMPLEX(z: vec2<FLOAT>) -> FLOAT { return hypot_FLOAT(z.x, z.y); }
fn truth_COMPLEX(z: vec2<FLOAT>) -> bool { return truth_FLOAT(z.x) || truth_FLOAT(z.y); }
fn isnan_COMPLEX(z: vec2<FLOAT>) -> bool { return isnan_FLOAT(z.x) || isnan_FLOAT(z.y); }
fn isinf_COMPLEX(z: vec2<FLOAT>) -> bool { return isinf_FLOAT(z.x) || isinf_FLOAT(z.y); }
fn isfinite_COMPLEX(z: vec2<FLOAT>) -> bool { return isfinite_FLOAT(z.x) && isfinite_FLOAT(z.y); }
// i z and -i z.
fn turned_left_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return vec2<FLOAT>(negative_FLOAT(z.y), z.x); }
fn turned_right_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> { return vec2<FLOAT>(z.y, negative_FLOAT(z.x)); }

fn multiply_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  return vec2<FLOAT>(opaque_FLOAT(a.x * b.x) - opaque_FLOAT(a.y * b.y), opaque_FLOAT(a.x * b.y) + opaque_FLOAT(a.y * b.x));
}
fn square_COMPLEX(a: vec2<FLOAT>) -> vec2<FLOAT> { return multiply_COMPLEX(a, a); }
// Smith (1962), as NumPy: by the larger part of b. Both cases share their real quotients, which are long to compile.
fn divide_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  let by_real = greater_equal_FLOAT(abs_FLOAT(b.x), abs_FLOAT(b.y));
  let larger = select(b.y, b.x, by_real);
  if (by_real && !truth_FLOAT(larger)) {
    return vec2<FLOAT>(multiply_FLOAT(a.x, infinity_FLOAT()), multiply_FLOAT(a.y, infinity_FLOAT()));
  }
  let smaller = select(b.x, b.y, by_real);
  let ratio = divide_FLOAT(smaller, larger);
  let scale = divide_FLOAT(FLOAT(1.0), larger + opaque_FLOAT(smaller * ratio));
  let turned = select(a.yx, a.xy, by_real);
  let part = opaque_FLOAT(turned.x * ratio);
  let imaginary = select(part - turned.y, turned.y - part, by_real);
  return vec2<FLOAT>((turned.x + opaque_FLOAT(turned.y * ratio)) * scale, imaginary * scale);
}
fn reciprocal_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  let by_real = less_equal_FLOAT(abs_FLOAT(z.y), abs_FLOAT(z.x));
  let larger = select(z.y, z.x, by_real);
  let smaller = select(z.x, z.y, by_real);
  let ratio = divide_FLOAT(smaller, larger);
  let scale = opaque_FLOAT(larger + opaque_FLOAT(smaller * ratio));
  let real = divide_FLOAT(select(ratio, FLOAT(1.0), by_real), scale);
  return vec2<FLOAT>(real, divide_FLOAT(select(FLOAT(-1.0), -ratio, by_real), scale));
}
fn sign_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  let magnitude = abs_COMPLEX(z);
  if (isnan_FLOAT(magnitude) || (isinf_FLOAT(z.x) && isinf_FLOAT(z.y))) { return vec2<FLOAT>(nan_FLOAT(), nan_FLOAT()); }
  if (isinf_FLOAT(z.x)) { return vec2<FLOAT>(copysign_FLOAT(FLOAT(1.0), z.x), FLOAT(0.0)); }
  if (isinf_FLOAT(z.y)) { return vec2<FLOAT>(FLOAT(0.0), copysign_FLOAT(FLOAT(1.0), z.y)); }
  if (!truth_FLOAT(magnitude)) { return vec2<FLOAT>(FLOAT(0.0), FLOAT(0.0)); }
  return vec2<FLOAT>(divide_FLOAT(z.x, magnitude), divide_FLOAT(z.y, magnitude));
}

// Lexicographic order; a NaN in the imaginary parts makes unequal real parts incomparable too, as in NumPy.
fn equal_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> bool { return equal_FLOAT(a.x, b.x) && equal_FLOAT(a.y, b.y); }
fn not_equal_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> bool { return !equal_COMPLEX(a, b); }
fn less_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> bool {
  if (equal_FLOAT(a.x, b.x)) { return less_FLOAT(a.y, b.y); }
  return less_FLOAT(a.x, b.x) && comparable_FLOAT(a.y, b.y);
}
fn less_equal_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> bool {
  if (equal_FLOAT(a.x, b.x)) { return less_equal_FLOAT(a.y, b.y); }
  return less_FLOAT(a.x, b.x) && comparable_FLOAT(a.y, b.y);
}
fn greater_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> bool { return less_COMPLEX(b, a); }
fn greater_equal_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> bool { return less_equal_COMPLEX(b, a); }
fn maximum_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  return select(b, a, isnan_COMPLEX(a) || less_equal_COMPLEX(b, a));
}
fn minimum_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  return select(b, a, isnan_COMPLEX(a) || less_equal_COMPLEX(a, b));
}
fn fmax_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  return select(b, a, isnan_COMPLEX(b) || less_equal_COMPLEX(b, a));
}
fn fmin_COMPLEX(a: vec2<FLOAT>, b: vec2<FLOAT>) -> vec2<FLOAT> {
  return select(b, a, isnan_COMPLEX(b) || less_equal_COMPLEX(a, b));
}

// The principal root; scaled by an even power of two so that nothing overflows.
fn sqrt_COMPLEX(z: vec2<FLOAT>) -> vec2<FLOAT> {
  if (isinf_FLOAT(z.y)) { return vec2<FLOAT>(infinity_FLOAT(), z.y); }
  if (!truth_COMPLEX(z)) { return vec2<FLOAT>(FLOAT(0.0), z.y); }
  if (isnan_FLOAT(z.x)) { return vec2<FLOAT>(z.x, select(z.x, z.y, isnan_FLOAT(z.y))); }
  if (isinf_FLOAT(z.x)) {
    let small = select(FLOAT(0.0), z.y, isnan_FLOAT(z.y));
    if (signbit_FLOAT(z.x)) { return vec2<FLOAT>(small, copysign_FLOAT(infinity_FLOAT(), z.y)); }
    return vec2<FLOAT>(z.x, copysign_FLOAT(small, z.y));
  }
  if (isnan_FLOAT(z.y)) { return vec2<FLOAT>(z.y, z.y); }
  let larger = maximum_FLOAT(abs_FLOAT(z.x), abs_FLOAT(z.y));
  let half = (scale_FLOAT(larger) - exponent_bias_FLOAT) >> 1u;
  let x = ldexp_FLOAT(z.x, -2 * half);
  let y = ldexp_FLOAT(z.y, -2 * half);
  let t = sqrt_FLOAT((abs_FLOAT(x) + hypot_FLOAT(x, y)) * FLOAT(0.5));
  let whole = ldexp_FLOAT(t, half);
  let part = ldexp_FLOAT(divide_FLOAT(y, t + t), half);
  if (signbit_FLOAT(z.x)) { return vec2<FLOAT>(abs_FLOAT(part), copysign_FLOAT(whole, z.y)); }
  return vec2<FLOAT>(whole, copysign_FLOAT(part, z.y));
}
