// Layout of the binary formats, and constants of the algorithms, for each precision. Decimal digits as in fdlibm.

const one_bits_f32 = 0x3f800000u;
const one_bits_f64 = 0x3ff0000000000000lu;
const sign_bit_f32 = 0x80000000u;
const sign_bit_f64 = 0x8000000000000000lu;
const magnitude_bits_f32 = 0x7fffffffu;
const magnitude_bits_f64 = 0x7ffffffffffffffflu;
const infinity_bits_f32 = 0x7f800000u;
const infinity_bits_f64 = 0x7ff0000000000000lu;
const nan_bits_f32 = 0x7fc00000u;
const nan_bits_f64 = 0x7ff8000000000000lu;
const one_bits_f32 = 0x3f800000u;
const one_bits_f64 = 0x3ff0000000000000lu;
const half_bits_f32 = 0x3f000000u;
const half_bits_f64 = 0x3fe0000000000000lu;
const implicit_bit_f32 = 0x00800000u;
const implicit_bit_f64 = 0x0010000000000000lu;
const fraction_width_f32 = 23u;
const fraction_width_f64 = 52u;
const exponent_bias_f32 = 127;
const exponent_bias_f64 = 1023;
const exponent_mask_f32 = 0xffu;
const exponent_mask_f64 = 0x7ffu;
// The upper half of a number: a product of two such halves is exact.
const upper_half_f32 = 0xfffff000u;
const upper_half_f64 = 0xfffffffff8000000lu;
const word_width_u32 = 32u;
const word_width_u64 = 64u;
const half_word_mask_u32 = 0xffffu;
const half_word_mask_u64 = 0xfffffffflu;

// log(2) in two parts, the first with trailing zeros so that its product with an exponent is exact.
const ln2_high_f32 = 6.9313812256e-01f;
const ln2_high_f64 = 6.93147180369123816490e-01lf;
const ln2_low_f32 = 9.0580006145e-06f;
const ln2_low_f64 = 1.90821492927058770002e-10lf;
// 1/log(2), 1/log(10) and log10(2) in two parts.
const inverse_ln2_high_f32 = 1.4428710938e+00f;
const inverse_ln2_high_f64 = 1.44269504072144627571e+00lf;
const inverse_ln2_low_f32 = -1.7605285393e-04f;
const inverse_ln2_low_f64 = 1.67517131648865118353e-10lf;
const inverse_ln10_high_f32 = 4.3432617188e-01f;
const inverse_ln10_high_f64 = 4.34294481878168880939e-01lf;
const inverse_ln10_low_f32 = -3.1689971365e-05f;
const inverse_ln10_low_f64 = 2.50829467116452752298e-11lf;
const log10_2_high_f32 = 3.0102920532e-01f;
const log10_2_high_f64 = 3.01029995663611771306e-01lf;
const log10_2_low_f32 = 7.9034151668e-07f;
const log10_2_low_f64 = 3.69423907715893078616e-13lf;

// Numbers so small that odd functions are x itself, to the last bit.
const tiny_bits_f32 = 0x39000000u;
const tiny_bits_f64 = 0x3e30000000000000lu;
// What must be added to a significand of sqrt(2) or more to carry into the next exponent.
const sqrt_two_excess_f32 = 0x004afb0du;
const sqrt_two_excess_f64 = 0x00095f6400000000lu;
// Where exp is near overflow, and where x*x + 1 is x*x.
const exp_limit_f32 = 80.0f;
const exp_limit_f64 = 700.0lf;
const large_f32 = 2.68435456e8f;
const large_f64 = 2.68435456e8lf;
// Numbers so small that exp(x) - 1 and log(1 + x) are x itself.
const minute_bits_f32 = 0x32800000u;
const minute_bits_f64 = 0x3c80000000000000lu;

// pi/2 in four parts, of which the first three times a quadrant's number is exact; below that many quadrants.
const quadrants_f32 = 4096.0f;
const quadrants_f64 = 1048576.0lf;
const half_pi_1_f32 = 1.5703125f;
const half_pi_2_f32 = 0.0004837512969970703125f;
const half_pi_3_f32 = 7.549533620476723e-08f;
const half_pi_4_f32 = 2.5633440682570896e-12f;
const half_pi_1_f64 = 1.5707963267341256lf;
const half_pi_2_f64 = 6.077100506303966e-11lf;
const half_pi_3_f64 = 2.0222662487111665e-21lf;
const half_pi_4_f64 = 8.4784276603689e-32lf;
// pi/2 rounded, and what that lost.
const half_pi_f32 = 1.57079637050628662109375f;
const half_pi_f64 = 1.5707963267948966lf;
const half_pi_low_f32 = -4.371139e-08f;
const half_pi_low_f64 = 6.123233995736766e-17lf;
// atan(1/2) and atan(3/2) likewise.
const atan_half_f32 = 0.4636476f;
const atan_half_f64 = 0.4636476090008061lf;
const atan_half_low_f32 = 5.0121587e-09f;
const atan_half_low_f64 = 2.2698777452961687e-17lf;
const atan_three_halves_f32 = 0.98279375f;
const atan_three_halves_f64 = 0.982793723247329lf;
const atan_three_halves_low_f32 = -2.5131424e-08f;
const atan_three_halves_low_f64 = 1.3903311031230998e-17lf;

// pow: log2(3/2), 2/(3 log 2) and log(2) in two parts, the first with its lower half clear.
const log2_1_5_high_f32 = 5.84960938e-01f;
const log2_1_5_high_f64 = 5.84962487220764160156e-01lf;
const log2_1_5_low_f32 = 1.56322085e-06f;
const log2_1_5_low_f64 = 1.35003920212974897128e-08lf;
const two_thirds_inverse_ln2_f32 = 9.6179670095e-01f;
const two_thirds_inverse_ln2_f64 = 9.61796693925975554329e-01lf;
const two_thirds_inverse_ln2_high_f32 = 9.6191406250e-01f;
const two_thirds_inverse_ln2_high_f64 = 9.61796700954437255859e-01lf;
const two_thirds_inverse_ln2_low_f32 = -1.1736857402e-04f;
const two_thirds_inverse_ln2_low_f64 = -7.02846165095275826516e-09lf;
const ln2_upper_f32 = 6.93145752e-01f;
const ln2_upper_f64 = 6.93147182464599609375e-01lf;
const ln2_rest_f32 = 1.42860654e-06f;
const ln2_rest_f64 = -1.90465429995776804525e-09lf;
// Exponents beyond which every power of a number other than 1 is 0 or infinite.
const largest_power_f32 = 1099511627776.0f;
const largest_power_f64 = 1180591620717411303424.0lf;
// A first estimate of the cube root: (bits of x) / 3 + this.
const cbrt_excess_f32 = 709958130u;
const cbrt_excess_f64 = 0x2a9f789300000000lu;
const quarter_pi_bits_f32 = 0x3f490fdau;
const quarter_pi_bits_f64 = 0x3fe921fb54442d18lu;
// Where 1/x is lost beside pi/2, and squares are still far from overflow.
const vast_f32 = 1.073741824e9f;
const vast_f64 = 1.152921504606846976e18lf;
