// Integer helpers of a single width.

fn leading_zeros_u32(x: u32) -> u32 { return countLeadingZeros(x); }
// countLeadingZeros of a 64-bit integer is not implemented in naga 29.
fn leading_zeros_u64(x: u64) -> u32 {
  let high = u32(x >> 32u);
  return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(x & 0xfffffffflu)), high == 0u);
}
fn bitwise_count_u32(x: u32) -> u32 { return countOneBits(x); }
fn bitwise_count_u64(x: u64) -> u32 { return countOneBits(u32(x >> 32u)) + countOneBits(u32(x & 0xfffffffflu)); }
// Comparisons of 64-bit integers of either signedness, by value.
fn less_i64_i64(x: i64, y: i64) -> bool { return x < y; }
fn less_u64_u64(x: u64, y: u64) -> bool { return x < y; }
fn less_i64_u64(x: i64, y: u64) -> bool { return x < 0 || u64(x) < y; }
fn less_u64_i64(x: u64, y: i64) -> bool { return y >= 0 && x < u64(y); }
fn equal_i64_i64(x: i64, y: i64) -> bool { return x == y; }
fn equal_u64_u64(x: u64, y: u64) -> bool { return x == y; }
fn equal_i64_u64(x: i64, y: u64) -> bool { return x >= 0 && u64(x) == y; }
fn equal_u64_i64(x: u64, y: i64) -> bool { return y >= 0 && x == u64(y); }
