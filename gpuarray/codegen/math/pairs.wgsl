// Integers of 64 bits on devices that have none: pairs of words, the low one first, as they lie in memory. Functions end
// in i64p and u64p for signed and unsigned pairs, and in pair where both are the same.

fn add_pair(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  let low = x.x + y.x;
  return vec2<u32>(low, x.y + y.y + u32(low < x.x));
}
fn subtract_pair(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(x.x - y.x, x.y - y.y - u32(x.x < y.x));
}
fn negative_pair(x: vec2<u32>) -> vec2<u32> { return subtract_pair(vec2<u32>(0u, 0u), x); }
fn wide_product(x: u32, y: u32) -> vec2<u32> { return vec2<u32>(x * y, multiply_high_u32(x, y)); }
fn multiply_pair(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  let low = wide_product(x.x, y.x);
  return vec2<u32>(low.x, low.y + x.x * y.y + x.y * y.x);
}
// All four words of the product of two unsigned pairs.
fn product_pair(x: vec2<u32>, y: vec2<u32>) -> vec4<u32> {
  let low = wide_product(x.x, y.x);
  let first = add_pair(wide_product(x.x, y.y), vec2<u32>(low.y, 0u));
  let second = add_pair(wide_product(x.y, y.x), vec2<u32>(first.x, 0u));
  let high = add_pair(wide_product(x.y, y.y), add_pair(vec2<u32>(first.y, 0u), vec2<u32>(second.y, 0u)));
  return vec4<u32>(low.x, second.x, high);
}

fn truth_i64p(x: vec2<u32>) -> bool { return (x.x | x.y) != 0u; }
fn truth_u64p(x: vec2<u32>) -> bool { return (x.x | x.y) != 0u; }
fn below_zero_i64p(x: vec2<u32>) -> bool { return x.y >= 0x80000000u; }
fn less_u64p(x: vec2<u32>, y: vec2<u32>) -> bool { return x.y < y.y || (x.y == y.y && x.x < y.x); }
fn less_i64p(x: vec2<u32>, y: vec2<u32>) -> bool {
  return less_u64p(vec2<u32>(x.x, x.y ^ 0x80000000u), vec2<u32>(y.x, y.y ^ 0x80000000u));
}
// Comparisons of pairs of either signedness, by value.
fn less_i64p_i64p(x: vec2<u32>, y: vec2<u32>) -> bool { return less_i64p(x, y); }
fn less_u64p_u64p(x: vec2<u32>, y: vec2<u32>) -> bool { return less_u64p(x, y); }
fn less_i64p_u64p(x: vec2<u32>, y: vec2<u32>) -> bool { return below_zero_i64p(x) || less_u64p(x, y); }
fn less_u64p_i64p(x: vec2<u32>, y: vec2<u32>) -> bool { return !below_zero_i64p(y) && less_u64p(x, y); }
fn equal_i64p_i64p(x: vec2<u32>, y: vec2<u32>) -> bool { return x.x == y.x && x.y == y.y; }
fn equal_u64p_u64p(x: vec2<u32>, y: vec2<u32>) -> bool { return x.x == y.x && x.y == y.y; }
fn equal_i64p_u64p(x: vec2<u32>, y: vec2<u32>) -> bool { return equal_u64p_u64p(x, y) && !below_zero_i64p(x); }
fn equal_u64p_i64p(x: vec2<u32>, y: vec2<u32>) -> bool { return equal_u64p_u64p(x, y) && !below_zero_i64p(y); }
fn max_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return select(x, y, less_i64p(x, y)); }
fn max_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return select(x, y, less_u64p(x, y)); }
fn min_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return select(y, x, less_i64p(x, y)); }
fn min_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return select(y, x, less_u64p(x, y)); }
fn abs_i64p(x: vec2<u32>) -> vec2<u32> { return select(x, negative_pair(x), below_zero_i64p(x)); }
fn sign_i64p(x: vec2<u32>) -> vec2<u32> {
  return select(vec2<u32>(u32(truth_i64p(x)), 0u), vec2<u32>(0xffffffffu, 0xffffffffu), below_zero_i64p(x));
}
fn sign_u64p(x: vec2<u32>) -> vec2<u32> { return vec2<u32>(u32(truth_u64p(x)), 0u); }

