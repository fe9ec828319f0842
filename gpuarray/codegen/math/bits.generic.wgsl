// Numbers as bits: tests, order, signs and exponents by integer operations, which no driver folds, flushes or
// reorders. Everything here is exact.

// The same number, which no compiler knows to be the same. By addition: two exclusive ors with one value cancel, and
// of two ors one vanishes, so that an opaque value made opaque again would be seen through.
fn opaque_FLOAT(x: FLOAT) -> FLOAT {
  return bitcast<FLOAT>(bitcast<UNSIGNED>(x) + UNSIGNED(zero_u32()));
}
// The three operations rounded once, whatever stands around them: a driver may neither contract nor regroup them, nor see
// that two operands are the same (x - x of an infinity is NaN). The extra factor of 1 and summand of -0 are free where
// there is a fused multiply-add, exact everywhere, and known to no compiler.
fn one_FLOAT() -> FLOAT { return bitcast<FLOAT>(one_bits_FLOAT + UNSIGNED(zero_u32())); }
fn negative_zero_FLOAT() -> FLOAT { return bitcast<FLOAT>(sign_bit_FLOAT + UNSIGNED(zero_u32())); }
fn add_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT { return fma(x, one_FLOAT(), y); }
fn subtract_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT { return fma(x, one_FLOAT(), -y); }
fn multiply_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT { return fma(x, y, negative_zero_FLOAT()); }
fn nan_FLOAT() -> FLOAT { return bitcast<FLOAT>(nan_bits_FLOAT ^ UNSIGNED(zero_u32())); }
fn infinity_FLOAT() -> FLOAT { return bitcast<FLOAT>(infinity_bits_FLOAT ^ UNSIGNED(zero_u32())); }
fn magnitude_FLOAT(x: FLOAT) -> UNSIGNED { return bitcast<UNSIGNED>(x) & magnitude_bits_FLOAT; }
// A NaN where x is one, in the form in which arithmetic passes it on.
fn quiet_FLOAT(x: FLOAT) -> FLOAT { return bitcast<FLOAT>(bitcast<UNSIGNED>(x) | nan_bits_FLOAT); }

fn isnan_FLOAT(x: FLOAT) -> bool { return magnitude_FLOAT(x) > infinity_bits_FLOAT; }
fn isinf_FLOAT(x: FLOAT) -> bool { return magnitude_FLOAT(x) == infinity_bits_FLOAT; }
fn isfinite_FLOAT(x: FLOAT) -> bool { return magnitude_FLOAT(x) < infinity_bits_FLOAT; }
fn signbit_FLOAT(x: FLOAT) -> bool { return bitcast<UNSIGNED>(x) >= sign_bit_FLOAT; }
fn truth_FLOAT(x: FLOAT) -> bool { return magnitude_FLOAT(x) != 0; }
fn abs_FLOAT(x: FLOAT) -> FLOAT { return bitcast<FLOAT>(magnitude_FLOAT(x)); }
fn negative_FLOAT(x: FLOAT) -> FLOAT { return bitcast<FLOAT>(bitcast<UNSIGNED>(x) ^ sign_bit_FLOAT); }
fn copysign_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  // Mesa loses the magnitude where y comes out of a loop and an earlier return gives y itself, unless y is hidden
  return bitcast<FLOAT>(magnitude_FLOAT(x) | (bitcast<UNSIGNED>(opaque_FLOAT(y)) & sign_bit_FLOAT));
}

// An integer that orders as the number does; both zeros are 0.
fn order_FLOAT(x: FLOAT) -> SIGNED {
  let magnitude = SIGNED(magnitude_FLOAT(x));
  return select(magnitude, -magnitude, signbit_FLOAT(x));
}
fn comparable_FLOAT(x: FLOAT, y: FLOAT) -> bool { return !isnan_FLOAT(x) && !isnan_FLOAT(y); }
fn equal_FLOAT(x: FLOAT, y: FLOAT) -> bool { return order_FLOAT(x) == order_FLOAT(y) && !isnan_FLOAT(x); }
fn not_equal_FLOAT(x: FLOAT, y: FLOAT) -> bool { return !equal_FLOAT(x, y); }
fn less_FLOAT(x: FLOAT, y: FLOAT) -> bool { return order_FLOAT(x) < order_FLOAT(y) && comparable_FLOAT(x, y); }
fn less_equal_FLOAT(x: FLOAT, y: FLOAT) -> bool { return order_FLOAT(x) <= order_FLOAT(y) && comparable_FLOAT(x, y); }
fn greater_FLOAT(x: FLOAT, y: FLOAT) -> bool { return less_FLOAT(y, x); }
fn greater_equal_FLOAT(x: FLOAT, y: FLOAT) -> bool { return less_equal_FLOAT(y, x); }

