// Sums and products with gradual underflow, for devices whose arithmetic takes subnormal numbers for 0. The quick forms
// are plain arithmetic, for operands of which no subnormal number matters; in the careful ones integers do the work.

// x * 2**64 for magnitudes below 2**-62, and back from below 2**-30. Both exact.
fn raised_f32(x: f32) -> f32 {
  let magnitude = magnitude_f32(x);
  let subnormal = f32(magnitude) * 0x1p-85f;
  return copysign_f32(select(bitcast<f32>(magnitude + 0x20000000u), subnormal, magnitude < implicit_bit_f32), x);
}
fn lowered_f32(x: f32) -> f32 {
  let magnitude = magnitude_f32(x);
  let subnormal = bitcast<f32>(u32(abs(x) * 0x1p85f));
  let is_normal = magnitude >= 0x20000000u + implicit_bit_f32;
  return copysign_f32(select(subnormal, bitcast<f32>(magnitude - 0x20000000u), is_normal), x);
}
// One of the magnitudes is 2**-95 at least, or both are 0. Subtraction of 1 makes one question of the two.
fn is_quick_gradual_add_f32(x: f32, y: f32) -> bool {
  return ((bitcast<u32>(x) | bitcast<u32>(y)) & magnitude_bits_f32) - 1u >= 0x0fffffffu;
}
fn quick_gradual_add_f32(x: f32, y: f32) -> f32 { return add_f32(x, y); }
fn gradual_add_f32(x: f32, y: f32) -> f32 {
  if (is_quick_gradual_add_f32(x, y)) { return add_f32(x, y); }
  return lowered_f32(add_f32(raised_f32(x), raised_f32(y)));
}
fn is_quick_gradual_subtract_f32(x: f32, y: f32) -> bool { return is_quick_gradual_add_f32(x, y); }
fn quick_gradual_subtract_f32(x: f32, y: f32) -> f32 { return subtract_f32(x, y); }
fn gradual_subtract_f32(x: f32, y: f32) -> f32 {
  if (is_quick_gradual_add_f32(x, y)) { return subtract_f32(x, y); }
  return lowered_f32(subtract_f32(raised_f32(x), raised_f32(y)));
}

// The product is surely normal, or one operand is 0. NaN goes the careful way.
fn is_quick_gradual_multiply_f32(x: f32, y: f32) -> bool {
  return (abs(multiply_f32(x, y)) >= 0x1p-125f) | (bitcast<u32>(x) << 1u == 0u) | (bitcast<u32>(y) << 1u == 0u);
}
fn quick_gradual_multiply_f32(x: f32, y: f32) -> f32 { return multiply_f32(x, y); }
// A number that is 0, finite or none as x is.
fn like_f32(x: f32) -> f32 { return select(x, copysign_f32(1.0f, x), ordinary_f32(abs_f32(x))); }
fn gradual_multiply_f32(x: f32, y: f32) -> f32 {
  if (is_quick_gradual_multiply_f32(x, y)) { return multiply_f32(x, y); }
  if (!isfinite_f32(x) || !isfinite_f32(y)) { return multiply_f32(like_f32(x), like_f32(y)); }
  // 48 bits from the halves of the significands
  let a = significand_f32(x);
  let b = significand_f32(y);
  let middle = (a >> 12u) * (b & 0xfffu) + (a & 0xfffu) * (b >> 12u);
  let lower = (a & 0xfffu) * (b & 0xfffu) + ((middle & 0xfffu) << 12u);
  let upper = (a >> 12u) * (b >> 12u) + (middle >> 12u) + (lower >> 24u);
  let rest = lower & 0xffffffu;
  let up = upper >> 23u;
  let sign = (bitcast<u32>(x) ^ bitcast<u32>(y)) & sign_bit_f32;
  let scale = scale_f32(x) + scale_f32(y) - exponent_bias_f32 + i32(up);
  if (up == 1u) { return compose_rest_f32(sign, upper, rest, 0x1000000u, scale); }
  return compose_rest_f32(sign, 2u * upper + (rest >> 23u), rest & 0x7fffffu, 0x800000u, scale);
}

// Devices keep subnormal numbers in double precision.
fn gradual_multiply_f64(x: f64, y: f64) -> f64 { return multiply_f64(x, y); }

fn is_quick_gradual_square_f32(x: f32) -> bool { return is_quick_gradual_multiply_f32(x, x); }
fn quick_gradual_square_f32(x: f32) -> f32 { return multiply_f32(x, x); }
fn gradual_square_f32(x: f32) -> f32 { return gradual_multiply_f32(x, x); }
const degrees_f32 = 180.0f / 3.14159265358979323846f;
fn is_quick_gradual_degrees_f32(x: f32) -> bool { return is_quick_gradual_multiply_f32(x, degrees_f32); }
fn quick_gradual_degrees_f32(x: f32) -> f32 { return multiply_f32(x, degrees_f32); }
fn gradual_degrees_f32(x: f32) -> f32 { return gradual_multiply_f32(x, degrees_f32); }
const radians_f32 = 3.14159265358979323846f / 180.0f;
fn is_quick_gradual_radians_f32(x: f32) -> bool { return is_quick_gradual_multiply_f32(x, radians_f32); }
fn quick_gradual_radians_f32(x: f32) -> f32 { return multiply_f32(x, radians_f32); }
fn gradual_radians_f32(x: f32) -> f32 { return gradual_multiply_f32(x, radians_f32); }
