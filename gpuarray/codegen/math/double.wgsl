// Double-precision forms of the most common functions: fast paths and guards as in single.wgsl. Devices have few units
// for double-precision arithmetic, so there are no divisions and no error-free sums, and guards compare bits. Errors
// below 2 ULP.

const rounder_f64 = 6755399441055744.0lf;
// The rounder is a run-time value here, so that taking the constant away again is not undone.
fn shifted_nearest_f64(x: f64, factor: f64) -> f64 { return fma(x, factor, opaque_f64(rounder_f64)); }

fn guard_exp_f64(fine: bool, x: f64) -> bool { return fine & (magnitude_f64(x) < bitcast<u64>(708.0lf)); }
fn fast_path_exp_f64(x: f64) -> f64 {
  let shifted = shifted_nearest_f64(x, 1.4426950408889634lf);
  let n = shifted - rounder_f64;
  let r = fma(-n, ln2_low_f64, fma(-n, ln2_high_f64, x));
  // the rounder's own low bits are 0: what is shifted into the exponent is n alone
  let power = bitcast<f64>((bitcast<u64>(shifted) << 52u) + one_bits_f64);
  // the last sum as it stands: a driver was seen to add 1 to r first
  return add_f64(1.0lf, fma(r * r, exp_fast_path_series_f64(r), r)) * power;
}
fn exp_f64(x: f64) -> f64 {
  if (guard_exp_f64(true, x)) { return fast_path_exp_f64(x); }
  return slow_path_exp_f64(x);
}

// What is left of x after n times pi: the first product is exact where it cancels most of x.
fn less_half_turns_f64(x: f64, n: f64) -> f64 {
  if (fused_multiply_add) {
    return fma(-n, 2.0lf * half_pi_lowest_f64, fma(-n, 2.0lf * half_pi_low_f64, fma(-n, 2.0lf * half_pi_f64, x)));
  }
  // one rounding as well: what the second difference loses is put back with the smaller parts
  let near = x - n * (2.0lf * half_pi_1_f64);
  let next = n * (2.0lf * half_pi_2_f64);
  let left = opaque_f64(near - next);
  return (left + (((near - left) - next) - n * (2.0lf * half_pi_3_f64))) - n * (2.0lf * half_pi_4_f64);
}
// sin(r) for |r| up to pi/2, its sign changed if the lowest bit of n is set.
fn half_turn_sin_f64(r: f64, n: u64) -> f64 {
  let z = r * r;
  return bitcast<f64>(bitcast<u64>(fma(r * z, sin_fast_path_series_f64(z), r)) ^ (n << 63u));
}
fn guard_sin_f64(fine: bool, x: f64) -> bool {
  return fine & (magnitude_f64(x) < bitcast<u64>(quadrants_f64));
}
fn fast_path_sin_f64(x: f64) -> f64 {
  let shifted = shifted_nearest_f64(x, 0.3183098861837907lf);
  let y = half_turn_sin_f64(less_half_turns_f64(x, shifted - rounder_f64), bitcast<u64>(shifted));
  // what is tiny is its own sine: the sign of zero
  return select(y, x, magnitude_f64(x) < tiny_bits_f64);
}
fn sin_f64(x: f64) -> f64 {
  if (guard_sin_f64(true, x)) { return fast_path_sin_f64(x); }
  return slow_path_sin_f64(x, 0u);
}
fn guard_cos_f64(fine: bool, x: f64) -> bool { return guard_sin_f64(fine, x); }
fn fast_path_cos_f64(x: f64) -> f64 {
  // with x = (n + 1/2) pi + r the cosine of x is -sin(r) for even n
  let shifted = fma(x, 0.3183098861837907lf, -0.5lf) + opaque_f64(rounder_f64);
  let n = add_f64(shifted - rounder_f64, 0.5lf);
  let y = half_turn_sin_f64(less_half_turns_f64(x, n), bitcast<u64>(shifted) + 1lu);
  // the cosine of what is tiny is 1, and the sine of what is left of it may be less
  return select(y, 1.0lf, magnitude_f64(x) < tiny_bits_f64);
}
fn cos_f64(x: f64) -> f64 {
  if (guard_cos_f64(true, x)) { return fast_path_cos_f64(x); }
  return slow_path_sin_f64(x, 1u);
}
