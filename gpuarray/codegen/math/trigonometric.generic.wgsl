// Sine, cosine and tangent at any argument. Errors below 1 ULP. Kernels after fdlibm.

// x = quadrant * pi/2 + high + low, |high| at most pi/4 or hardly more.
struct Reduced_FLOAT { high: FLOAT, low: FLOAT, quadrant: u32 }

// Cody and Waite: the leading products with parts of pi/2 are exact, so cancellation loses nothing.
fn reduce_small_FLOAT(x: FLOAT) -> Reduced_FLOAT {
  let n = round(x * FLOAT(0.63661977236758134308));
  let first = x - n * half_pi_1_FLOAT;
  let second = two_sum_FLOAT(first, -(n * half_pi_2_FLOAT));
  let third = two_sum_FLOAT(second.x, -(n * half_pi_3_FLOAT));
  let sum = two_sum_FLOAT(third.x, (second.y + third.y) - n * half_pi_4_FLOAT);
  return Reduced_FLOAT(sum.x, sum.y, u32(i32(n) & 3));
}
// Payne and Hanek: the significand times the three words of 2/pi that matter, modulo 4, in integers, less so many
// quarters of a quadrant. x is positive.
fn reduce_late_FLOAT(x: FLOAT, quarters: UNSIGNED) -> Reduced_FLOAT {
  let width = word_width_UNSIGNED;
  let significand = significand_FLOAT(x);
  let position = u32(exponent_field_FLOAT(x) - exponent_bias_FLOAT - i32(fraction_width_FLOAT) - 2 + i32(width));
  let index = position / width;
  let up = position % width;
  let word_0 = shifted_word_UNSIGNED(two_over_pi_UNSIGNED(index), two_over_pi_UNSIGNED(index + 1u), up);
  let word_1 = shifted_word_UNSIGNED(two_over_pi_UNSIGNED(index + 1u), two_over_pi_UNSIGNED(index + 2u), up);
  let word_2 = shifted_word_UNSIGNED(two_over_pi_UNSIGNED(index + 2u), two_over_pi_UNSIGNED(index + 3u), up);
  let carried = multiply_high_UNSIGNED(significand, word_2);
  var low_word = significand * word_1 + carried;
  var high_word = significand * word_0 + multiply_high_UNSIGNED(significand, word_1) + UNSIGNED(low_word < carried);
  high_word = high_word - (quarters << (width - 4u));
  // two bits of quadrant, rounded to the nearest, over a signed fraction of a quadrant
  let quadrant = (high_word + (UNSIGNED(1) << (width - 3u))) >> (width - 2u);
  high_word = high_word - (quadrant << (width - 2u));
  let negative = (high_word >> (width - 1u)) == 1;
  if (negative) {
    low_word = ~low_word + 1;
    high_word = ~high_word + UNSIGNED(low_word == 0);
  }
  var zeros = 0u;
  if (high_word == 0) {
    high_word = low_word;
    low_word = UNSIGNED(0);
    zeros = width;
  }
  let up_again = leading_zeros_UNSIGNED(high_word);
  zeros = zeros + up_again;
  high_word = shifted_word_UNSIGNED(high_word, low_word, up_again);
  low_word = low_word << up_again;
  let top = fraction_width_FLOAT + 1u;
  let exponent = 1 - i32(zeros);
  let high = compose_FLOAT(UNSIGNED(0), high_word >> (width - top), exponent + exponent_bias_FLOAT);
  let rest = FLOAT((high_word << top) | (low_word >> (width - top)));
  let low = rest * power_of_two_FLOAT(exponent - i32(top) + 1 - i32(width));
  let product = two_product_FLOAT(high, half_pi_FLOAT);
  let sum = fast_two_sum_FLOAT(product.x, product.y + (high * half_pi_low_FLOAT + low * half_pi_FLOAT));
  let sign = select(FLOAT(1.0), FLOAT(-1.0), negative);
  return Reduced_FLOAT(sign * sum.x, sign * sum.y, u32(quadrant & 3));
}
fn reduce_large_FLOAT(x: FLOAT) -> Reduced_FLOAT { return reduce_late_FLOAT(x, UNSIGNED(0)); }
// x - quarters * pi/8 = high + low + quadrant * pi/2, for x from 1/2 on.
fn turns_FLOAT(x: FLOAT, quarters: UNSIGNED) -> vec3<FLOAT> {
  let reduced = reduce_late_FLOAT(x, quarters);
  return vec3<FLOAT>(reduced.high, reduced.low, FLOAT(reduced.quadrant));
}
// The upper word of the pair (x, y) moved up by fewer bits than a word has.
fn shifted_word_UNSIGNED(x: UNSIGNED, y: UNSIGNED, up: u32) -> UNSIGNED {
  return select((x << up) | (y >> ((word_width_UNSIGNED - up) & (word_width_UNSIGNED - 1u))), x, up == 0u);
}
// x is finite.
fn reduce_FLOAT(x: FLOAT) -> Reduced_FLOAT {
  if (magnitude_FLOAT(x) <= quarter_pi_bits_FLOAT) { return Reduced_FLOAT(x, FLOAT(0.0), 0u); }
  if (abs_FLOAT(x) < quadrants_FLOAT) { return reduce_small_FLOAT(x); }
  let reduced = reduce_large_FLOAT(abs_FLOAT(x));
  if (!signbit_FLOAT(x)) { return reduced; }
  return Reduced_FLOAT(-reduced.high, -reduced.low, (4u - reduced.quadrant) & 3u);
}
fn sin_reduced_FLOAT(x: FLOAT, low: FLOAT) -> FLOAT {
  let z = x * x;
  let cube = z * x;
  return x - ((z * (FLOAT(0.5) * low - cube * sin_series_FLOAT(z)) - low) - cube * sin_first_FLOAT);
}
fn cos_reduced_FLOAT(x: FLOAT, low: FLOAT) -> FLOAT {
  let z = x * x;
  let half = FLOAT(0.5) * z;
  let near = opaque_FLOAT(FLOAT(1.0) - half);
  return near + ((opaque_FLOAT(FLOAT(1.0) - near) - half) + (z * z * cos_series_FLOAT(z) - x * low));
}
// sin(x + shift * pi/2) at any argument.
fn slow_path_sin_FLOAT(x: FLOAT, shift: u32) -> FLOAT {
  if (!isfinite_FLOAT(x)) { return quiet_FLOAT(x); }
  let r = reduce_FLOAT(x);
  let quadrant = (r.quadrant + shift) & 3u;
  var y = FLOAT(0.0);
  if ((quadrant & 1u) == 0u) { y = sin_reduced_FLOAT(r.high, r.low); } else { y = cos_reduced_FLOAT(r.high, r.low); }
  return select(y, -y, quadrant >= 2u);
}
fn tan_FLOAT(x: FLOAT) -> FLOAT {
  if (!isfinite_FLOAT(x)) { return quiet_FLOAT(x); }
  if (magnitude_FLOAT(x) < tiny_bits_FLOAT) { return x; }
  let r = reduce_FLOAT(x);
  let odd = (r.quadrant & 1u) == 1u;
  let large = abs_FLOAT(r.high) >= FLOAT(0.67434);
  var a = r.high;
  var low = r.low;
  if (large) {
    // tan(pi/4 - a) converges better; the difference is exact
    let sign = select(FLOAT(1.0), FLOAT(-1.0), signbit_FLOAT(a));
    a = opaque_FLOAT(FLOAT(0.5) * half_pi_FLOAT - sign * a) + (FLOAT(0.5) * half_pi_low_FLOAT - sign * low);
    low = FLOAT(0.0);
  }
  let z = a * a;
  let cube = z * a;
  let rest = (low + z * (cube * tan_series_FLOAT(z) + low)) + tan_first_FLOAT * cube;
  let w = opaque_FLOAT(a + rest);
  if (large) {
    let v = select(FLOAT(1.0), FLOAT(-1.0), odd);
    return copysign_FLOAT(FLOAT(1.0), r.high) * (v - FLOAT(2.0) * (a - (divide_FLOAT(w * w, w + v) - rest)));
  }
  if (!odd) { return w; }
  // -1 / (a + rest) with one step of correction
  let w_high = upper_FLOAT(w);
  let w_low = rest - opaque_FLOAT(w_high - a);
  let quotient = divide_FLOAT(FLOAT(-1.0), w);
  let high = upper_FLOAT(quotient);
  return high + quotient * ((FLOAT(1.0) + high * w_high) + high * w_low);
}
