// Single-precision forms of the most common functions. fast_path_NAME has no branches and no divisions, and is right for
// the arguments for which guard_NAME is true. Kernels check the guard once for several elements, and call NAME only if it
// fails, so that they take no longer than their memory traffic. Guards compare numbers, not bits, and are combined without
// branches: each is one instruction then. NaN fails them. Errors below 2 ULP.

// Added to a number of magnitude under 2**22 it leaves the nearest integer in the low bits; taken away, that integer.
// Built-in rounding and conversion to integers run at a quarter of the speed of arithmetic.
const rounder_f32 = 12582912.0f;
const rounder_bits_f32 = 0x4b400000;
// One multiply-add; the rounder is a run-time value here, so that taking the constant away again is not undone.
fn shifted_nearest_f32(x: f32, factor: f32) -> f32 { return fma(x, factor, opaque_f32(rounder_f32)); }

fn exp_reduced_f32(x: f32, shifted: f32) -> f32 {
  let n = shifted - rounder_f32;
  // multiply-adds by name: drivers join the two products into one with log(2) rounded
  let r = fma(-n, ln2_low_f32, fma(-n, ln2_high_f32, x));
  return 1.0f + r * (1.0f + r * exp_fast_path_series_f32(r));
}
// Small results too: those of large negative arguments are common, and no device's arithmetic is asked for subnormal ones.
fn guard_exp_f32(fine: bool, x: f32) -> bool { return fine & (x < 88.0f); }
fn fast_path_exp_f32(x: f32) -> f32 {
  let bounded = max(x, -110.0f);
  let shifted = shifted_nearest_f32(bounded, 1.44269504f);
  // the rounder's own low bits are 0: what is added to the exponent is n alone
  let bits = bitcast<u32>(exp_reduced_f32(bounded, shifted)) + (bitcast<u32>(shifted) << 23u);
  // the result times 2**149, rounded to an integer by 2**23: its low bits are those of the subnormal number
  let subnormal = bitcast<u32>(bitcast<f32>(bits + (149u << 23u)) + 8388608.0f) - 0x4b000000u;
  return bitcast<f32>(select(bits, subnormal, bitcast<i32>(bits) < 0x00800000));
}
fn exp_f32(x: f32) -> f32 {
  if (guard_exp_f32(true, x)) { return fast_path_exp_f32(x); }
  if (isnan_f32(x)) { return x; }
  let bounded = clamped_f32(x, 104.0f);
  let shifted = shifted_nearest_f32(bounded, 1.44269504f);
  return ldexp_f32(exp_reduced_f32(bounded, shifted), bitcast<i32>(shifted) - rounder_bits_f32);
}

const smallest_normal_f32 = 1.1754943508222875e-38f;
const largest_f32 = 3.4028234663852886e38f;
fn guard_log_f32(fine: bool, x: f32) -> bool {
  return fine & (x >= smallest_normal_f32) & (x <= largest_f32);
}
fn fast_path_log_f32(x: f32) -> f32 { return log_of_bits_f32(bitcast<u32>(x)); }
fn log_of_bits_f32(bits: u32) -> f32 {
  let above = bitcast<i32>(bits) - 0x3f3504f3;
  let n = f32(above >> 23u);
  let f = bitcast<f32>((above & 0x007fffff) + 0x3f3504f3) - 1.0f;
  let z = f * f;
  let rest = f * z * log_fast_path_series_f32(f) + (n * ln2_low_f32 - 0.5f * z);
  return (f + rest) + n * ln2_high_f32;
}
fn log_f32(x: f32) -> f32 {
  if (guard_log_f32(true, x)) { return fast_path_log_f32(x); }
  if (!ordinary_f32(x)) { return log_special_f32(x); }
  // a subnormal number's significand is moved up by integers, which no device flushes
  return log_of_bits_f32(significand_f32(x) + (bitcast<u32>(scale_f32(x) - 1) << 23u));
}

