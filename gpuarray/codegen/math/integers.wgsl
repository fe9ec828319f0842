// Integer helpers of a single width.

fn leading_zeros_u32(x: u32) -> u32 { return countLeadingZeros(x); }
// countLeadingZeros of a 64-bit integer is not implemented in naga 29.
fn leading_zeros_u64(x: u64) -> u32 {
  let high = u32(x >> 32u);
  return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(x & 0xfffffffflu)), high == 0u);
}
fn bitwise_count_u32(x: u32) -> u32 { return countOneBits(x); }
fn bitwise_count_u64(x: u64) -> u32 { return countOneBits(u32(x >> 32u)) + countOneBits(u32(x & 0xfffffffflu)); }
// Comparisons of 64-bit integers of either signedness: the bits of both and whether each is below 0.
fn less_wide(x: u64, y: u64, x_negative: bool, y_negative: bool) -> bool {
  return select(x < y, x_negative, x_negative != y_negative);
}
fn equal_wide(x: u64, y: u64, x_negative: bool, y_negative: bool) -> bool {
  return x == y && x_negative == y_negative;
}
