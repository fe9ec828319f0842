// Products of words and of pairs of them on devices with 64-bit integers: one instruction where halves of words take ten.

fn wide_product(x: u32, y: u32) -> vec2<u32> {
  let product = u64(x) * u64(y);
  return vec2<u32>(u32(product & 0xfffffffflu), u32(product >> 32u));
}
// The lowest word apart, so that what the others are made of is not moved out of its way; u32 cuts off.
fn product_pair(x: vec2<u32>, y: vec2<u32>) -> vec4<u32> {
  let low = u64(x.x) * u64(y.x);
  let first = u64(x.x) * u64(y.y) + (low >> 32u);
  let second = u64(x.y) * u64(y.x) + (first & 0xfffffffflu);
  let high = u64(x.y) * u64(y.y) + ((first >> 32u) + (second >> 32u));
  return vec4<u32>(x.x * y.x, u32(second), u32(high), u32(high >> 32u));
}