// Shifts by less than 64. What passes between the words is shifted twice, since no shift is by a whole word.
fn up_pair(x: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  let high = (x.y << by) | ((x.x >> 1u) >> (31u - by));
  return select(vec2<u32>(x.x << by, high), vec2<u32>(0u, x.x << by), n >= 32u);
}
fn down_u64p(x: vec2<u32>, n: u32) -> vec2<u32> {
  let by = n & 31u;
  let low = (x.x >> by) | ((x.y << 1u) << (31u - by));
  return select(vec2<u32>(low, x.y >> by), vec2<u32>(x.y >> by, 0u), n >= 32u);
}
// All bits of a negative number flipped, shifted, and flipped back.
fn down_i64p(x: vec2<u32>, n: u32) -> vec2<u32> {
  let sign = vec2<u32>(select(0u, 0xffffffffu, below_zero_i64p(x)));
  return down_u64p(x ^ sign, n) ^ sign;
}
fn left_shift_u64p(x: vec2<u32>, y: vec2<u32>, width: u32) -> vec2<u32> {
  return select(vec2<u32>(0u, 0u), up_pair(x, y.x & 63u), y.y == 0u && y.x < width);
}
fn left_shift_i64p(x: vec2<u32>, y: vec2<u32>, width: u32) -> vec2<u32> { return left_shift_u64p(x, y, width); }
fn right_shift_u64p(x: vec2<u32>, y: vec2<u32>, width: u32) -> vec2<u32> {
  return select(vec2<u32>(0u, 0u), down_u64p(x, y.x & 63u), y.y == 0u && y.x < width);
}
fn right_shift_i64p(x: vec2<u32>, y: vec2<u32>, width: u32) -> vec2<u32> {
  return down_i64p(x, select(63u, y.x & 63u, y.y == 0u && y.x < width));
}
fn bitwise_count_u64p(x: vec2<u32>) -> u32 { return countOneBits(x.x) + countOneBits(x.y); }
fn bitwise_count_i64p(x: vec2<u32>) -> u32 { return bitwise_count_u64p(abs_i64p(x)); }

// Schoolbook division (Knuth, The Art of Computer Programming, 4.3.1 D) with digits of 16 bits: one digit of the quotient
// of `high` and the next digit by a divisor whose highest bit is set. The estimate is at most two too large.
fn quotient_digit(high: u32, digit: u32, divisor: u32) -> u32 {
  let top = divisor >> 16u;
  let rest = divisor & 0xffffu;
  var quotient = high / top;
  var left = high - quotient * top;
  for (var again = 0u; again < 2u; again += 1u) {
    if (left < 0x10000u && (quotient >= 0x10000u || quotient * rest > ((left << 16u) | digit))) {
      quotient -= 1u;
      left += top;
    }
  }
  return quotient;
}
// The quotient of a pair by a word that is greater than the pair's high word.
fn divide_by_word(x: vec2<u32>, divisor: u32) -> u32 {
  let zeros = countLeadingZeros(divisor);
  let scaled = divisor << zeros;
  let pair = up_pair(x, zeros);
  let first = quotient_digit(pair.y, pair.x >> 16u, scaled);
  let left = ((pair.y << 16u) | (pair.x >> 16u)) - first * scaled;
  return (first << 16u) + quotient_digit(left, pair.x & 0xffffu, scaled);
}
// The quotient, 0 by 0. By two words it is a single word: an estimate from the divisor's highest 32 bits, of which one
// less is at most one too small.
fn floor_divide_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  if (!truth_u64p(y)) { return vec2<u32>(0u, 0u); }
  if (y.y == 0u) {
    let high = x.y / max(y.x, 1u);
    return vec2<u32>(divide_by_word(vec2<u32>(x.x, x.y - high * y.x), y.x), high);
  }
  let zeros = countLeadingZeros(y.y);
  let estimate = divide_by_word(down_u64p(x, 1u), up_pair(y, zeros).y);
  let lower = max(down_u64p(up_pair(vec2<u32>(estimate, 0u), zeros), 31u).x, 1u) - 1u;
  let left = subtract_pair(x, multiply_pair(vec2<u32>(lower, 0u), y));
  return vec2<u32>(lower + u32(!less_u64p(left, y)), 0u);
}
fn remainder_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  let left = subtract_pair(x, multiply_pair(floor_divide_u64p(x, y), y));
  return select(vec2<u32>(0u, 0u), left, truth_u64p(y));
}
fn fmod_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return remainder_u64p(x, y); }
fn fmod_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  let left = remainder_u64p(abs_i64p(x), abs_i64p(y));
  return select(left, negative_pair(left), below_zero_i64p(x));
}
fn remainder_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  let left = fmod_i64p(x, y);
  return select(left, add_pair(left, y), truth_i64p(left) && below_zero_i64p(left) != below_zero_i64p(y));
}
fn floor_divide_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  let quotient = floor_divide_u64p(abs_i64p(x), abs_i64p(y));
  if (below_zero_i64p(x) == below_zero_i64p(y) || !truth_i64p(y)) { return quotient; }
  let left = subtract_pair(abs_i64p(x), multiply_pair(quotient, abs_i64p(y)));
  return negative_pair(add_pair(quotient, vec2<u32>(u32(truth_i64p(left)), 0u)));
}
// 1 / x; of 0, what C's cast of infinity gives on x86-64.
fn reciprocal_i64p(x: vec2<u32>, width: u32) -> vec2<u32> {
  if (!truth_i64p(x)) { return vec2<u32>(0u, 0x80000000u); }
  let one = abs_i64p(x);
  return select(vec2<u32>(0u, 0u), x, one.x == 1u && one.y == 0u);
}
fn reciprocal_u64p(x: vec2<u32>, width: u32) -> vec2<u32> { return vec2<u32>(u32(x.x == 1u && x.y == 0u), 0u); }

