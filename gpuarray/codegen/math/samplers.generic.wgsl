// Samplers: one number of a distribution for each element's number, drawn from its own blocks of a substream, one or two an
// attempt, until one is accepted. The references, which name the methods, are in ops/samplers.py.

const attempts_FLOAT = 64u;
// The attempt whose block decides what is no part of the search.
const apart_FLOAT = 0xffffffffu;

fn normal_share_FLOAT(
  i: u32, attempt: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32
) -> vec2<FLOAT> {
  let first = shares_FLOAT(i, 2u * attempt, key_0, key_1, nonce_0, nonce_1);
  let second = shares_FLOAT(i, 2u * attempt + 1u, key_0, key_1, nonce_0, nonce_1);
  let radius = sqrt_FLOAT(FLOAT(-2.0) * log_FLOAT(first.x));
  return vec2<FLOAT>(radius * cos_FLOAT(FLOAT(6.283185307179586476925) * first.y), second.x);
}

// Gamma of a shape of at least 1.
fn gamma_from_one_FLOAT(a: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  let d = a - FLOAT(0.33333333333333333333);
  let c = FLOAT(1.0) / sqrt_FLOAT(FLOAT(9.0) * d);
  var v = FLOAT(1.0);
  for (var attempt = 0u; attempt < attempts_FLOAT; attempt += 1u) {
    let drawn = normal_share_FLOAT(i, attempt, key_0, key_1, nonce_0, nonce_1);
    let x = drawn.x;
    let root = FLOAT(1.0) + c * x;
    v = root * root * root;
    if (v > FLOAT(0.0) && log_FLOAT(drawn.y) < FLOAT(0.5) * x * x + d * (FLOAT(1.0) - v + log_FLOAT(v))) { break; }
  }
  return d * v;
}
fn sample_gamma_FLOAT(a: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  if (isnan_FLOAT(a) || a < FLOAT(0.0)) { return nan_FLOAT(); }
  if (a == FLOAT(0.0) || !isfinite_FLOAT(a)) { return a; }
  if (a >= FLOAT(1.0)) { return gamma_from_one_FLOAT(a, i, key_0, key_1, nonce_0, nonce_1); }
  let share = shares_FLOAT(i, apart_FLOAT, key_0, key_1, nonce_0, nonce_1).x;
  return gamma_from_one_FLOAT(a + FLOAT(1.0), i, key_0, key_1, nonce_0, nonce_1) * exp_FLOAT(log_FLOAT(share) / a);
}
fn sample_log_gamma_FLOAT(a: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  if (isnan_FLOAT(a) || a < FLOAT(0.0)) { return nan_FLOAT(); }
  if (a == FLOAT(0.0) || !isfinite_FLOAT(a)) { return log_FLOAT(a); }
  if (a >= FLOAT(1.0)) { return log_FLOAT(gamma_from_one_FLOAT(a, i, key_0, key_1, nonce_0, nonce_1)); }
  let share = shares_FLOAT(i, apart_FLOAT, key_0, key_1, nonce_0, nonce_1).x;
  return log_FLOAT(gamma_from_one_FLOAT(a + FLOAT(1.0), i, key_0, key_1, nonce_0, nonce_1)) + log_FLOAT(share) / a;
}

