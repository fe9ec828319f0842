// Integers of Fourier transforms.

// k * k modulo n < 2**31, without 64-bit integers.
fn square_modulo(k: u32, n: u32) -> u32 {
  let reduced = k % n;
  var rest = 0u;
  for (var bit = 32u - countLeadingZeros(reduced); bit > 0u; bit -= 1u) {
    rest = rest + rest;
    if (rest >= n) { rest -= n; }
    if (((reduced >> (bit - 1u)) & 1u) == 1u) {
      rest += reduced;
      if (rest >= n) { rest -= n; }
    }
  }
  return rest;
}
// x / d for x and d up to 2**13, given 1 / d: half a step above a multiple no rounding reaches the next.
fn small_quotient(x: u32, reciprocal: f32) -> u32 { return u32((f32(x) + 0.5f) * reciprocal); }