fn maximum_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  return select(select(x, y, order_FLOAT(x) <= order_FLOAT(y) || isnan_FLOAT(y)), x, isnan_FLOAT(x));
}
fn minimum_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  return select(select(x, y, order_FLOAT(x) >= order_FLOAT(y) || isnan_FLOAT(y)), x, isnan_FLOAT(x));
}
fn fmax_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  return select(select(x, y, order_FLOAT(x) <= order_FLOAT(y) || isnan_FLOAT(x)), x, isnan_FLOAT(y));
}
fn fmin_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  return select(select(x, y, order_FLOAT(x) >= order_FLOAT(y) || isnan_FLOAT(x)), x, isnan_FLOAT(y));
}
fn sign_FLOAT(x: FLOAT) -> FLOAT {
  let order = order_FLOAT(x);
  return select(FLOAT(order > 0) - FLOAT(order < 0), x, isnan_FLOAT(x));
}
fn heaviside_FLOAT(x: FLOAT, at_zero: FLOAT) -> FLOAT {
  let order = order_FLOAT(x);
  return select(select(FLOAT(order > 0), at_zero, order == 0), x, isnan_FLOAT(x));
}

// Rounding to integers. Below 1 in magnitude the answer follows from the bits, subnormals and -0 included. It is hidden:
// a driver was seen to take it for finite, so that isfinite(floor(x / y)) was true where the floor was NaN.
fn trunc_FLOAT(x: FLOAT) -> FLOAT {
  return opaque_FLOAT(copysign_FLOAT(select(trunc(x), FLOAT(0.0), magnitude_FLOAT(x) < one_bits_FLOAT), x));
}
fn floor_FLOAT(x: FLOAT) -> FLOAT {
  return opaque_FLOAT(copysign_FLOAT(select(floor(x), FLOAT(order_FLOAT(x) < 0), magnitude_FLOAT(x) < one_bits_FLOAT), x));
}
fn ceil_FLOAT(x: FLOAT) -> FLOAT {
  return opaque_FLOAT(copysign_FLOAT(select(ceil(x), FLOAT(order_FLOAT(x) > 0), magnitude_FLOAT(x) < one_bits_FLOAT), x));
}
fn rint_FLOAT(x: FLOAT) -> FLOAT {
  let magnitude = magnitude_FLOAT(x);
  return opaque_FLOAT(copysign_FLOAT(select(round(x), FLOAT(magnitude > half_bits_FLOAT), magnitude < one_bits_FLOAT), x));
}
fn modf_fraction_FLOAT(x: FLOAT) -> FLOAT {
  let fraction = select(x - trunc(x), x, magnitude_FLOAT(x) < one_bits_FLOAT);
  return copysign_FLOAT(select(fraction, FLOAT(0.0), isinf_FLOAT(x)), x);
}

// 2**n for exponents of normal numbers.
fn power_of_two_FLOAT(n: i32) -> FLOAT {
  return bitcast<FLOAT>(UNSIGNED(u32(n + exponent_bias_FLOAT)) << fraction_width_FLOAT);
}
fn exponent_field_FLOAT(x: FLOAT) -> i32 { return i32(u32(magnitude_FLOAT(x) >> fraction_width_FLOAT)); }
// The whole significand of a finite number, shifted so that the implicit bit is always set; see `scale_FLOAT`.
fn significand_FLOAT(x: FLOAT) -> UNSIGNED {
  let magnitude = magnitude_FLOAT(x);
  let fraction = magnitude & (implicit_bit_FLOAT - 1);
  if (magnitude >= implicit_bit_FLOAT) { return fraction | implicit_bit_FLOAT; }
  return fraction << (leading_zeros_UNSIGNED(fraction) - leading_zeros_UNSIGNED(implicit_bit_FLOAT));
}
// The biased exponent that goes with that significand: below 1 for subnormals. x is finite and not 0.
fn scale_FLOAT(x: FLOAT) -> i32 {
  let magnitude = magnitude_FLOAT(x);
  if (magnitude >= implicit_bit_FLOAT) { return exponent_field_FLOAT(x); }
  return 1 - i32(leading_zeros_UNSIGNED(magnitude) - leading_zeros_UNSIGNED(implicit_bit_FLOAT));
}
// The number with a significand (implicit bit set) and a biased exponent, rounded to nearest even if subnormal.
fn compose_FLOAT(sign: UNSIGNED, significand: UNSIGNED, scale: i32) -> FLOAT {
  if (scale > 0) {
    let bits = significand + (UNSIGNED(u32(scale - 1)) << fraction_width_FLOAT);
    return bitcast<FLOAT>(sign | select(bits, infinity_bits_FLOAT, scale >= i32(exponent_mask_FLOAT)));
  }
  let shift = u32(min(1 - scale, i32(fraction_width_FLOAT) + 2));
  let kept = significand >> shift;
  let lost = significand - (kept << shift);
  let tie = UNSIGNED(1) << (shift - 1u);
  return bitcast<FLOAT>(sign | (kept + UNSIGNED(lost > tie || (lost == tie && (kept & 1) == 1))));
}
fn ldexp_FLOAT(x: FLOAT, n: i32) -> FLOAT {
  if (!isfinite_FLOAT(x) || !truth_FLOAT(x)) { return x; }
  return compose_FLOAT(bitcast<UNSIGNED>(x) & sign_bit_FLOAT, significand_FLOAT(x), scale_FLOAT(x) + n);
}
fn frexp_mantissa_FLOAT(x: FLOAT) -> FLOAT {
  if (!isfinite_FLOAT(x) || !truth_FLOAT(x)) { return x; }
  return compose_FLOAT(bitcast<UNSIGNED>(x) & sign_bit_FLOAT, significand_FLOAT(x), exponent_bias_FLOAT - 1);
}
fn frexp_exponent_FLOAT(x: FLOAT) -> i32 {
  return select(0, scale_FLOAT(x) - exponent_bias_FLOAT + 1, isfinite_FLOAT(x) && truth_FLOAT(x));
}

