// Functions of the flat index: ranges, diagonals and counter-based random bits.

// start + i * (second - start): the step between the first two rounded elements, as numpy.arange fills.
fn arange_f32(i: u32, start: f32, step: f32) -> f32 {
  let second = opaque_f32(start + step);
  return start + opaque_f32(f32_from_u32(i) * (second - start));
}
fn arange_f64(i: u32, start: f64, step: f64) -> f64 {
  let second = opaque_f64(start + step);
  return start + opaque_f64(f64(i) * (second - start));
}
fn arange_f16(i: u32, start: f32, step: f32) -> f32 {
  let second = round_f16_f32(opaque_f32(start + step));
  return round_f16_f32(start + opaque_f32(f32_from_u32(i) * (second - start)));
}
fn arange_c64(i: u32, start: vec2<f32>, step: vec2<f32>) -> vec2<f32> {
  return vec2<f32>(arange_f32(i, start.x, step.x), arange_f32(i, start.y, step.y));
}
fn arange_c128(i: u32, start: vec2<f64>, step: vec2<f64>) -> vec2<f64> {
  return vec2<f64>(arange_f64(i, start.x, step.x), arange_f64(i, start.y, step.y));
}
// i * step + start in two roundings, and exactly stop at the last index.
fn linspace_f32(i: u32, start: f32, step: f32, stop: f32, last: i32) -> f32 {
  return select(opaque_f32(f32_from_u32(i) * step) + start, stop, i32(i) == last);
}
fn linspace_f64(i: u32, start: f64, step: f64, stop: f64, last: i32) -> f64 {
  return select(opaque_f64(f64(i) * step) + start, stop, i32(i) == last);
}
fn linspace_c64(i: u32, start: vec2<f32>, step: vec2<f32>, stop: vec2<f32>, last: i32) -> vec2<f32> {
  return vec2<f32>(linspace_f32(i, start.x, step.x, stop.x, last), linspace_f32(i, start.y, step.y, stop.y, last));
}
fn linspace_c128(i: u32, start: vec2<f64>, step: vec2<f64>, stop: vec2<f64>, last: i32) -> vec2<f64> {
  return vec2<f64>(linspace_f64(i, start.x, step.x, stop.x, last), linspace_f64(i, start.y, step.y, stop.y, last));
}
// column - row of an element of a matrix.
fn diagonal_of(i: u32, columns: i32) -> i32 {
  let row = i / u32(columns);
  return i32(i - row * u32(columns)) - i32(row);
}
fn on_diagonal(i: u32, columns: i32, k: i32) -> bool { return diagonal_of(i, columns) == k; }
fn under_diagonal(i: u32, columns: i32, k: i32) -> bool { return diagonal_of(i, columns) <= k; }

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011): four words of a 128-bit counter under a 64-bit key.
fn philox_4x32(start: vec4<u32>, first_key: vec2<u32>) -> vec4<u32> {
  var counter = start;
  var key = first_key;
  for (var round = 0u; round < 10u; round = round + 1u) {
    let high_0 = multiply_high_u32(0xd2511f53u, counter.x);
    let low_0 = 0xd2511f53u * counter.x;
    let high_1 = multiply_high_u32(0xcd9e8d57u, counter.z);
    let low_1 = 0xcd9e8d57u * counter.z;
    counter = vec4<u32>(high_1 ^ counter.y ^ key.x, low_1, high_0 ^ counter.w ^ key.y, low_0);
    key = key + vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return counter;
}
// The block whose counter is offset + number.
fn random_block(number: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> vec4<u32> {
  let low = offset_0 + number;
  return philox_4x32(vec4<u32>(low, offset_1 + u32(low < offset_0), 0u, 0u), vec2<u32>(key_0, key_1));
}
// Word i % 4 of block i / 4.
fn random_word(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> u32 {
  let words = random_block(i >> 2u, key_0, key_1, offset_0, offset_1);
  return select(select(words.x, words.y, (i & 1u) == 1u), select(words.z, words.w, (i & 1u) == 1u), (i & 2u) == 2u);
}
// Words 2 i and 2 i + 1, which are of one block.
fn random_pair(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> vec2<u32> {
  let words = random_block(i >> 1u, key_0, key_1, offset_0, offset_1);
  return select(words.xy, words.zw, (i & 1u) == 1u);
}
fn random_uniform_f32(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> f32 {
  return f32(random_word(i, key_0, key_1, offset_0, offset_1) >> 8u) * 5.9604644775390625e-08f;
}
// The top 53 bits of two words, the low one first, as an integral number.
fn fraction_f64(words: vec2<u32>) -> f64 { return f64(words.y >> 5u) * 67108864.0lf + f64(words.x >> 6u); }
fn random_uniform_f64(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> f64 {
  return fraction_f64(random_pair(i, key_0, key_1, offset_0, offset_1)) * 1.1102230246251565e-16lf;
}
// Box and Muller: a pair of elements has the cosine and the sine of one angle, times one radius. The share from which the
// radius comes is never 0.
fn random_normal_f32(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> f32 {
  let words = random_pair(i >> 1u, key_0, key_1, offset_0, offset_1);
  let share = f32_from_u32(words.x) * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
  // the angle in half turns, exact, and a quarter turn more for the cosine
  let turns = f32(words.y >> 8u) * 1.1920928955078125e-07f;
  let ahead = 0.5f - 0.5f * f32(i & 1u);
  let shifted = (turns + ahead) + opaque_f32(rounder_f32);
  let rest = add_f32(subtract_f32(turns, shifted - rounder_f32), ahead);
  let y = half_turn_sin_f32(rest * (2.0f * half_pi_f32), bitcast<u32>(shifted));
  return multiply_f32(sqrt_f32(-2.0f * quick_log_f32(share)), y);
}
fn random_normal_f64(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> f64 {
  let words = random_block(i >> 1u, key_0, key_1, offset_0, offset_1);
  let share = (fraction_f64(words.xy) + 1.0lf) * 1.1102230246251565e-16lf;
  let angle = reduce_f64(opaque_f64(fraction_f64(words.zw) * 6.975736996017264e-16lf));
  let quadrant = (angle.quadrant + 1u - (i & 1u)) & 3u;
  var y = 0.0lf;
  if ((quadrant & 1u) == 0u) { y = sin_reduced_f64(angle.high, angle.low); } else { y = cos_reduced_f64(angle.high, angle.low); }
  return multiply_f64(sqrt_f64(-2.0lf * log_f64(share)), select(y, -y, quadrant >= 2u));
}
// A random fraction of twice the width times the limit, cut off; the limit 0 is two to the width.
fn random_below_u32(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32, limit: u32) -> u32 {
  let words = random_pair(i, key_0, key_1, offset_0, offset_1);
  if (limit == 0u) { return words.y; }
  let middle = words.y * limit;
  return multiply_high_u32(words.y, limit) + u32(middle + multiply_high_u32(words.x, limit) < middle);
}
fn random_below_u64(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32, limit_0: u32, limit_1: u32) -> u64 {
  let words = random_block(i, key_0, key_1, offset_0, offset_1);
  let low = u64(words.x) | (u64(words.y) << 32u);
  let high = u64(words.z) | (u64(words.w) << 32u);
  let limit = u64(limit_0) | (u64(limit_1) << 32u);
  if (limit == 0lu) { return high; }
  let middle = high * limit;
  return multiply_high_u64(high, limit) + u64(middle + multiply_high_u64(low, limit) < middle);
}
