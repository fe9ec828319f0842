// Random numbers from counters: Philox (Salmon, Moraes, Dror, Shaw, SC 2011) and what is made of its words. The
// references, and what streams and substreams are, are in ops/philox.py and ops/substreams.py.

// -- streams: Philox4x64-10, four 64-bit words of a 256-bit counter under a 128-bit key -----------------------------------

// Four numbers of 64 bits, each the low word first.
struct Block_4x64 { low: vec4<u32>, high: vec4<u32> }

fn round_4x64(block: Block_4x64, key: vec4<u32>) -> Block_4x64 {
  let first = product_pair(block.low.xy, vec2<u32>(0xe14c6c93u, 0xd2e7470eu));
  let second = product_pair(block.high.xy, vec2<u32>(0x95121157u, 0xca5a8263u));
  return Block_4x64(
    vec4<u32>(second.zw ^ block.low.zw ^ key.xy, second.xy), vec4<u32>(first.zw ^ block.high.zw ^ key.zw, first.xy)
  );
}
fn next_key_4x64(key: vec4<u32>) -> vec4<u32> {
  return vec4<u32>(
    add_pair(key.xy, vec2<u32>(0x7f4a7c15u, 0x9e3779b9u)), add_pair(key.zw, vec2<u32>(0x84caa73bu, 0xbb67ae85u))
  );
}
fn philox_4x64(counter: Block_4x64, key_0: vec4<u32>) -> Block_4x64 {
  let key_1 = next_key_4x64(key_0);
  let key_2 = next_key_4x64(key_1);
  let key_3 = next_key_4x64(key_2);
  let key_4 = next_key_4x64(key_3);
  let key_5 = next_key_4x64(key_4);
  let key_6 = next_key_4x64(key_5);
  let key_7 = next_key_4x64(key_6);
  let key_8 = next_key_4x64(key_7);
  let second = round_4x64(round_4x64(counter, key_0), key_1);
  let fourth = round_4x64(round_4x64(second, key_2), key_3);
  let sixth = round_4x64(round_4x64(fourth, key_4), key_5);
  let eighth = round_4x64(round_4x64(sixth, key_6), key_7);
  return round_4x64(round_4x64(eighth, key_8), next_key_4x64(key_8));
}
fn sum_with_carry(x: vec4<u32>, number: u32) -> vec4<u32> {
  let a = x.x + number;
  let b = x.y + u32(a < number);
  let c = x.z + u32(b < x.y);
  return vec4<u32>(a, b, c, x.w + u32(c < x.z));
}
// The block whose counter is a place's plus a number.
fn stream_block(number: u32, key: vec4<u32>, counter: Block_4x64) -> Block_4x64 {
  let low = sum_with_carry(counter.low, number);
  let carry = low.w < counter.low.w;
  return philox_4x64(Block_4x64(low, sum_with_carry(counter.high, u32(carry))), key);
}
// Both take a place: key, counter, where element 0 begins, and whether it is a spare half, and which.
fn stream_word(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> vec2<u32> {
  let word = start + i;
  let block = stream_block(word >> 2u, key, counter);
  let half = select(block.low, block.high, (word & 2u) == 2u);
  return select(half.xy, half.zw, (word & 1u) == 1u);
}
fn stream_half(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> u32 {
  if (i < has_spare) { return spare; }
  let number = start + i;
  let block = stream_block(number >> 3u, key, counter);
  let half = select(block.low, block.high, (number & 4u) == 4u);
  let pair = select(half.xy, half.zw, (number & 2u) == 2u);
  return select(pair.x, pair.y, (number & 1u) == 1u);
}
// Four halves from a multiple of four on. They are of two blocks or of one, which is the same for all of a call.
fn stream_vec4_halves(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> vec4<u32> {
  let number = start + i;
  let block = stream_block(number >> 3u, key, counter);
  var here = block.low;
  var after = block.high;
  if ((number & 7u) > 4u) {
    here = block.high;
    after = stream_block((number + 4u) >> 3u, key, counter).low;
  } else if ((number & 7u) == 4u) {
    here = block.high;
  }
  let moved = select(here, vec4<u32>(here.zw, after.xy), (number & 2u) == 2u);
  let next = select(after.x, after.z, (number & 2u) == 2u);
  var halves = select(moved, vec4<u32>(moved.yzw, next), (number & 1u) == 1u);
  if (i < has_spare) { halves.x = spare; }
  return halves;
}
// Eight halves, as those: a block, or the end of one and the beginning of the next.
fn stream_vec8_halves(
  i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32
) -> Block_4x64 {
  let number = start + i;
  let block = stream_block(number >> 3u, key, counter);
  var low = block.low;
  var high = block.high;
  if ((number & 7u) != 0u) {
    let next = stream_block((number + 7u) >> 3u, key, counter);
    var rest = next.low;
    if ((number & 4u) == 4u) {
      low = high;
      high = rest;
      rest = next.high;
    }
    if ((number & 2u) == 2u) {
      low = vec4<u32>(low.zw, high.xy);
      high = vec4<u32>(high.zw, rest.xy);
      rest = rest.zwzw;
    }
    if ((number & 1u) == 1u) {
      low = vec4<u32>(low.yzw, high.x);
      high = vec4<u32>(high.yzw, rest.x);
    }
  }
  if (i < has_spare) { low.x = spare; }
  return Block_4x64(low, high);
}
// Four words, as four halves.
fn stream_vec4_words(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32) -> Block_4x64 {
  let number = start + i;
  let block = stream_block(number >> 2u, key, counter);
  if ((number & 3u) == 0u) { return block; }
  let next = stream_block((number + 3u) >> 2u, key, counter);
  let is_far = (number & 2u) == 2u;
  let here = select(block.low, block.high, is_far);
  let after = select(block.high, next.low, is_far);
  let last = select(next.low.xy, next.high.xy, is_far);
  if ((number & 1u) == 0u) { return Block_4x64(here, after); }
  return Block_4x64(vec4<u32>(here.zw, after.xy), vec4<u32>(after.zw, last));
}
fn u64_from_pair(x: vec2<u32>) -> u64 { return u64(x.x) | (u64(x.y) << 32u); }
fn stream_vec4_u64(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> vec4<u64> {
  let words = stream_vec4_words(i, key, counter, start);
  return vec4<u64>(
    u64_from_pair(words.low.xy), u64_from_pair(words.low.zw), u64_from_pair(words.high.xy), u64_from_pair(words.high.zw)
  );
}

fn uniform_of_half(half: u32) -> f32 { return f32(half >> 8u) * 5.9604644775390625e-08f; }
fn vec4_of_halves(halves: vec4<u32>) -> vec4<f32> {
  return vec4<f32>(
    uniform_of_half(halves.x), uniform_of_half(halves.y), uniform_of_half(halves.z), uniform_of_half(halves.w)
  );
}
fn uniform_of_word(word: vec2<u32>) -> f64 {
  return (f64(word.y) * 2097152.0lf + f64(word.x >> 11u)) * 1.1102230246251565e-16lf;
}
fn random_uniform_f32(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> f32 {
  return uniform_of_half(stream_half(i, key, counter, start, has_spare, spare));
}
fn random_uniform_f64(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> f64 {
  return uniform_of_word(stream_word(i, key, counter, start, has_spare, spare));
}
fn vec4_uniform_f32(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> vec4<f32> {
  return vec4_of_halves(stream_vec4_halves(i, key, counter, start, has_spare, spare));
}
struct Eight_f32 { low: vec4<f32>, high: vec4<f32> }
fn vec8_uniform_f32(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> Eight_f32 {
  let halves = stream_vec8_halves(i, key, counter, start, has_spare, spare);
  return Eight_f32(vec4_of_halves(halves.low), vec4_of_halves(halves.high));
}
fn vec4_uniform_f64(i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32) -> vec4<f64> {
  let words = stream_vec4_words(i, key, counter, start);
  return vec4<f64>(
    uniform_of_word(words.low.xy), uniform_of_word(words.low.zw),
    uniform_of_word(words.high.xy), uniform_of_word(words.high.zw)
  );
}

// Lemire's method: the upper half of a product with the limit, of a number as wide as each; its lower half tells what is to
// be drawn again, from the same bits of the streams of other keys.
const redraws = 64u;
fn key_of_attempt(key: vec4<u32>, attempt: u32) -> vec4<u32> {
  return vec4<u32>(key.x ^ attempt, key.y, ~key.z, ~key.w);
}
fn random_below_u32(
  i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32, share: u32, limit: u32,
  threshold: u32
) -> u32 {
  let width = 32u >> share;
  let lower = 0xffffffffu >> (32u - width);
  let shift = (i & ((1u << share) - 1u)) * width;
  var half = stream_half(i >> share, key, counter, start, has_spare, spare);
  for (var attempt = 1u; attempt < redraws; attempt += 1u) {
    let part = (half >> shift) & lower;
    if (limit == 0u) { return part; }
    let left = (part * limit) & lower;
    if (left >= threshold) { break; }
    half = stream_half(i >> share, key_of_attempt(key, attempt), counter, start + has_spare, 0u, 0u);
  }
  let product = wide_product((half >> shift) & lower, limit);
  return select(product.y, product.x >> (width & 31u), width < 32u);
}
// The bits of four of them from a multiple of four on: all of one half, or, where each has sixteen, of two.
fn vec4_parts(halves: vec2<u32>, i: u32, share: u32) -> vec4<u32> {
  if (share == 1u) { return vec4<u32>(halves.x & 0xffffu, halves.x >> 16u, halves.y & 0xffffu, halves.y >> 16u); }
  let width = 32u >> share;
  let first = (i & ((1u << share) - 1u)) * width;
  return (vec4<u32>(halves.x) >> (vec4<u32>(0u, 1u, 2u, 3u) * width + first)) & vec4<u32>(0xffffffffu >> (32u - width));
}
fn vec4_upper(parts: vec4<u32>, share: u32, limit: u32) -> vec4<u32> {
  if (limit == 0u) { return parts; }
  if (share != 0u) { return (parts * limit) >> vec4<u32>(32u >> share); }
  return vec4<u32>(
    wide_product(parts.x, limit).y, wide_product(parts.y, limit).y, wide_product(parts.z, limit).y,
    wide_product(parts.w, limit).y
  );
}
fn rejects(parts: vec4<u32>, share: u32, limit: u32, threshold: u32) -> bool {
  return any(((parts * limit) & vec4<u32>(0xffffffffu >> (32u - (32u >> share)))) < vec4<u32>(threshold));
}
// Four of them, and eight, from a multiple of four on. Rejections are rare: all are then made one by one.
fn vec4_below_u32(
  i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32, share: u32, limit: u32,
  threshold: u32
) -> vec4<u32> {
  var parts = stream_vec4_halves(i >> share, key, counter, start, has_spare, spare);
  if (share != 0u) { parts = vec4_parts(parts.xy, i, share); }
  var found = vec4_upper(parts, share, limit);
  if (rejects(parts, share, limit, threshold)) {
    for (var lane = 0u; lane < 4u; lane += 1u) {
      let own = random_below_u32(i + lane, key, counter, start, has_spare, spare, share, limit, threshold);
      found = select(found, vec4<u32>(own), vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(lane));
    }
  }
  return found;
}
fn vec8_below_u32(
  i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32, share: u32, limit: u32,
  threshold: u32
) -> Block_4x64 {
  var parts: Block_4x64;
  if (share == 0u) {
    parts = stream_vec8_halves(i, key, counter, start, has_spare, spare);
  } else {
    let halves = stream_vec4_halves(i >> share, key, counter, start, has_spare, spare);
    let next = select(halves.xy, halves.yz, ((i + 4u) >> share) != (i >> share));
    parts = Block_4x64(
      vec4_parts(halves.xy, i, share), vec4_parts(select(next, halves.zw, share == 1u), i + 4u, share)
    );
  }
  var low = vec4_upper(parts.low, share, limit);
  var high = vec4_upper(parts.high, share, limit);
  if (rejects(parts.low, share, limit, threshold) || rejects(parts.high, share, limit, threshold)) {
    for (var lane = 0u; lane < 8u; lane += 1u) {
      let own = random_below_u32(i + lane, key, counter, start, has_spare, spare, share, limit, threshold);
      low = select(low, vec4<u32>(own), vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(lane));
      high = select(high, vec4<u32>(own), vec4<u32>(4u, 5u, 6u, 7u) == vec4<u32>(lane));
    }
  }
  return Block_4x64(low, high);
}
fn random_below_pair(
  i: u32, key: vec4<u32>, counter: Block_4x64, start: u32, has_spare: u32, spare: u32, limit: vec2<u32>,
  threshold: vec2<u32>
) -> vec2<u32> {
  var word = stream_word(i, key, counter, start, 0u, 0u);
  if ((limit.x | limit.y) == 0u) { return word; }
  var product = product_pair(word, limit);
  for (var attempt = 1u; attempt < redraws; attempt += 1u) {
    if (!less_u64p(product.xy, threshold)) { break; }
    word = stream_word(i, key_of_attempt(key, attempt), counter, start, 0u, 0u);
    product = product_pair(word, limit);
  }
  return product.zw;
}

// -- substreams: Philox4x32-10, four words of a 128-bit counter under a 64-bit key ------------------------------------------

fn round_4x32(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  let first = wide_product(0xd2511f53u, counter.x);
  let second = wide_product(0xcd9e8d57u, counter.z);
  return vec4<u32>(second.y ^ counter.y ^ key.x, second.x, first.y ^ counter.w ^ key.y, first.x);
}
// Ten rounds, without a loop: they are short, and the keys of most of them the same for a whole kernel.
fn philox_4x32(counter: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
  let next = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  let second = round_4x32(round_4x32(counter, key), key + next);
  let fourth = round_4x32(round_4x32(second, key + 2u * next), key + 3u * next);
  let sixth = round_4x32(round_4x32(fourth, key + 4u * next), key + 5u * next);
  let eighth = round_4x32(round_4x32(sixth, key + 6u * next), key + 7u * next);
  return round_4x32(round_4x32(eighth, key + 8u * next), key + 9u * next);
}
// The block of a number and an attempt.
fn substream_block(number: u32, attempt: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> vec4<u32> {
  return philox_4x32(vec4<u32>(number, attempt, nonce_0, nonce_1), vec2<u32>(key_0, key_1));
}
// The top 53 bits of two words, the low one first, as an integral number.
fn fraction_f64(words: vec2<u32>) -> f64 { return f64(words.y >> 5u) * 67108864.0lf + f64(words.x >> 6u); }
// In (0, 1].
fn share_f32(word: u32) -> f32 { return f32_from_u32(word) * 2.3283064365386963e-10f + 1.1641532182693481e-10f; }
fn share_f64(words: vec2<u32>) -> f64 { return (fraction_f64(words) + 1.0lf) * 1.1102230246251565e-16lf; }
// Two numbers in (0, 1].
fn shares_f32(number: u32, attempt: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> vec2<f32> {
  let words = substream_block(number, attempt, key_0, key_1, nonce_0, nonce_1);
  return vec2<f32>(share_f32(words.x), share_f32(words.y));
}
fn shares_f64(number: u32, attempt: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> vec2<f64> {
  let words = substream_block(number, attempt, key_0, key_1, nonce_0, nonce_1);
  return vec2<f64>(share_f64(words.xy), share_f64(words.zw));
}

// Box and Muller: two numbers are the cosine and the sine of one angle, times one radius. The angle is in half turns,
// exact, and a quarter turn more makes the cosine of the sine.
fn sine_of_turns(turns: f32, ahead: f32) -> f32 {
  let shifted = (turns + ahead) + opaque_f32(rounder_f32);
  let rest = add_f32(subtract_f32(turns, shifted - rounder_f32), ahead);
  return half_turn_sin_f32(rest * (2.0f * half_pi_f32), bitcast<u32>(shifted));
}
fn polar_f32(words: vec2<u32>) -> vec2<f32> {
  let square = -2.0f * fast_path_log_f32(share_f32(words.x));
  // of the share 1 it is 0, whose root has no fast path
  let radius = select(fast_path_sqrt_f32(max(square, 1e-20f)), 0.0f, square <= 0.0f);
  let turns = f32(words.y >> 8u) * 1.1920928955078125e-07f;
  return vec2<f32>(multiply_f32(radius, sine_of_turns(turns, 0.5f)), multiply_f32(radius, sine_of_turns(turns, 0.0f)));
}
// The angle is in quarter turns, exact until it is in radians, so that numbers near zero are right to their last place too.
fn polar_f64(words: vec4<u32>) -> vec2<f64> {
  let radius = sqrt_f64(-2.0lf * log_f64(share_f64(words.xy)));
  let quarters = fraction_f64(words.zw) * 4.440892098500626e-16lf;
  let quadrant = u32(quarters + 0.5lf);
  let angle = (quarters - f64(quadrant)) * half_pi_f64;
  let sine = sin_reduced_f64(angle, 0.0lf);
  let cosine = cos_reduced_f64(angle, 0.0lf);
  let is_odd = (quadrant & 1u) == 1u;
  let x = select(cosine, sine, is_odd);
  let y = select(sine, cosine, is_odd);
  return vec2<f64>(
    multiply_f64(radius, select(x, -x, ((quadrant + 1u) & 2u) == 2u)),
    multiply_f64(radius, select(y, -y, (quadrant & 2u) == 2u))
  );
}
fn random_normal_f32(i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> f32 {
  let words = substream_block(i >> 2u, 0u, key_0, key_1, nonce_0, nonce_1);
  let pair = polar_f32(select(words.xy, words.zw, (i & 2u) == 2u));
  return select(pair.x, pair.y, (i & 1u) == 1u);
}
fn random_normal_f64(i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> f64 {
  let pair = polar_f64(substream_block(i >> 1u, 0u, key_0, key_1, nonce_0, nonce_1));
  return select(pair.x, pair.y, (i & 1u) == 1u);
}
fn vec4_normal_f32(i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> vec4<f32> {
  let words = substream_block(i >> 2u, 0u, key_0, key_1, nonce_0, nonce_1);
  return vec4<f32>(polar_f32(words.xy), polar_f32(words.zw));
}
fn vec4_normal_f64(i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> vec4<f64> {
  let first = polar_f64(substream_block(i >> 1u, 0u, key_0, key_1, nonce_0, nonce_1));
  return vec4<f64>(first, polar_f64(substream_block((i >> 1u) + 1u, 0u, key_0, key_1, nonce_0, nonce_1)));
}
fn pair_from_u64(x: u64) -> vec2<u32> { return vec2<u32>(u32(x & 0xfffffffflu), u32(x >> 32u)); }
// The upper pair of a limit times a fraction of 128 bits; a limit of 0 is two to the 64.
fn sample_below(
  limit: vec2<u32>, number: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32
) -> vec2<u32> {
  let words = substream_block(number, 0u, key_0, key_1, nonce_0, nonce_1);
  if ((limit.x | limit.y) == 0u) { return words.zw; }
  let product = product_pair(words.zw, limit);
  let carry = less_u64p(add_pair(product.xy, product_pair(words.xy, limit).zw), product.xy);
  return add_pair(product.zw, vec2<u32>(u32(carry), 0u));
}
