// Polynomials and rational functions on the reduced ranges, single precision. Coefficients: FreeBSD msun and Cephes.

// 2 - x / tanh(x / 2) as a series in t = x*x; FreeBSD e_expf.c.
fn exp_series_f32(t: f32) -> f32 { return t * (1.6666625440e-1f + t * -2.7667332906e-3f); }
// (log((1 + s) / (1 - s)) - 2 s) / s in z = s*s; FreeBSD e_logf.c.
fn log_series_f32(z: f32) -> f32 {
  let w = z * z;
  return w * (0.40000972152f + w * 0.24279078841f) + z * (0.66666662693f + w * 0.28498786688f);
}
// (sin(x) - x) / x**3 without its first term -1/6, over x**2, in z = x*x; FreeBSD k_sin.c rounded.
fn sin_series_f32(z: f32) -> f32 {
  return 8.3333337680e-3f + z * (-1.9841270114e-4f + z * (2.7557314297e-6f + z * (-2.5050759689e-8f)));
}
const sin_first_f32 = -1.6666667163e-1f;
// (cos(x) - 1 + x*x/2) / x**4 in z = x*x; FreeBSD k_cos.c rounded.
fn cos_series_f32(z: f32) -> f32 {
  return 4.1666667908e-2f + z * (-1.3888889225e-3f + z * (2.4801587642e-5f + z * (-2.7557314297e-7f)));
}
// (tan(x) - x - x**3/3) / x**5 in z = x*x; FreeBSD k_tan.c rounded, cut at single precision.
fn tan_series_f32(z: f32) -> f32 {
  let w = z * z;
  let odd = 1.3333334029e-1f + w * (2.1869488060e-2f + w * (3.5920790397e-3f + w * (5.8804126456e-4f + w * (7.8179444245e-5f + w * -1.8558637748e-5f))));
  let even = 5.3968254477e-2f + w * (8.8632395491e-3f + w * (1.4562094584e-3f + w * (2.4646313977e-4f + w * (7.1407252108e-5f + w * 2.5907305826e-5f))));
  return odd + z * even;
}
// (asin(x) - x) / x in z = x*x; FreeBSD e_asinf.c.
fn asin_series_f32(z: f32) -> f32 {
  let p = z * (1.6666586697e-01f + z * (-4.2743422091e-02f + z * -8.6563630030e-03f));
  return p / (1.0f + z * -7.0662963390e-01f);
}
// (x - atan(x)) / x in z = x*x; FreeBSD s_atanf.c.
fn atan_series_f32(z: f32) -> f32 {
  let w = z * z;
  return z * (3.3333328366e-01f + w * (1.4253635705e-01f + w * 6.1687607318e-02f))
    + w * (-1.9999158382e-01f + w * -1.0648017377e-01f);
}
// (log(m) / s * 3/2 - 3 - s*s) / s**4 in z = s*s, s = (m - 1) / (m + 1); FreeBSD e_powf.c.
fn log_power_series_f32(z: f32) -> f32 {
  return 6.0000002384e-01f + z * (4.2857143283e-01f + z * (3.3333334327e-01f + z * (2.7272811532e-01f
    + z * (2.3066075146e-01f + z * 2.0697501302e-01f))));
}
