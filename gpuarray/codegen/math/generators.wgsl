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
// Word i % 4 of the block whose counter is offset + i / 4.
fn random_word(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> u32 {
  let low = offset_0 + (i >> 2u);
  let words = philox_4x32(vec4<u32>(low, offset_1 + u32(low < offset_0), 0u, 0u), vec2<u32>(key_0, key_1));
  return select(select(words.x, words.y, (i & 1u) == 1u), select(words.z, words.w, (i & 1u) == 1u), (i & 2u) == 2u);
}
fn random_uniform_f32(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> f32 {
  return f32(random_word(i, key_0, key_1, offset_0, offset_1) >> 8u) * 5.9604644775390625e-08f;
}
// The words 2 i and 2 i + 1 are of one block.
fn random_uniform_f64(i: u32, key_0: u32, key_1: u32, offset_0: u32, offset_1: u32) -> f64 {
  let low = offset_0 + (i >> 1u);
  let words = philox_4x32(vec4<u32>(low, offset_1 + u32(low < offset_0), 0u, 0u), vec2<u32>(key_0, key_1));
  let first = select(words.x, words.z, (i & 1u) == 1u) >> 6u;
  let second = select(words.y, words.w, (i & 1u) == 1u) >> 5u;
  return (f64(second) * 67108864.0lf + f64(first)) * 1.1102230246251565e-16lf;
}
