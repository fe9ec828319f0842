// Remainders of floating numbers.

// Long division of the significands, as many bits at a time as the word has to spare. Exact.
fn fmod_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (isnan_FLOAT(x)) { return x; }
  if (isnan_FLOAT(y)) { return y; }
  if (isinf_FLOAT(x) || !truth_FLOAT(y)) { return nan_FLOAT(); }
  if (magnitude_FLOAT(x) < magnitude_FLOAT(y)) { return x; }
  let step = word_width_UNSIGNED - 1u - fraction_width_FLOAT;
  let divisor = significand_FLOAT(y);
  let scale = scale_FLOAT(y);
  var left = significand_FLOAT(x) % divisor;
  var shifts = u32(scale_FLOAT(x) - scale);
  while (shifts > 0u && left != 0) {
    let count = min(shifts, step);
    left = (left << count) % divisor;
    shifts = shifts - count;
  }
  let sign = bitcast<UNSIGNED>(x) & sign_bit_FLOAT;
  if (left == 0) { return bitcast<FLOAT>(sign); }
  let up = leading_zeros_UNSIGNED(left) - leading_zeros_UNSIGNED(implicit_bit_FLOAT);
  return compose_FLOAT(sign, left << up, scale - i32(up));
}

// What keeps sums of small numbers away from subnormal ones, which some devices flush to zero in arithmetic.
const away_from_zero_FLOAT = 64;
fn is_near_zero_FLOAT(x: FLOAT) -> bool { return exponent_field_FLOAT(x) < 32; }

// NumPy's npy_divmod: fmod, then moved to the divisor's sign.
fn remainder_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  let left = fmod_FLOAT(x, y);
  if (isnan_FLOAT(left)) { return left; }
  if (!truth_FLOAT(left)) { return copysign_FLOAT(left, y); }
  if (signbit_FLOAT(left) == signbit_FLOAT(y)) { return left; }
  if (is_near_zero_FLOAT(y)) {
    let sum = ldexp_FLOAT(left, away_from_zero_FLOAT) + ldexp_FLOAT(y, away_from_zero_FLOAT);
    return ldexp_FLOAT(sum, -away_from_zero_FLOAT);
  }
  return left + y;
}
fn floor_divide_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (is_near_zero_FLOAT(x)) {
    return whole_quotient_FLOAT(ldexp_FLOAT(x, away_from_zero_FLOAT), ldexp_FLOAT(y, away_from_zero_FLOAT));
  }
  return whole_quotient_FLOAT(x, y);
}
fn whole_quotient_FLOAT(x: FLOAT, y: FLOAT) -> FLOAT {
  if (!truth_FLOAT(y)) { return divide_FLOAT(x, y); }
  let left = fmod_FLOAT(x, y);
  if (isnan_FLOAT(left)) { return left; }
  var quotient = divide_FLOAT(x - opaque_FLOAT(left), y);
  if (truth_FLOAT(left) && signbit_FLOAT(left) != signbit_FLOAT(y)) { quotient = quotient - FLOAT(1.0); }
  if (!truth_FLOAT(quotient)) { return copysign_FLOAT(FLOAT(0.0), divide_FLOAT(x, y)); }
  let down = floor_FLOAT(quotient);
  return select(down, down + FLOAT(1.0), quotient - down > FLOAT(0.5));
}
