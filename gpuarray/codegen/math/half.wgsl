// float16 without the f16 feature: values are held as f32, and rounded to the nearest float16, ties to even. Exact.

fn f16_to_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return sign | 0x7e00u | ((magnitude >> 13u) & 0x3ffu); }
  if (magnitude >= 0x477ff000u) { return sign | 0x7c00u; }
  if (magnitude >= 0x38800000u) {
    let odd = (magnitude >> 13u) & 1u;
    return sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13u);
  }
  if (magnitude < 0x33000000u) { return sign; }
  let shift = 126u - (magnitude >> 23u);
  let significand = (magnitude & 0x7fffffu) | 0x800000u;
  let kept = significand >> shift;
  let lost = significand - (kept << shift);
  let tie = 1u << (shift - 1u);
  return sign | (kept + u32(lost > tie || (lost == tie && (kept & 1u) == 1u)));
}
fn f16_from_bits(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13u)); }
  if (magnitude >= 0x400u) { return bitcast<f32>(sign | ((magnitude << 13u) + 0x38000000u)); }
  return bitcast<f32>(sign | bitcast<u32>(f32(magnitude) * 5.9604644775390625e-08f));
}
fn round_f16_f32(x: f32) -> f32 { return f16_from_bits(f16_to_bits(x)); }

// One rounding from f64: to f32 with the last bit sticky ("round to odd"), from where a second rounding does no harm.
fn round_f16_f64(x: f64) -> f32 { return round_f16_f32(round_to_odd_f32(x)); }
fn round_to_odd_f32(x: f64) -> f32 {
  let bits = bitcast<u64>(x);
  let sign = u32(bits >> 32u) & 0x80000000u;
  let magnitude = bits & 0x7ffffffffffffffflu;
  if (magnitude > 0x7ff0000000000000lu) { return bitcast<f32>(sign | 0x7fc00000u); }
  if (magnitude >= 0x47f0000000000000lu) { return bitcast<f32>(sign | 0x7f800000u); }
  if (magnitude < 0x3810000000000000lu) { return bitcast<f32>(sign); }
  let sticky = u32((magnitude & 0x1ffffffflu) != 0lu);
  return bitcast<f32>(sign | u32((magnitude - 0x3800000000000000lu) >> 29u) | sticky);
}

fn nextafter_f16(x: f32, y: f32) -> f32 {
  if (isnan_f32(x)) { return x; }
  if (isnan_f32(y) || order_f32(x) == order_f32(y)) { return y; }
  let bits = f16_to_bits(x);
  if (!truth_f32(x)) { return f16_from_bits((f16_to_bits(y) & 0x8000u) | 1u); }
  return f16_from_bits(select(bits - 1u, bits + 1u, (order_f32(x) < order_f32(y)) == (order_f32(x) > 0)));
}
fn spacing_f16(x: f32) -> f32 {
  if (!isfinite_f32(x)) { return nan_f32(); }
  let bits = f16_to_bits(x);
  // NumPy's float16 spacing is that towards +infinity, unlike at the other widths: positive, and halved at -2**n
  let next = select(bits + 1u, bits - 1u, bits > 0x8000u);
  return abs_f32(f16_from_bits(next) - f16_from_bits(bits));
}
