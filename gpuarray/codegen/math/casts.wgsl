// Conversions that the built-in ones do not define, or do not round as NumPy does.

// Integers to floats, rounded to nearest even by integer operations: drivers truncate, or go through another type.
// Both halves of the word lie in the last places of a large number, exactly; one sum rounds.
fn f32_from_u32(x: u32) -> f32 {
  let low = bitcast<f32>((x & 0xffffu) | 0x4b000000u);
  let high = bitcast<f32>((x >> 16u) | 0x53000000u);
  return add_f32(subtract_f32(high, 549764202496.0f), low);
}
fn f32_from_i32(x: i32) -> f32 {
  return bitcast<f32>(bitcast<u32>(f32_from_u32(magnitude_i32(x))) | (bitcast<u32>(x) & 0x80000000u));
}
fn f32_from_u64(x: u64) -> f32 {
  if (x < 0x100000000lu) { return f32_from_u32(u32(x)); }
  // below the top 33 bits or fewer only the fact that something is set matters
  let shift = 32u - leading_zeros_u64(x);
  let top = u32(x >> shift) | u32(((x >> shift) << shift) != x);
  return bitcast<f32>(bitcast<u32>(f32_from_u32(top)) + (shift << 23u));
}
fn f32_from_i64(x: i64) -> f32 {
  return bitcast<f32>(bitcast<u32>(f32_from_u64(magnitude_i64(x))) | select(0u, 0x80000000u, x < 0));
}
fn f64_from_u64(x: u64) -> f64 {
  if (x == 0lu) { return f64(0.0); }
  let zeros = leading_zeros_u64(x);
  let up = x << zeros;
  let kept = up >> 11u;
  let lost = up & 0x7fflu;
  let rounded = kept + u64(lost > 0x400lu || (lost == 0x400lu && (kept & 1lu) == 1lu));
  return bitcast<f64>(rounded + (u64(1085u - zeros) << 52u));
}
fn f64_from_i64(x: i64) -> f64 {
  return bitcast<f64>(bitcast<u64>(f64_from_u64(magnitude_i64(x))) | select(0lu, 0x8000000000000000lu, x < 0));
}
// Into the range in which f32 is exact, past the largest float16.
fn clamp_i32(x: i32) -> i32 { return min(max(x, -131072), 131072); }
fn clamp_u32(x: u32) -> u32 { return min(x, 131072u); }
fn clamp_i64(x: i64) -> i32 { return i32(min(max(x, i64(-131072)), i64(131072))); }
fn clamp_u64(x: u64) -> u32 { return u32(min(x, u64(131072))); }

// Between the precisions, by bits: subnormal f32 survive everywhere, and f64 rounds once, to nearest even.
fn f64_from_f32(x: f32) -> f64 {
  let magnitude = magnitude_f32(x);
  let sign = u64(bitcast<u32>(x) & 0x80000000u) << 32u;
  if (magnitude >= 0x7f800000u) {
    return bitcast<f64>(sign | 0x7ff0000000000000lu | (u64(magnitude & 0x7fffffu) << 29u));
  }
  if (magnitude == 0u) { return bitcast<f64>(sign); }
  return compose_f64(sign, u64(significand_f32(x)) << 29u, scale_f32(x) + 896);
}
fn f32_from_f64(x: f64) -> f32 {
  let bits = bitcast<u64>(x);
  let sign = u32(bits >> 32u) & 0x80000000u;
  let magnitude = bits & 0x7ffffffffffffffflu;
  if (magnitude > 0x7ff0000000000000lu) { return bitcast<f32>(sign | 0x7fc00000u); }
  if (magnitude >= 0x47f0000000000000lu) { return bitcast<f32>(sign | 0x7f800000u); }
  if (magnitude < 0x3680000000000000lu) { return bitcast<f32>(sign); }
  let exponent = i32(u32(magnitude >> 52u)) - 896;
  let significand = (magnitude & 0xffffffffffffflu) | 0x10000000000000lu;
  let shift = select(29u, u32(30 - exponent), exponent < 1);
  let kept = significand >> shift;
  let lost = significand - (kept << shift);
  let tie = 1lu << (shift - 1u);
  let rounded = u32(kept) + u32(lost > tie || (lost == tie && (kept & 1lu) == 1lu));
  return bitcast<f32>(sign | (rounded + (u32(max(exponent - 1, 0)) << 23u)));
}

