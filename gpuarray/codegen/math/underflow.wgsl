// Sums and products with gradual underflow, for devices whose arithmetic takes subnormal numbers for 0. The fast paths
// are plain arithmetic, right where no subnormal number matters; the slow paths compute with integers.

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
fn guard_gradual_add_f32(x: f32, y: f32) -> bool {
  return ((bitcast<u32>(x) | bitcast<u32>(y)) & magnitude_bits_f32) - 1u >= 0x0fffffffu;
}
fn guard_gradual_subtract_f32(x: f32, y: f32) -> bool { return guard_gradual_add_f32(x, y); }
fn gradual_add_f32(x: f32, y: f32) -> f32 {
  if (guard_gradual_add_f32(x, y)) { return add_f32(x, y); }
  return lowered_f32(add_f32(raised_f32(x), raised_f32(y)));
}
fn gradual_subtract_f32(x: f32, y: f32) -> f32 {
  if (guard_gradual_add_f32(x, y)) { return subtract_f32(x, y); }
  return lowered_f32(subtract_f32(raised_f32(x), raised_f32(y)));
}

// The product is surely normal, or one operand is 0. NaN goes the slow path.
fn guard_gradual_multiply_f32(x: f32, y: f32) -> bool {
  return (abs(multiply_f32(x, y)) >= 0x1p-125f) | (bitcast<u32>(x) << 1u == 0u) | (bitcast<u32>(y) << 1u == 0u);
}
// A number that is 0, finite or none as x is.
fn like_f32(x: f32) -> f32 { return select(x, copysign_f32(1.0f, x), ordinary_f32(abs_f32(x))); }
fn whole_multiply_f32(x: f32, y: f32) -> f32 {
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
// The same in few instructions, where fma rounds once: small factors are raised, and the least normal number, raised
// as much, is added to the product. In its bits, less those of that number, are the bits of a subnormal result.
fn fused_multiply_f32(x: f32, y: f32) -> f32 {
  let x_small = abs(x) < 0x1p-62f;
  let y_small = abs(y) < 0x1p-62f;
  let a = select(abs_f32(x), abs_f32(raised_f32(x)), x_small);
  let b = select(abs_f32(y), abs_f32(raised_f32(y)), y_small);
  let product = multiply_f32(a, b);
  let up = (u32(x_small) + u32(y_small)) * 0x20000000u;
  let unit = select(0x1p-62f, 4.0f, x_small & y_small);
  let subnormal = bitcast<u32>(fma(a, b, unit)) - bitcast<u32>(unit);
  let bits = select(bitcast<u32>(product) - up, subnormal, product < unit);
  let is_itself = (up == 0u) | (magnitude_f32(product) >= infinity_bits_f32);
  return copysign_f32(bitcast<f32>(select(bits, bitcast<u32>(product), is_itself)),
                      bitcast<f32>(bitcast<u32>(x) ^ bitcast<u32>(y)));
}
fn gradual_multiply_f32(x: f32, y: f32) -> f32 {
  if (guard_gradual_multiply_f32(x, y)) { return multiply_f32(x, y); }
  if (fused_multiply_add) { return fused_multiply_f32(x, y); }
  return whole_multiply_f32(x, y);
}

// Devices keep subnormal numbers in double precision.
fn gradual_multiply_f64(x: f64, y: f64) -> f64 { return multiply_f64(x, y); }

fn guard_gradual_square_f32(x: f32) -> bool { return guard_gradual_multiply_f32(x, x); }
fn gradual_square_f32(x: f32) -> f32 { return gradual_multiply_f32(x, x); }
const degrees_f32 = 180.0f / 3.14159265358979323846f;
fn guard_gradual_degrees_f32(x: f32) -> bool { return guard_gradual_multiply_f32(x, degrees_f32); }
fn gradual_degrees_f32(x: f32) -> f32 { return gradual_multiply_f32(x, degrees_f32); }
const radians_f32 = 3.14159265358979323846f / 180.0f;
fn guard_gradual_radians_f32(x: f32) -> bool { return guard_gradual_multiply_f32(x, radians_f32); }
fn gradual_radians_f32(x: f32) -> f32 { return gradual_multiply_f32(x, radians_f32); }
// What kernels ask of the fast paths' values; NaN is not.
fn is_at_least_f32(x: f32, bound: f32) -> bool { return abs(x) >= bound; }
// Magnitudes in their order, but for 0, which is the largest.
fn zero_last_f32(x: f32) -> u32 { return (bitcast<u32>(x) << 1u) - 1u; }
fn is_normal_or_zero_f32(x: f32) -> bool { return is_zero_or_at_least_f32(x, 0x1p-126f); }
fn is_zero_or_at_least_f32(x: f32, bound: f32) -> bool { return zero_last_f32(x) >= zero_last_f32(bound); }

// The parts of complex numbers, each rounded as NumPy's.
fn gradual_add_c64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(gradual_add_f32(a.x, b.x), gradual_add_f32(a.y, b.y));
}
fn gradual_subtract_c64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(gradual_subtract_f32(a.x, b.x), gradual_subtract_f32(a.y, b.y));
}
fn gradual_multiply_c64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let x = gradual_subtract_f32(gradual_multiply_f32(a.x, b.x), gradual_multiply_f32(a.y, b.y));
  return vec2<f32>(x, gradual_add_f32(gradual_multiply_f32(a.x, b.y), gradual_multiply_f32(a.y, b.x)));
}
fn gradual_square_c64(a: vec2<f32>) -> vec2<f32> { return gradual_multiply_c64(a, a); }