// Cody and Waite's reduction: what is left of x after n times pi. The products with the first two pieces are exact up to
// 2**12 halves of pi.
fn less_half_turns_f32(x: f32, n: f32) -> f32 {
  if (fused_multiply_add) {
    return fma(-n, 2.0f * half_pi_lowest_f32, fma(-n, 2.0f * half_pi_low_f32, fma(-n, 2.0f * half_pi_f32, x)));
  }
  // one rounding as well: what the second difference loses is put back with the smaller parts
  let near = x - n * (2.0f * half_pi_1_f32);
  let next = n * (2.0f * half_pi_2_f32);
  let left = opaque_f32(near - next);
  return (left + (((near - left) - next) - n * (2.0f * half_pi_3_f32))) - n * (2.0f * half_pi_4_f32);
}
// sin(r) for |r| up to pi/2, its sign changed if the lowest bit of n is set.
fn half_turn_sin_f32(r: f32, n: u32) -> f32 {
  let z = r * r;
  return bitcast<f32>(bitcast<u32>(fma(r * z, sin_fast_path_series_f32(z), r)) ^ (n << 31u));
}
fn sin_polynomial_f32(x: f32, z: f32) -> f32 {
  return x + x * z * (sin_first_f32 + z * sin_series_f32(z));
}
fn cos_polynomial_f32(z: f32) -> f32 {
  return 1.0f + z * (-0.5f + z * cos_series_f32(z));
}
// sin(r + quadrant * pi/2).
fn quadrant_sin_f32(r: f32, quadrant: i32) -> f32 {
  let z = r * r;
  let y = select(sin_polynomial_f32(r, z), cos_polynomial_f32(z), (quadrant & 1) == 1);
  return bitcast<f32>(bitcast<u32>(y) ^ ((bitcast<u32>(quadrant) << 30u) & sign_bit_f32));
}
fn slow_path_sin_f32(x: f32, shift: u32) -> f32 {
  if (!isfinite_f32(x)) { return quiet_f32(x); }
  let reduced = reduce_f32(x);
  return quadrant_sin_f32(reduced.high, i32(reduced.quadrant + shift));
}
const fast_path_limit_f32 = 4096.0f;
fn guard_sin_f32(fine: bool, x: f32) -> bool { return fine & (abs(x) < fast_path_limit_f32); }
fn fast_path_sin_f32(x: f32) -> f32 {
  let shifted = shifted_nearest_f32(x, 0.318309886f);
  let y = half_turn_sin_f32(less_half_turns_f32(x, shifted - rounder_f32), bitcast<u32>(shifted));
  // what is tiny is its own sine: subnormal numbers, and the sign of zero
  return select(y, x, abs(x) < bitcast<f32>(tiny_bits_f32));
}
fn sin_f32(x: f32) -> f32 {
  if (guard_sin_f32(true, x)) { return fast_path_sin_f32(x); }
  return slow_path_sin_f32(x, 0u);
}
fn guard_cos_f32(fine: bool, x: f32) -> bool { return fine & (abs(x) < fast_path_limit_f32); }
fn fast_path_cos_f32(x: f32) -> f32 {
  // with x = (n - 1/2) pi + r the cosine of x is sin(r) for even n
  let shifted = fma(x, 0.318309886f, 0.5f) + opaque_f32(rounder_f32);
  let n = add_f32(shifted - rounder_f32, -0.5f);
  let y = half_turn_sin_f32(less_half_turns_f32(x, n), bitcast<u32>(shifted));
  // the cosine of what is tiny is 1, and the sine of what is left of it may be less
  return select(y, 1.0f, abs(x) < bitcast<f32>(tiny_bits_f32));
}
fn cos_f32(x: f32) -> f32 {
  if (guard_cos_f32(true, x)) { return fast_path_cos_f32(x); }
  return slow_path_sin_f32(x, 1u);
}

// Below 1 the series, which is exact to 0.003 ULP there.
fn sinh_f32(x: f32) -> f32 {
  if (!isfinite_f32(x) || magnitude_f32(x) < tiny_bits_f32) { return x; }
  let magnitude = abs_f32(x);
  if (magnitude < 1.0f) {
    let z = x * x;
    let p = 1.0f / 6.0f + z * (1.0f / 120.0f + z * (1.0f / 5040.0f + z * (1.0f / 362880.0f + z * (1.0f / 39916800.0f))));
    return fma(x * z, p, x);
  }
  if (magnitude > exp_limit_f32) { return copysign_f32(exp_halved_f32(magnitude), x); }
  let t = expm1_f32(magnitude);
  return copysign_f32(0.5f, x) * (t + t / (t + 1.0f));
}
// Whether the driver's exp2 and quotients are good to 2**-22, and overflow as they should: the device's self-test tells.
override close_estimates: bool = false;
// Where they are, 1 - 2 / (exp(2 a) + 1) of magnitudes a from 0.6 on, and a series below. Else
// expm1(2 a) / (expm1(2 a) + 2); from 10 on that is 1.
fn guard_tanh_f32(fine: bool, x: f32) -> bool {
  if (close_estimates) { return fine; }
  return fine & (abs(x) <= largest_f32);
}
fn fast_path_tanh_f32(x: f32) -> f32 {
  if (close_estimates) {
    let z = x * x;
    let near = fma(x * z, tanh_fast_path_series_f32(z), x);
    let far = fma(-2.0f, 1.0f / (exp2(abs(x) * 2.88539008f) + 1.0f), 1.0f);
    let signed_far = bitcast<f32>(bitcast<u32>(far) | (bitcast<u32>(x) & sign_bit_f32));
    return select(select(signed_far, near, abs(x) < 0.6f), x, abs(x) < bitcast<f32>(tiny_bits_f32));
  }
  let a = min(abs(x), 10.0f);
  let shifted = shifted_nearest_f32(a, 2.88539008f);
  let n = shifted - rounder_f32;
  let r = fma(-n, ln2_low_f32, fma(-n, ln2_high_f32, 2.0f * a));
  let power = bitcast<f32>((bitcast<u32>(shifted) << 23u) + one_bits_f32);
  let t = fma(power, fma(r * r, exp_fast_path_series_f32(r), r), power - 1.0f);
  let below = add_f32(t, 2.0f);
  let below_low = subtract_f32(t, subtract_f32(below, 2.0f));
  let inverse = 1.0f / below;
  let estimate = multiply_f32(t, inverse);
  let left = fma(-estimate, below_low, residue_f32(t, estimate, below));
  let y = fma(left, inverse, estimate);
  let signed = bitcast<f32>(bitcast<u32>(y) | (bitcast<u32>(x) & sign_bit_f32));
  return select(signed, x, abs(x) < bitcast<f32>(tiny_bits_f32));
}
fn tanh_f32(x: f32) -> f32 {
  if (guard_tanh_f32(true, x)) { return fast_path_tanh_f32(x); }
  return select(copysign_f32(1.0f, x), x, isnan_f32(x));
}