// log(k!) - k log k + k for whole k.
fn stirling_rest_FLOAT(k: FLOAT) -> FLOAT {
  if (k < FLOAT(0.5)) { return FLOAT(0.0); }
  if (k < FLOAT(9.5)) {
    var factorial = FLOAT(1.0);
    for (var j = FLOAT(2.0); j <= k; j += FLOAT(1.0)) { factorial *= j; }
    return log_FLOAT(factorial) - k * log_FLOAT(k) + k;
  }
  let z = FLOAT(1.0) / (k * k);
  let series = FLOAT(0.08333333333333333333) - z * (FLOAT(0.00277777777777777778) - z * (FLOAT(0.00079365079365079365)
    - z * FLOAT(0.00059523809523809524)));
  return FLOAT(0.5) * log_FLOAT(FLOAT(6.283185307179586476925) * k) + series / k;
}
// x log(x / m) + m - x, which is small where x and m are close.
fn deviance_FLOAT(x: FLOAT, m: FLOAT) -> FLOAT {
  if (x < FLOAT(0.5)) { return m; }
  let difference = x - m;
  if (abs_FLOAT(difference) < FLOAT(0.1) * (x + m)) {
    let v = difference / (x + m);
    let z = v * v;
    let series = FLOAT(0.33333333333333333333) + z * (FLOAT(0.2) + z * (FLOAT(0.14285714285714285714)
      + z * (FLOAT(0.11111111111111111111) + z * (FLOAT(0.09090909090909090909) + z * (FLOAT(0.07692307692307692308)
      + z * FLOAT(0.06666666666666666667))))));
    return difference * v + FLOAT(2.0) * x * v * z * series;
  }
  return x * log_FLOAT(x / m) + m - x;
}
fn log_binomial_FLOAT(k: FLOAT, n: FLOAT, p: FLOAT, q: FLOAT) -> FLOAT {
  return stirling_rest_FLOAT(n) - stirling_rest_FLOAT(k) - stirling_rest_FLOAT(n - k)
    - deviance_FLOAT(k, n * p) - deviance_FLOAT(n - k, n * q);
}
// But for what does not depend on k, the logarithm of the chance of k: by kind Poisson (0), binomial (1), hypergeometric.
fn log_chance_FLOAT(kind: u32, k: FLOAT, a: FLOAT, b: FLOAT, c: FLOAT) -> FLOAT {
  if (kind == 0u) { return -stirling_rest_FLOAT(k) - deviance_FLOAT(k, a); }
  if (kind == 1u) { return log_binomial_FLOAT(k, a, b, FLOAT(1.0) - b); }
  let p = c / (a + b);
  return log_binomial_FLOAT(k, a, p, FLOAT(1.0) - p) + log_binomial_FLOAT(c - k, b, p, FLOAT(1.0) - p);
}
// By the ratio of two uniform numbers, from a table's centre: numbers from least to most.
fn by_ratio_FLOAT(
  kind: u32, a: FLOAT, b: FLOAT, c: FLOAT, mean: FLOAT, variance: FLOAT, mode: FLOAT, least: FLOAT, most: FLOAT, i: u32,
  key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32
) -> FLOAT {
  let width = FLOAT(1.7155277699214135) * sqrt_FLOAT(variance + FLOAT(0.5)) + FLOAT(0.8989161620588988);
  let highest = log_chance_FLOAT(kind, mode, a, b, c);
  var k = mode;
  for (var attempt = 0u; attempt < attempts_FLOAT; attempt += 1u) {
    let drawn = shares_FLOAT(i, attempt, key_0, key_1, nonce_0, nonce_1);
    k = floor_FLOAT(mean + FLOAT(0.5) + width * (drawn.y - FLOAT(0.5)) / drawn.x);
    if (k < least || k > most) { continue; }
    if (FLOAT(2.0) * log_FLOAT(drawn.x) <= log_chance_FLOAT(kind, k, a, b, c) - highest) { break; }
  }
  return min(max(k, least), most);
}
// By walking up from 0: the chance of 0, and of each number after it this ratio of the one before.
fn by_walk_FLOAT(binomial: bool, start: FLOAT, a: FLOAT, odds: FLOAT, mean: FLOAT, share: FLOAT) -> FLOAT {
  var left = share;
  var chance = start;
  var k = FLOAT(0.0);
  while (left > chance && (k < mean || chance > smallest_chance_FLOAT) && k < FLOAT(1000.0)) {
    left -= chance;
    k += FLOAT(1.0);
    chance *= select(a / k, (a - k + FLOAT(1.0)) / k * odds, binomial);
  }
  return k;
}
fn sample_poisson_FLOAT(mean: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  if (!isfinite_FLOAT(mean) || mean < FLOAT(0.0)) { return nan_FLOAT(); }
  if (mean < FLOAT(10.0)) {
    let share = shares_FLOAT(i, 0u, key_0, key_1, nonce_0, nonce_1).x;
    return by_walk_FLOAT(false, exp_FLOAT(-mean), mean, FLOAT(1.0), mean, share);
  }
  return by_ratio_FLOAT(
    0u, mean, FLOAT(0.0), FLOAT(0.0), mean, mean, floor_FLOAT(mean), FLOAT(0.0), FLOAT(9.2233714e18), i, key_0, key_1,
    nonce_0, nonce_1
  );
}
fn sample_binomial_FLOAT(n: FLOAT, p: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  if (!isfinite_FLOAT(n) || isnan_FLOAT(p) || n < FLOAT(0.0) || p < FLOAT(0.0) || p > FLOAT(1.0)) { return nan_FLOAT(); }
  let is_swapped = p > FLOAT(0.5);
  let less = select(p, FLOAT(1.0) - p, is_swapped);
  let mean = n * less;
  var k = FLOAT(0.0);
  if (mean < FLOAT(10.0)) {
    let share = shares_FLOAT(i, 0u, key_0, key_1, nonce_0, nonce_1).x;
    k = by_walk_FLOAT(true, exp_FLOAT(n * log1p_FLOAT(-less)), n, less / (FLOAT(1.0) - less), mean, share);
  } else {
    k = by_ratio_FLOAT(
      1u, n, less, FLOAT(0.0), mean, mean * (FLOAT(1.0) - less), floor_FLOAT((n + FLOAT(1.0)) * less), FLOAT(0.0), n, i,
      key_0, key_1, nonce_0, nonce_1
    );
  }
  return select(k, n - k, is_swapped);
}
// Of the smaller colour, and of a sample or of what it leaves, whichever is smaller; then turned back.
fn sample_hypergeometric_FLOAT(
  good: FLOAT, bad: FLOAT, sample: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32
) -> FLOAT {
  let all = good + bad;
  if (!isfinite_FLOAT(all + sample) || good < FLOAT(0.0) || bad < FLOAT(0.0) || sample < FLOAT(0.0) || sample > all) {
    return nan_FLOAT();
  }
  let less = min(good, bad);
  let more = max(good, bad);
  let taken = min(sample, all - sample);
  var k = FLOAT(0.0);
  if (taken < FLOAT(10.0)) {
    var left = all;
    for (var draw = 0u; draw < u32(taken); draw += 1u) {
      let share = shares_FLOAT(i, draw, key_0, key_1, nonce_0, nonce_1).x;
      k += select(FLOAT(0.0), FLOAT(1.0), share * left <= less - k);
      left -= FLOAT(1.0);
    }
  } else {
    let p = less / all;
    let mean = taken * p;
    let variance = mean * (FLOAT(1.0) - p) * (all - taken) / (all - FLOAT(1.0));
    let mode = floor_FLOAT((taken + FLOAT(1.0)) * ((less + FLOAT(1.0)) / (all + FLOAT(2.0))));
    k = by_ratio_FLOAT(
      2u, less, more, taken, mean, variance, mode, FLOAT(0.0), min(taken, less), i, key_0, key_1, nonce_0, nonce_1
    );
  }
  k = select(k, taken - k, good > bad);
  return select(k, good - k, sample > taken);
}

