// Single precision's own forms of the commonest functions: straight-line polynomials without divisions and nearly
// without branches, since these kernels should cost no more than their memory traffic. Errors below 2 ULP.
// Polynomials: Cephes (Moshier).

fn exp_f32(x: f32) -> f32 {
  let bounded = min(max(x, -104.0f), 89.0f);
  let n = round(bounded * 1.44269504f);
  let r = opaque_f32(bounded - n * 0.693359375f) - n * -2.12194440e-4f;
  let p = 5.0000001201e-1f + r * (1.6666665459e-1f + r * (4.1665795894e-2f + r * (8.3334519073e-3f
    + r * (1.3981999507e-3f + r * 1.9875691500e-4f))));
  let y = 1.0f + (r + r * r * p);
  let k = i32(n);
  if (isnan_f32(x)) { return x; }
  if (k < -125 || k > 127) { return ldexp_f32(y, k); }
  return bitcast<f32>(bitcast<i32>(y) + (k << 23u));
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

// The remainder after quadrants of pi/2, as vec2(remainder, quadrant): the first two products are exact.
fn quadrant_f32(x: f32) -> vec2<f32> {
  let n = round(x * 0.636619772f);
  let exact = opaque_f32((x - n * half_pi_1_f32) - n * half_pi_2_f32);
  return vec2<f32>(opaque_f32(exact - n * half_pi_3_f32) - n * half_pi_4_f32, n);
}
fn sin_polynomial_f32(x: f32, z: f32) -> f32 {
  return x + x * z * (-1.6666654611e-1f + z * (8.3321608736e-3f + z * -1.9515295891e-4f));
}
fn cos_polynomial_f32(z: f32) -> f32 {
  return (1.0f - 0.5f * z) + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
}
// sin(x + shift * pi/2).
fn shifted_sin_f32(x: f32, shift: i32) -> f32 {
  var r = x;
  var quadrant = shift;
  if (magnitude_f32(x) < 0x45800000u) {
    let reduced = quadrant_f32(x);
    r = reduced.x;
    quadrant = quadrant + i32(reduced.y);
  } else {
    if (!isfinite_f32(x)) { return quiet_f32(x); }
    let reduced = reduce_f32(x);
    r = reduced.high;
    quadrant = quadrant + i32(reduced.quadrant);
  }
  let z = r * r;
  let y = select(sin_polynomial_f32(r, z), cos_polynomial_f32(z), (quadrant & 1) == 1);
  return bitcast<f32>(bitcast<u32>(y) ^ (u32(quadrant & 2) << 30u));
}
fn sin_f32(x: f32) -> f32 {
  return select(shifted_sin_f32(x, 0), x, magnitude_f32(x) < tiny_bits_f32);
}
fn cos_f32(x: f32) -> f32 { return shifted_sin_f32(x, 1); }

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