// 1/3 and 2 / log(2), and what their rounding lost.
const third_f32 = 0.33333334f;
const third_low_f32 = -9.934108e-09f;
const two_inverse_ln2_f32 = 2.88539f;
const two_inverse_ln2_low_f32 = 3.8519e-08f;
// log2(x) in two parts, of normal positive x: the exponent and 2 / log(2) times atanh(q) for q = (m - 1) / (m + 1). Two
// parts of q, of its square, of 1/3 and of all that is made of them leave an error of 2**-33 or so.
fn log2_pair_f32(x: f32) -> vec2<f32> {
  let above = bitcast<i32>(x) - 0x3f3504f3;
  let n = f32(above >> 23u);
  let f = bitcast<f32>((above & 0x007fffff) + 0x3f3504f3) - 1.0f;
  let inverse = 1.0f / (f + 2.0f);
  let q = multiply_f32(f, inverse);
  let q_low = fma(-q, f, fma(-2.0f, q, f)) * inverse;
  let z = multiply_f32(q, q);
  let z_low = fma(q, 2.0f * q_low, fma(q, q, -z));
  let rest = z * power_fast_path_series_f32(z);
  let v = add_f32(third_f32, rest);
  let v_low = add_f32(subtract_f32(third_f32, v), rest) + third_low_f32;
  let w = multiply_f32(z, v);
  let w_low = fma(z, v, -w) + fma(z, v_low, z_low * v);
  let p = multiply_f32(q, w);
  let p_low = fma(q, w, -p) + fma(q, w_low, q_low * w);
  let sum = add_f32(q, p);
  let sum_low = add_f32(subtract_f32(q, sum), p) + (p_low + q_low);
  let high = multiply_f32(sum, two_inverse_ln2_f32);
  let low = fma(sum, two_inverse_ln2_f32, -high) + fma(sum, two_inverse_ln2_low_f32, sum_low * two_inverse_ln2_f32);
  let whole = add_f32(n, high);
  return vec2<f32>(whole, add_f32(subtract_f32(n, whole), high) + low);
}
// Exact products take a fused multiply-add. The driver's logarithm is good to a few digits, which is enough for a bound.
fn guard_pow_f32(fine: bool, x: f32, y: f32) -> bool {
  let bounded = guard_log_f32(true, x) & (abs(y * log2(x)) < 120.0f);
  return fine & fused_multiply_add & (bounded | ((bitcast<u32>(x) == 0u) & (y > 0.0f)));
}
fn fast_path_pow_f32(x: f32, y: f32) -> f32 {
  let logarithm = log2_pair_f32(x);
  let high = multiply_f32(y, logarithm.x);
  let low = fma(y, logarithm.y, fma(y, logarithm.x, -high));
  let shifted = high + opaque_f32(rounder_f32);
  let r = subtract_f32(high, shifted - rounder_f32) + low;
  let power = bitcast<f32>((bitcast<u32>(shifted) << 23u) + one_bits_f32);
  return select(fma(r, exp2_fast_path_series_f32(r), 1.0f) * power, 0.0f, bitcast<u32>(x) == 0u);
}
fn pow_f32(x: f32, y: f32) -> f32 {
  if (guard_pow_f32(true, x, y)) { return fast_path_pow_f32(x, y); }
  return slow_path_pow_f32(x, y);
}