fn c128_from_c64(z: vec2<f32>) -> vec2<f64> { return vec2<f64>(f64_from_f32(z.x), f64_from_f32(z.y)); }
fn c64_from_c128(z: vec2<f64>) -> vec2<f32> { return vec2<f32>(f32_from_f64(z.x), f32_from_f64(z.y)); }

// Floats to integers, towards 0; out of range as x86-64 has it.
fn i32_from_f32(x: f32) -> i32 {
  return select(i32(-2147483648), i32(x), magnitude_f32(x) < 0x4f000000u);
}
fn i32_from_f64(x: f64) -> i32 {
  let inside = order_f64(x) < i64(0x41e0000000000000) && order_f64(x) > -i64(0x41e0000000200000);
  return select(i32(-2147483648), i32(x), inside);
}
fn i64_from_f32(x: f32) -> i64 {
  if (magnitude_f32(x) < one_bits_f32) { return i64(0); }
  let exponent = exponent_field_f32(x) - 127;
  if (exponent > 62) { return i64(1) << 63u; }
  let wide = u64(significand_f32(x));
  let magnitude = i64(select(wide >> u32(23 - min(exponent, 23)), wide << u32(max(exponent, 23) - 23), exponent > 23));
  return select(magnitude, -magnitude, signbit_f32(x));
}
fn i64_from_f64(x: f64) -> i64 {
  if (magnitude_f64(x) < one_bits_f64) { return i64(0); }
  let exponent = exponent_field_f64(x) - 1023;
  if (exponent > 62) { return i64(1) << 63u; }
  let wide = significand_f64(x);
  let magnitude = i64(select(wide >> u32(52 - min(exponent, 52)), wide << u32(max(exponent, 52) - 52), exponent > 52));
  return select(magnitude, -magnitude, signbit_f64(x));
}
// As compilers vectorise it: in two int32 halves. Negative values wrap; 2**32 and more give 0.
fn u32_from_f32(x: f32) -> u32 {
  let above = order_f32(x) >= 0x4f000000;
  return u32(i32_from_f32(select(x, x - 2147483648.0f, above))) ^ select(0u, 0x80000000u, above);
}
fn u32_from_f64(x: f64) -> u32 {
  let above = order_f64(x) >= i64(0x41e0000000000000);
  return u32(i32_from_f64(select(x, x - 2147483648.0lf, above))) ^ select(0u, 0x80000000u, above);
}
// The int64 conversion, shifted by 2**63 from there on.
fn u64_from_f32(x: f32) -> u64 {
  if (magnitude_f32(x) >= 0x5f000000u && !signbit_f32(x) && !isnan_f32(x)) {
    return select(0lu, u64(significand_f32(x)) << 40u, magnitude_f32(x) < 0x5f800000u);
  }
  return u64(i64_from_f32(x));
}
fn u64_from_f64(x: f64) -> u64 {
  if (magnitude_f64(x) >= 0x43e0000000000000lu && !signbit_f64(x) && !isnan_f64(x)) {
    return select(0lu, significand_f64(x) << 11u, exponent_field_f64(x) == 1086);
  }
  return u64(i64_from_f64(x));
}
// Built-in conversions between 32 and 64 bits extend by the *target's* signedness; these by the source's.
// Mesa compares a widened i32 with a constant as if it were unsigned, unless something stands between the two.
fn i64_from_i32(x: i32) -> i64 { return i64(x) + i64(zero_u32()); }
fn u64_from_i32(x: i32) -> u64 { return u64(i64_from_i32(x)); }
fn i64_from_u32(x: u32) -> i64 { return i64(u64(x)); }
