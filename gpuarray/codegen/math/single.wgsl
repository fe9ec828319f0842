// Single precision's own forms of the commonest functions: straight-line polynomials without divisions and nearly
// without branches, since these kernels should cost no more than their memory traffic. Errors below 2 ULP.
// Polynomials: Cephes (Moshier).

// Added to a number of magnitude under 2**22 it leaves the nearest integer in the low bits; taken away, that integer.
// Built-in rounding and conversion to integers run at a quarter of the speed of arithmetic.
const rounder_f32 = 12582912.0f;
const rounder_bits_f32 = 0x4b400000;
// One multiply-add; the rounder is a run-time value here, so that taking the constant away again is not undone.
fn shifted_nearest_f32(x: f32, factor: f32) -> f32 { return fma(x, factor, opaque_f32(rounder_f32)); }

fn exp_reduced_f32(x: f32, shifted: f32) -> f32 {
  let n = shifted - rounder_f32;
  let r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  let p = 5.0000001201e-1f + r * (1.6666665459e-1f + r * (4.1665795894e-2f + r * (8.3334519073e-3f
    + r * (1.3981999507e-3f + r * 1.9875691500e-4f))));
  return 1.0f + r * (1.0f + r * p);
}
fn exp_f32(x: f32) -> f32 {
  if (abs(x) < 87.0f) {
    let shifted = shifted_nearest_f32(x, 1.44269504f);
    // the rounder's own low bits are 0: what is shifted into the exponent is n alone
    return exp_reduced_f32(x, shifted) * bitcast<f32>((bitcast<u32>(shifted) << 23u) + one_bits_f32);
  }
  if (isnan_f32(x)) { return x; }
  let bounded = clamped_f32(x, 104.0f);
  let shifted = shifted_nearest_f32(bounded, 1.44269504f);
  return ldexp_f32(exp_reduced_f32(bounded, shifted), bitcast<i32>(shifted) - rounder_bits_f32);
}

fn log_f32(x: f32) -> f32 {
  if (!ordinary_f32(x)) { return log_special_f32(x); }
  // a subnormal number's significand is moved up by integers, which no device flushes
  var bits = bitcast<u32>(x);
  if (bits < implicit_bit_f32) { bits = significand_f32(x) + (bitcast<u32>(scale_f32(x) - 1) << 23u); }
  let above = bitcast<i32>(bits) - 0x3f3504f3;
  let n = f32(above >> 23u);
  let f = bitcast<f32>((above & 0x007fffff) + 0x3f3504f3) - 1.0f;
  let z = f * f;
  let p = 3.3333331174e-1f + f * (-2.4999993993e-1f + f * (2.0000714765e-1f + f * (-1.6668057665e-1f
    + f * (1.4249322787e-1f + f * (-1.2420140846e-1f + f * (1.1676998740e-1f + f * (-1.1514610310e-1f
    + f * 7.0376836292e-2f)))))));
  let rest = f * z * p + (n * -2.12194440e-4f - 0.5f * z);
  return (f + rest) + n * 0.693359375f;
}

// Cody and Waite's reduction: the remainder after whole quadrants of pi/2, whose number is in the low bits of the second
// part. The products with the first two pieces are exact up to 2**12 quadrants.
struct Quadrant_f32 { remainder: f32, shifted: i32 }
fn quadrant_f32(x: f32) -> Quadrant_f32 {
  let shifted = shifted_nearest_f32(x, 0.636619772f);
  let n = shifted - rounder_f32;
  if (fused_multiply_add) {
    let near = fma(-n, half_pi_low_f32, fma(-n, half_pi_f32, x));
    return Quadrant_f32(fma(-n, -1.71512451e-15f, near), bitcast<i32>(shifted));
  }
  let r = (((x - n * half_pi_1_f32) - n * half_pi_2_f32) - n * half_pi_3_f32) - n * half_pi_4_f32;
  return Quadrant_f32(r, bitcast<i32>(shifted));
}
fn sin_polynomial_f32(x: f32, z: f32) -> f32 {
  return x + x * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
}
fn cos_polynomial_f32(z: f32) -> f32 {
  return 1.0f + z * (-0.5f + z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f)));
}
// sin(remainder + quadrant * pi/2).
fn quadrant_sin_f32(r: f32, quadrant: i32) -> f32 {
  let z = r * r;
  let y = select(sin_polynomial_f32(r, z), cos_polynomial_f32(z), (quadrant & 1) == 1);
  return bitcast<f32>(bitcast<u32>(y) ^ ((bitcast<u32>(quadrant) << 30u) & sign_bit_f32));
}
fn careful_sin_f32(x: f32, shift: i32) -> f32 {
  if (!isfinite_f32(x)) { return quiet_f32(x); }
  let reduced = reduce_f32(x);
  return quadrant_sin_f32(reduced.high, shift + i32(reduced.quadrant));
}
// Comparisons of numbers, not of their bits: these run beside the arithmetic at its full speed. NaN fails them, and would
// pass through the quick forms as NaN.
const quick_f32 = 4096.0f;
fn sin_f32(x: f32) -> f32 {
  if (abs(x) < quick_f32 && abs(x) >= bitcast<f32>(tiny_bits_f32)) {
    let reduced = quadrant_f32(x);
    return quadrant_sin_f32(reduced.remainder, reduced.shifted);
  }
  if (magnitude_f32(x) < tiny_bits_f32) { return x; }
  return careful_sin_f32(x, 0);
}
fn cos_f32(x: f32) -> f32 {
  if (abs(x) < quick_f32) {
    let reduced = quadrant_f32(x);
    return quadrant_sin_f32(reduced.remainder, reduced.shifted + 1);
  }
  return careful_sin_f32(x, 1);
}

fn tanh_f32(x: f32) -> f32 {
  if (isnan_f32(x)) { return x; }
  let a = abs_f32(x);
  if (a < 0.625f) {
    let z = a * a;
    let p = -3.33332819422e-1f + z * (1.33314422036e-1f + z * (-5.37397155531e-2f + z * (2.06390887954e-2f
      + z * -5.70498872745e-3f)));
    return select(x + x * z * p, x, magnitude_f32(x) < tiny_bits_f32);
  }
  return copysign_f32(1.0f - 2.0f / (exp_f32(min(2.0f * a, 40.0f)) + 1.0f), x);
}
