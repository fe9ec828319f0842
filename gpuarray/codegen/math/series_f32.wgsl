// Polynomials on the reduced ranges, minimax by Remez' exchange, with the largest relative error of what is
// made of them. Written by bench/coefficients.

// x / tanh(x / 2) - 2 for |x| <= log(2) / 2, t = x*x: 0.074 ULP.
fn exp_series_f32(t: f32) -> f32 { return t * (0.16666625f + t * -0.0027667128f); }
// (log((1 + s) / (1 - s)) - 2 s) / s for 1 + s over 1 - s up to sqrt(2), z = s*s: 0.00042 ULP.
fn log_series_f32(z: f32) -> f32 {
  return z * (0.6666666f + z * (0.40000972f + z * (0.28498796f + z * 0.24278681f)));
}
// (3/2 log((1 + s) / (1 - s)) - 3 s - s**3) / s**5 for |s| <= 0.102, z = s*s: 1.9e-07 ULP.
fn log_power_series_f32(z: f32) -> f32 { return 0.6f + z * (0.4285607f + z * (0.3348171f + z * 0.2101788f)); }
// (sin(x) - x) / x**3, less the first term over x*x, for |x| <= pi/4, z = x*x: 0.0026 ULP.
const sin_first_f32 = -0.16666667f;
fn sin_series_f32(z: f32) -> f32 { return 0.00833338f + z * (-0.00019853513f + z * 2.8375432e-06f); }
// (cos(x) - 1 + x*x/2) / x**4 for |x| <= pi/4, z = x*x: 0.0001 ULP.
fn cos_series_f32(z: f32) -> f32 {
  return 0.041666668f + z * (-0.0013888982f + z * (2.4822986e-05f + z * -2.8977658e-07f));
}
// (tan(x) - x) / x**3, less the first term over x*x, for |x| <= 0.6745, z = x*x: 0.0017 ULP.
const tan_first_f32 = 0.33333334f;
fn tan_series_f32(z: f32) -> f32 {
  return 0.13333267f + z * (0.05398164f + z * (0.021747299f + z * (0.009440991f + z * (0.0021467295f
    + z * 0.0031887086f))));
}
// (asin(x) - x) / x for |x| <= 1/2, z = x*x: 0.0049 ULP.
fn asin_series_f32(z: f32) -> f32 {
  return z * (0.1666666f + z * (0.07500521f + z * (0.044513635f + z * (0.031836033f + z * (0.014329438f
    + z * 0.03767245f)))));
}
// (x - atan(x)) / x for |x| <= 7/16, z = x*x: 0.02 ULP.
fn atan_series_f32(z: f32) -> f32 {
  return z * (0.33333305f + z * (-0.19997787f + z * (0.14230315f + z * (-0.10495182f + z * 0.058282f))));
}
// 1 / cbrt(r) for r = t**3 / m of the first estimate t of cbrt(m): 24 ULP.
fn cbrt_series_f32(r: f32) -> f32 {
  return 1.7286288f + r * (-1.295716f + r * (0.7388825f + r * -0.17179659f));
}
// (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2: 0.054 ULP.
fn exp_fast_path_series_f32(r: f32) -> f32 {
  return 0.49999994f + r * (0.16666517f + r * (0.041668102f + r * (0.0083691925f + r * 0.0013839114f)));
}
// (2**r - 1) / r for |r| <= 1/2: 0.088 ULP.
fn exp2_fast_path_series_f32(r: f32) -> f32 {
  return 0.69314724f + r * (0.24022655f + r * (0.055502724f + r * (0.009617069f + r * (0.0013417955f
    + r * 0.00015823248f))));
}
// (atanh(q) - q - q**3 / 3) / q**5 for 1 + q over 1 - q up to sqrt(2), z = q*q: 0.00014 ULP.
fn power_fast_path_series_f32(z: f32) -> f32 { return 0.20000076f + z * (0.14273544f + z * 0.11709885f); }
// (log(1 + f) - f + f**2 / 2) / f**3 for 1 + f from sqrt(1/2) to sqrt(2): 0.026 ULP.
fn log_fast_path_series_f32(f: f32) -> f32 {
  return 0.33333313f + f * (-0.25000167f + f * (0.20002222f + f * (-0.16659372f + f * (0.14209631f
    + f * (-0.12549597f + f * (0.12108067f + f * (-0.10916979f + f * 0.053418625f)))))));
}
// (tanh(x) - x) / x**3 for |x| <= 0.6, z = x*x: 0.047 ULP.
fn tanh_fast_path_series_f32(z: f32) -> f32 {
  return -0.333333f + z * (0.13331936f + z * (-0.053784717f + z * (0.02079863f + z * -0.005897978f)));
}
// (sin(x) - x) / x**3 for |x| <= pi/2, z = x*x, a little low there so that no sine is above 1: 0.0077 ULP.
fn sin_fast_path_series_f32(z: f32) -> f32 {
  return -0.16666667f + z * (0.0083333505f + z * (-0.00019843093f + z * (2.7627066e-06f
    + z * -2.5561661e-08f)));
}
