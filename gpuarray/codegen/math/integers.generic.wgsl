// Integer arithmetic as NumPy has it: division by 0 gives 0, quotients round down, everything wraps.

// The divisor is never 0 or -1 in the division itself: both are undefined somewhere.
fn floor_divide_SIGNED(x: SIGNED, y: SIGNED) -> SIGNED {
  if (y == 0) { return SIGNED(0); }
  if (y == -1) { return -x; }
  let quotient = x / y;
  return quotient - SIGNED((quotient * y != x) && ((x < 0) != (y < 0)));
}
fn remainder_SIGNED(x: SIGNED, y: SIGNED) -> SIGNED {
  let left = fmod_SIGNED(x, y);
  return select(left, left + y, left != 0 && ((left < 0) != (y < 0)));
}
// x - (x / y) * y, because signed % of negative numbers is wrong on some drivers.
fn fmod_SIGNED(x: SIGNED, y: SIGNED) -> SIGNED {
  if (y == 0 || y == -1) { return SIGNED(0); }
  return x - (x / y) * y;
}
fn floor_divide_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED {
  return select(x / max(y, UNSIGNED(1)), UNSIGNED(0), y == 0);
}
fn remainder_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED {
  return select(x - (x / max(y, UNSIGNED(1))) * y, UNSIGNED(0), y == 0);
}
fn fmod_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED { return remainder_UNSIGNED(x, y); }

// By squaring; the exponent is not negative.
fn pow_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED {
  var result = UNSIGNED(1);
  var base = x;
  var left = y;
  while (left != 0) {
    if ((left & 1) == 1) { result = result * base; }
    base = base * base;
    left = left >> 1u;
  }
  return result;
}
fn pow_SIGNED(x: SIGNED, y: SIGNED) -> SIGNED { return SIGNED(pow_UNSIGNED(UNSIGNED(x), UNSIGNED(y))); }

fn magnitude_SIGNED(x: SIGNED) -> UNSIGNED { return UNSIGNED(select(x, -x, x < 0)); }
fn gcd_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED {
  var a = x;
  var b = y;
  while (b != 0) {
    let left = remainder_UNSIGNED(a, b);
    a = b;
    b = left;
  }
  return a;
}
fn gcd_SIGNED(x: SIGNED, y: SIGNED) -> SIGNED {
  return SIGNED(gcd_UNSIGNED(magnitude_SIGNED(x), magnitude_SIGNED(y)));
}
fn lcm_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED { return floor_divide_UNSIGNED(x, gcd_UNSIGNED(x, y)) * y; }
fn lcm_SIGNED(x: SIGNED, y: SIGNED) -> SIGNED {
  return SIGNED(lcm_UNSIGNED(magnitude_SIGNED(x), magnitude_SIGNED(y)));
}

fn left_shift_SIGNED(x: SIGNED, y: SIGNED, width: u32) -> SIGNED {
  return select(SIGNED(0), x << u32(y & 63), UNSIGNED(y) < UNSIGNED(width));
}
fn left_shift_UNSIGNED(x: UNSIGNED, y: UNSIGNED, width: u32) -> UNSIGNED {
  return select(UNSIGNED(0), x << u32(y & 63), y < UNSIGNED(width));
}
fn right_shift_SIGNED(x: SIGNED, y: SIGNED, width: u32) -> SIGNED {
  return select(select(SIGNED(0), SIGNED(-1), x < 0), x >> u32(y & 63), UNSIGNED(y) < UNSIGNED(width));
}
fn right_shift_UNSIGNED(x: UNSIGNED, y: UNSIGNED, width: u32) -> UNSIGNED {
  return select(UNSIGNED(0), x >> u32(y & 63), y < UNSIGNED(width));
}
fn bitwise_count_SIGNED(x: SIGNED) -> u32 { return bitwise_count_UNSIGNED(magnitude_SIGNED(x)); }

// 1 / x; of 0, what C's cast of infinity gives on x86-64: the lowest signed value at 32 and 64 bits, else 0.
fn reciprocal_SIGNED(x: SIGNED, width: u32) -> SIGNED {
  if (x == 0) { return select(SIGNED(0), SIGNED(1) << (width - 1u), width >= 32u); }
  return select(SIGNED(0), x, x == 1 || x == -1);
}
fn reciprocal_UNSIGNED(x: UNSIGNED, width: u32) -> UNSIGNED { return UNSIGNED(x == 1); }

// The upper word of a product, from half words.
fn multiply_high_UNSIGNED(x: UNSIGNED, y: UNSIGNED) -> UNSIGNED {
  let half_width = word_width_UNSIGNED / 2u;
  let x_low = x & half_word_mask_UNSIGNED;
  let x_high = x >> half_width;
  let y_low = y & half_word_mask_UNSIGNED;
  let y_high = y >> half_width;
  let first = x_low * y_high + ((x_low * y_low) >> half_width);
  let second = x_high * y_low + (first & half_word_mask_UNSIGNED);
  return x_high * y_high + (first >> half_width) + (second >> half_width);
}
