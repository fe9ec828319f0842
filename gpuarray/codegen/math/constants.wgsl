// Constants of the formats and of the algorithms, for each precision. Written by bench/coefficients.

// Layout of the binary formats.
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

// Words of that width, and half of one.
const word_width_u32 = 32u;
const word_width_u64 = 64u;
const half_word_mask_u32 = 0x0000ffffu;
const half_word_mask_u64 = 0x00000000fffffffflu;

// log(2) and log10(2) in two parts, the first with bits enough left for an exact product with an exponent; 1/log(2),
// 1/log(10) and log(2) again, the first part as wide as the upper half of a number.
const ln2_high_f32 = 0.69314575f;
const ln2_high_f64 = 0.6931471805598903lf;
const ln2_low_f32 = 1.4286068e-06f;
const ln2_low_f64 = 5.497923018708371e-14lf;
const log10_2_high_f32 = 0.30103302f;
const log10_2_high_f64 = 0.30102999566395283lf;
const log10_2_low_f32 = -3.0243555e-06f;
const log10_2_low_f64 = 2.8363394551044964e-14lf;
const inverse_ln2_high_f32 = 1.4428711f;
const inverse_ln2_high_f64 = 1.4426950514316559lf;
const inverse_ln2_low_f32 = -0.00017605285f;
const inverse_ln2_low_f64 = -1.0542692476429138e-08lf;
const inverse_ln10_high_f32 = 0.43432617f;
const inverse_ln10_high_f64 = 0.4342944845557213lf;
const inverse_ln10_low_f32 = -3.168997e-05f;
const inverse_ln10_low_f64 = -2.6524694553078553e-09lf;
const ln2_upper_f32 = 0.69311523f;
const ln2_upper_f64 = 0.6931471824645996lf;
const ln2_rest_f32 = 3.1946183e-05f;
const ln2_rest_f64 = -1.904654299957768e-09lf;

// pow: log2(3/2) and 2/(3 log 2), the first part as wide as the upper half of a number.
const log2_1_5_high_f32 = 0.58496094f;
const log2_1_5_high_f64 = 0.5849625021219254lf;
const log2_1_5_low_f32 = 1.5632212e-06f;
const log2_1_5_low_f64 = -1.4007691725501674e-09lf;
const two_thirds_inverse_ln2_high_f32 = 0.96191406f;
const two_thirds_inverse_ln2_high_f64 = 0.9617967009544373lf;
const two_thirds_inverse_ln2_low_f32 = -0.000117368574f;
const two_thirds_inverse_ln2_low_f64 = -7.028461650952758e-09lf;
const two_thirds_inverse_ln2_f32 = 0.9617967f;
const two_thirds_inverse_ln2_f64 = 0.9617966939259756lf;

// Up to that many quadrants, products of their number with the first three parts of pi/2 are exact.
const quadrants_f32 = 4096.0f;
const quadrants_f64 = 1048576.0lf;
const half_pi_1_f32 = 1.5708008f;
const half_pi_1_f64 = 1.5707963267341256lf;
const half_pi_2_f32 = -4.4535846e-06f;
const half_pi_2_f64 = 6.077100506303966e-11lf;
const half_pi_3_f32 = -8.706138e-10f;
const half_pi_3_f64 = 2.0222662487111665e-21lf;
const half_pi_4_f32 = 6.223372e-14f;
const half_pi_4_f64 = 8.4784276603689e-32lf;

// pi/2, atan(1/2) and atan(3/2) rounded, and what that lost; the bits of the last number below pi/4.
const half_pi_f32 = 1.5707964f;
const half_pi_f64 = 1.5707963267948966lf;
const half_pi_low_f32 = -4.371139e-08f;
const half_pi_low_f64 = 6.123233995736766e-17lf;
const half_pi_lowest_f32 = -1.7151245e-15f;
const half_pi_lowest_f64 = -1.4973849048591698e-33lf;
const atan_half_f32 = 0.4636476f;
const atan_half_f64 = 0.4636476090008061lf;
const atan_half_low_f32 = 5.0121587e-09f;
const atan_half_low_f64 = 2.2698777452961687e-17lf;
const atan_three_halves_f32 = 0.98279375f;
const atan_three_halves_f64 = 0.982793723247329lf;
const atan_three_halves_low_f32 = -2.5131424e-08f;
const atan_three_halves_low_f64 = 1.3903311031230998e-17lf;
const quarter_pi_bits_f32 = 0x3f490fdau;
const quarter_pi_bits_f64 = 0x3fe921fb54442d18lu;

// Below them odd functions are x itself to the last bit, and so are exp(x) - 1 and log(1 + x).
const tiny_bits_f32 = 0x39000000u;
const tiny_bits_f64 = 0x3e40000000000000lu;
const minute_bits_f32 = 0x32800000u;
const minute_bits_f64 = 0x3c80000000000000lu;

// Where exp is near overflow; where x*x + 1 is x*x; where 1/x is lost beside pi/2; exponents beyond which every power
// of a number other than 1 is 0 or infinite.
const exp_limit_f32 = 80.0f;
const exp_limit_f64 = 700.0lf;
const large_f32 = 16384.0f;
const large_f64 = 268435456.0lf;
const vast_f32 = 1.0737418e+09f;
const vast_f64 = 5.764607523034235e+17lf;
const largest_power_f32 = 2.748779e+11f;
const largest_power_f64 = 1.1805916207174113e+21lf;

// What must be added to a fraction of sqrt(2) or more to carry into the next exponent. A first estimate of the cube
// root is (bits of x) / 3 + cbrt_excess.
const sqrt_two_excess_f32 = 0x004afb0du;
const sqrt_two_excess_f64 = 0x00095f619980c433lu;
const cbrt_excess_f32 = 0x2a5118b6u;
const cbrt_excess_f64 = 0x2a9f786c226809d5lu;