// By squaring; the exponent is not negative.
fn pow_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  var result = vec2<u32>(1u, 0u);
  var base = x;
  var left = y;
  while (truth_u64p(left)) {
    if ((left.x & 1u) == 1u) { result = multiply_pair(result, base); }
    base = multiply_pair(base, base);
    left = down_u64p(left, 1u);
  }
  return result;
}
fn pow_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return pow_u64p(x, y); }
fn gcd_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  var a = x;
  var b = y;
  while (truth_u64p(b)) {
    let left = remainder_u64p(a, b);
    a = b;
    b = left;
  }
  return a;
}
fn gcd_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return gcd_u64p(abs_i64p(x), abs_i64p(y)); }
fn lcm_u64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> {
  return multiply_pair(floor_divide_u64p(x, gcd_u64p(x, y)), y);
}
fn lcm_i64p(x: vec2<u32>, y: vec2<u32>) -> vec2<u32> { return lcm_u64p(abs_i64p(x), abs_i64p(y)); }

// Conversions.
fn i64p_from_i32(x: i32) -> vec2<u32> { return vec2<u32>(bitcast<u32>(x), select(0u, 0xffffffffu, x < 0)); }
fn i64p_from_u32(x: u32) -> vec2<u32> { return vec2<u32>(x, 0u); }
fn u64p_from_i32(x: i32) -> vec2<u32> { return i64p_from_i32(x); }
fn u64p_from_u32(x: u32) -> vec2<u32> { return vec2<u32>(x, 0u); }
fn i32_from_i64p(x: vec2<u32>) -> i32 { return bitcast<i32>(x.x); }
fn i32_from_u64p(x: vec2<u32>) -> i32 { return bitcast<i32>(x.x); }
fn u32_from_i64p(x: vec2<u32>) -> u32 { return x.x; }
fn u32_from_u64p(x: vec2<u32>) -> u32 { return x.x; }
fn f32_from_u64p(x: vec2<u32>) -> f32 {
  if (x.y == 0u) { return f32_from_u32(x.x); }
  let zeros = countLeadingZeros(x.y);
  let up = up_pair(x, zeros);
  // of the lower word only the fact that something is set matters
  let top = up.y | u32(up.x != 0u);
  return bitcast<f32>(bitcast<u32>(f32_from_u32(top)) + ((32u - zeros) << 23u));
}
fn f32_from_i64p(x: vec2<u32>) -> f32 {
  return bitcast<f32>(bitcast<u32>(f32_from_u64p(abs_i64p(x))) | (x.y & 0x80000000u));
}
fn i64p_from_f32(x: f32) -> vec2<u32> {
  if (magnitude_f32(x) < one_bits_f32) { return vec2<u32>(0u, 0u); }
  let exponent = exponent_field_f32(x) - exponent_bias_f32;
  if (exponent > 62) { return vec2<u32>(0u, 0x80000000u); }
  let wide = significand_f32(x);
  let up = up_pair(vec2<u32>(wide, 0u), u32(max(exponent, 23) - 23));
  let magnitude = select(vec2<u32>(wide >> u32(23 - min(exponent, 23)), 0u), up, exponent > 23);
  return select(magnitude, negative_pair(magnitude), signbit_f32(x));
}
// The signed conversion, shifted by 2**63 from there on.
fn u64p_from_f32(x: f32) -> vec2<u32> {
  if (magnitude_f32(x) >= 0x5f000000u && !signbit_f32(x) && !isnan_f32(x)) {
    return vec2<u32>(0u, select(0u, significand_f32(x) << 8u, magnitude_f32(x) < 0x5f800000u));
  }
  return i64p_from_f32(x);
}
// Into ranges in which single words are exact: past the largest float16, and past every useful binary exponent.
fn clamp_i64p(x: vec2<u32>) -> i32 {
  return bitcast<i32>(min_i64p(max_i64p(x, vec2<u32>(0xfffe0000u, 0xffffffffu)), vec2<u32>(0x20000u, 0u)).x);
}
fn clamp_u64p(x: vec2<u32>) -> u32 { return min_u64p(x, vec2<u32>(0x20000u, 0u)).x; }
fn exponent_pair(x: vec2<u32>) -> i32 { return min(max(clamp_i64p(x), -9999), 9999); }
