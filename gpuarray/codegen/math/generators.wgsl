// Functions of the flat index: ranges and diagonals.

// start + i * (second - start): the step between the first two rounded elements, as numpy.arange fills.
fn arange_f32(i: u32, start: f32, step: f32) -> f32 {
  let second = opaque_f32(start + step);
  return add_f32(start, multiply_f32(f32_from_u32(i), second - start));
}
// Four of them from a multiple of four on, which differ in the low half's last bits alone.
fn vec4_f32_from_u32(i: u32) -> vec4<f32> {
  let low = bitcast<f32>((i & 0xffffu) | 0x4b000000u);
  let high = subtract_f32(bitcast<f32>((i >> 16u) | 0x53000000u), 549764202496.0f);
  return vec4<f32>(add_f32(high, low), add_f32(high, add_f32(low, 1.0f)), add_f32(high, add_f32(low, 2.0f)),
                   add_f32(high, add_f32(low, 3.0f)));
}
fn vec4_arange_f32(i: u32, start: f32, step: f32) -> vec4<f32> {
  let difference = opaque_f32(start + step) - start;
  let at = vec4_f32_from_u32(i);
  return vec4<f32>(
    add_f32(start, multiply_f32(at.x, difference)), add_f32(start, multiply_f32(at.y, difference)),
    add_f32(start, multiply_f32(at.z, difference)), add_f32(start, multiply_f32(at.w, difference))
  );
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
  return select(add_f32(multiply_f32(f32_from_u32(i), step), start), stop, i32(i) == last);
}
fn vec4_linspace_f32(i: u32, start: f32, step: f32, stop: f32, last: i32) -> vec4<f32> {
  let at = vec4_f32_from_u32(i);
  let found = vec4<f32>(
    add_f32(multiply_f32(at.x, step), start), add_f32(multiply_f32(at.y, step), start),
    add_f32(multiply_f32(at.z, step), start), add_f32(multiply_f32(at.w, step), start)
  );
  return select(found, vec4<f32>(stop), vec4<u32>(i, i + 1u, i + 2u, i + 3u) == vec4<u32>(bitcast<u32>(last)));
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