fn sample_vonmises_FLOAT(kappa: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  if (isnan_FLOAT(kappa) || kappa < FLOAT(0.0)) { return nan_FLOAT(); }
  let apart = normal_share_FLOAT(i, 0x7fffffffu, key_0, key_1, nonce_0, nonce_1);
  if (kappa > most_kappa_FLOAT) { return apart.x / sqrt_FLOAT(kappa); }
  if (kappa < FLOAT(1e-8)) { return FLOAT(3.14159265358979323846) * (FLOAT(2.0) * apart.y - FLOAT(1.0)); }
  var s = FLOAT(1.0) / kappa + kappa;
  if (kappa >= least_kappa_FLOAT) {
    let r = FLOAT(1.0) + sqrt_FLOAT(FLOAT(1.0) + FLOAT(4.0) * kappa * kappa);
    let rho = (r - sqrt_FLOAT(FLOAT(2.0) * r)) / (FLOAT(2.0) * kappa);
    s = (FLOAT(1.0) + rho * rho) / (FLOAT(2.0) * rho);
  }
  var w = FLOAT(0.0);
  for (var attempt = 0u; attempt < attempts_FLOAT; attempt += 1u) {
    let drawn = shares_FLOAT(i, attempt, key_0, key_1, nonce_0, nonce_1);
    let z = cos_FLOAT(FLOAT(3.14159265358979323846) * drawn.x);
    w = (FLOAT(1.0) + s * z) / (s + z);
    let y = kappa * (s - w);
    if (y * (FLOAT(2.0) - y) >= drawn.y || log_FLOAT(y / drawn.y) + FLOAT(1.0) - y >= FLOAT(0.0)) { break; }
  }
  let angle = acos_FLOAT(min(max(w, FLOAT(-1.0)), FLOAT(1.0)));
  return select(angle, -angle, apart.y < FLOAT(0.5));
}
fn sample_zipf_FLOAT(a: FLOAT, i: u32, key_0: u32, key_1: u32, nonce_0: u32, nonce_1: u32) -> FLOAT {
  if (isnan_FLOAT(a) || a <= FLOAT(1.0)) { return nan_FLOAT(); }
  if (a >= most_zipf_FLOAT) { return FLOAT(1.0); }
  let less = a - FLOAT(1.0);
  let b = exp2_FLOAT(less);
  // the share of numbers that are no 64-bit integers
  let least = exp_FLOAT(FLOAT(-43.66827) * less);
  var x = FLOAT(1.0);
  for (var attempt = 0u; attempt < attempts_FLOAT; attempt += 1u) {
    let drawn = shares_FLOAT(i, attempt, key_0, key_1, nonce_0, nonce_1);
    let share = least + drawn.x * (FLOAT(1.0) - least);
    x = max(floor_FLOAT(exp_FLOAT(-log_FLOAT(share) / less)), FLOAT(1.0));
    let excess = expm1_FLOAT(less * log1p_FLOAT(FLOAT(1.0) / x));
    if (drawn.y * x * excess / (b - FLOAT(1.0)) <= (FLOAT(1.0) + excess) / b) { break; }
  }
  return x;
}
