// Parts of Fourier transforms: roots of unity, products, and transforms of 2, 4 and 8 numbers.

// exp(-2 pi i k / n), 0 <= k < n < 2**29: the angle is reduced to an eighth of a turn in integers.
fn unit_root_FLOAT(k: u32, n: u32) -> vec2<FLOAT> {
  // which quarter is nearest need not be exact: next to a boundary either will do
  let quarter = u32(f32(k) * (4.0f / f32(n)) + 0.5f);
  let x = FLOAT(bitcast<i32>(4u * k - quarter * n)) * (half_pi_FLOAT / FLOAT(n));
  let z = x * x;
  let sine = x + z * x * (sin_first_FLOAT + z * sin_series_FLOAT(z));
  let cosine = FLOAT(1.0) - (FLOAT(0.5) * z - z * z * cos_series_FLOAT(z));
  let odd = (quarter & 1u) == 1u;
  let along = select(cosine, sine, odd);
  let across = select(sine, cosine, odd);
  return vec2<FLOAT>(
    select(along, -along, ((quarter + 1u) & 2u) != 0u), select(-across, across, (quarter & 2u) != 0u)
  );
}
// z times the root w; infinities in z may become NaN.
fn turned_FLOAT(z: vec2<FLOAT>, w: vec2<FLOAT>) -> vec2<FLOAT> {
  return vec2<FLOAT>(z.x * w.x - z.y * w.y, z.x * w.y + z.y * w.x);
}
fn transform_2_FLOAT(x: array<vec2<FLOAT>, 2>) -> array<vec2<FLOAT>, 2> {
  return array<vec2<FLOAT>, 2>(x[0] + x[1], x[0] - x[1]);
}
fn transform_4_FLOAT(x: array<vec2<FLOAT>, 4>) -> array<vec2<FLOAT>, 4> {
  let a = x[0] + x[2];
  let b = x[0] - x[2];
  let c = x[1] + x[3];
  let d = x[1] - x[3];
  let e = vec2<FLOAT>(d.y, -d.x);
  return array<vec2<FLOAT>, 4>(a + c, b + e, a - c, b - e);
}
fn transform_8_FLOAT(x: array<vec2<FLOAT>, 8>) -> array<vec2<FLOAT>, 8> {
  let even = transform_4_FLOAT(array<vec2<FLOAT>, 4>(x[0], x[2], x[4], x[6]));
  let odd = transform_4_FLOAT(array<vec2<FLOAT>, 4>(x[1], x[3], x[5], x[7]));
  let half = FLOAT(0.70710678118654752440);
  let b = half * vec2<FLOAT>(odd[1].x + odd[1].y, odd[1].y - odd[1].x);
  let c = vec2<FLOAT>(odd[2].y, -odd[2].x);
  let d = half * vec2<FLOAT>(odd[3].y - odd[3].x, -(odd[3].x + odd[3].y));
  return array<vec2<FLOAT>, 8>(
    even[0] + odd[0], even[1] + b, even[2] + c, even[3] + d, even[0] - odd[0], even[1] - b, even[2] - c, even[3] - d
  );
}