fn nextafter_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  if (isnan_FLOAT(y)) { return y; }
  let from_ = order_FLOAT(x);
  let to = order_FLOAT(y);
  if (from_ == to) { return y; }
  let bits = bitcast<UNSIGNED>(x);
  if (from_ == 0) { return bitcast<FLOAT>((bitcast<UNSIGNED>(y) & sign_bit_FLOAT) | UNSIGNED(1)); }
  return bitcast<FLOAT>(select(bits - 1, bits + 1, (from_ < to) == (from_ > 0)));
}
fn spacing_FLOAT(x: FLOAT) -> FLOAT {
  if (!isfinite_FLOAT(x)) { return nan_FLOAT(); }
  if (magnitude_FLOAT(x) == infinity_bits_FLOAT - 1) { return copysign_FLOAT(infinity_FLOAT(), x); }
  let exponent = exponent_field_FLOAT(x) - i32(fraction_width_FLOAT);
  let unit = select(UNSIGNED(1) << u32(max(exponent - 1 + i32(fraction_width_FLOAT), 0)),
                    UNSIGNED(u32(max(exponent, 1))) << fraction_width_FLOAT, exponent > 0);
  return bitcast<FLOAT>(unit | select(UNSIGNED(0), sign_bit_FLOAT, order_FLOAT(x) < 0));
}

// Drivers contract and reorder sums and products, so every step whose rounding error matters is made opaque.
// a * b as an unevaluated sum of two numbers (Dekker), the halves split by bits. Exact barring underflow.
fn two_product_FLOAT(a: FLOAT, b: FLOAT) -> vec2<FLOAT> {
  let a_high = bitcast<FLOAT>(bitcast<UNSIGNED>(a) & upper_half_FLOAT);
  let b_high = bitcast<FLOAT>(bitcast<UNSIGNED>(b) & upper_half_FLOAT);
  let a_low = a - a_high;
  let b_low = b - b_high;
  let product = opaque_FLOAT(a * b);
  let first = opaque_FLOAT(a_high * b_high - product);
  let second = opaque_FLOAT(first + a_high * b_low);
  return vec2<FLOAT>(product, opaque_FLOAT(second + a_low * b_high) + a_low * b_low);
}
// a + b as an unevaluated sum, for |a| >= |b| or where the sum is exact.
fn fast_two_sum_FLOAT(a: FLOAT, b: FLOAT) -> vec2<FLOAT> {
  let sum = opaque_FLOAT(a + b);
  return vec2<FLOAT>(sum, b - opaque_FLOAT(sum - a));
}
fn two_sum_FLOAT(a: FLOAT, b: FLOAT) -> vec2<FLOAT> {
  let sum = opaque_FLOAT(a + b);
  let b_part = opaque_FLOAT(sum - a);
  return vec2<FLOAT>(sum, opaque_FLOAT(a - opaque_FLOAT(sum - b_part)) + opaque_FLOAT(b - b_part));
}
fn upper_FLOAT(x: FLOAT) -> FLOAT { return bitcast<FLOAT>(bitcast<UNSIGNED>(x) & upper_half_FLOAT); }
