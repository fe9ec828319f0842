// workgroups 49x1x1
// scan_sum_float32 blocks
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
var<workgroup> shared_scan: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  let length = parameters.words[0].w;
  let step = parameters.words[0].z;
  let row = block / parameters.words[0].y;
  let first = (block - row * parameters.words[0].y) * 2048u + local * 8u;
  let base = (row / step) * length * step + row % step;
  var total: f32 = 0.0f;
  var e0: f32 = 0.0f;
  if (first + 0u < length) { e0 = input0[base + (first + 0u) * step]; }
  total = add_f32(total, e0);
  var e1: f32 = 0.0f;
  if (first + 1u < length) { e1 = input0[base + (first + 1u) * step]; }
  total = add_f32(total, e1);
  var e2: f32 = 0.0f;
  if (first + 2u < length) { e2 = input0[base + (first + 2u) * step]; }
  total = add_f32(total, e2);
  var e3: f32 = 0.0f;
  if (first + 3u < length) { e3 = input0[base + (first + 3u) * step]; }
  total = add_f32(total, e3);
  var e4: f32 = 0.0f;
  if (first + 4u < length) { e4 = input0[base + (first + 4u) * step]; }
  total = add_f32(total, e4);
  var e5: f32 = 0.0f;
  if (first + 5u < length) { e5 = input0[base + (first + 5u) * step]; }
  total = add_f32(total, e5);
  var e6: f32 = 0.0f;
  if (first + 6u < length) { e6 = input0[base + (first + 6u) * step]; }
  total = add_f32(total, e6);
  var e7: f32 = 0.0f;
  if (first + 7u < length) { e7 = input0[base + (first + 7u) * step]; }
  total = add_f32(total, e7);
  shared_scan[local] = total;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var left: f32 = 0.0f;
  if (local >= reach) { left = shared_scan[local - reach]; }
  let both = add_f32(left, shared_scan[local]);
  workgroupBarrier();
  if (local >= reach) { shared_scan[local] = both; }
  workgroupBarrier();
  }
  let inclusive = shared_scan[local];
  var exclusive: f32 = 0.0f;
  if (local > 0u) { exclusive = shared_scan[local - 1u]; }
  if (local == 255u) { scratch0[block] = inclusive; }
}

// workgroups 1x1x1
// scan_sum_float32 carries
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
var<workgroup> shared_scan: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row = group.x + group.y * groups.x;
  if (row >= parameters.words[0].z) { return; }
  var carry: f32 = 0.0f;
  for (var start = 0u; start < parameters.words[0].y; start += 256u) {
  let place = row * parameters.words[0].y + start + local;
  let inside = start + local < parameters.words[0].y;
  var total: f32 = 0.0f;
  if (inside) { total = scratch0[place]; }
  shared_scan[local] = total;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var left: f32 = 0.0f;
  if (local >= reach) { left = shared_scan[local - reach]; }
  let both = add_f32(left, shared_scan[local]);
  workgroupBarrier();
  if (local >= reach) { shared_scan[local] = both; }
  workgroupBarrier();
  }
  let inclusive = shared_scan[local];
  var exclusive: f32 = 0.0f;
  if (local > 0u) { exclusive = shared_scan[local - 1u]; }
  if (inside) { scratch0[place] = add_f32(carry, exclusive); }
  carry = add_f32(carry, shared_scan[255]);
  workgroupBarrier();
  }
}

// workgroups 49x1x1
// scan_sum_float32 inside
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
@group(0) @binding(3) var<storage, read> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
fn finish(i: u32, result: f32) {
  let one1: f32 = bitcast<f32>(parameters.words[0].y);
  let v0_0: f32 = result;
  let v2_0: f32 = multiply_f32(v0_0, one1);
  output0[i] = v2_0;
}
var<workgroup> shared_scan: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].y) { return; }
  let length = parameters.words[1].x;
  let step = parameters.words[0].w;
  let row = block / parameters.words[0].z;
  let first = (block - row * parameters.words[0].z) * 2048u + local * 8u;
  let base = (row / step) * length * step + row % step;
  var total: f32 = 0.0f;
  var e0: f32 = 0.0f;
  if (first + 0u < length) { e0 = input0[base + (first + 0u) * step]; }
  total = add_f32(total, e0);
  var e1: f32 = 0.0f;
  if (first + 1u < length) { e1 = input0[base + (first + 1u) * step]; }
  total = add_f32(total, e1);
  var e2: f32 = 0.0f;
  if (first + 2u < length) { e2 = input0[base + (first + 2u) * step]; }
  total = add_f32(total, e2);
  var e3: f32 = 0.0f;
  if (first + 3u < length) { e3 = input0[base + (first + 3u) * step]; }
  total = add_f32(total, e3);
  var e4: f32 = 0.0f;
  if (first + 4u < length) { e4 = input0[base + (first + 4u) * step]; }
  total = add_f32(total, e4);
  var e5: f32 = 0.0f;
  if (first + 5u < length) { e5 = input0[base + (first + 5u) * step]; }
  total = add_f32(total, e5);
  var e6: f32 = 0.0f;
  if (first + 6u < length) { e6 = input0[base + (first + 6u) * step]; }
  total = add_f32(total, e6);
  var e7: f32 = 0.0f;
  if (first + 7u < length) { e7 = input0[base + (first + 7u) * step]; }
  total = add_f32(total, e7);
  shared_scan[local] = total;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var left: f32 = 0.0f;
  if (local >= reach) { left = shared_scan[local - reach]; }
  let both = add_f32(left, shared_scan[local]);
  workgroupBarrier();
  if (local >= reach) { shared_scan[local] = both; }
  workgroupBarrier();
  }
  let inclusive = shared_scan[local];
  var exclusive: f32 = 0.0f;
  if (local > 0u) { exclusive = shared_scan[local - 1u]; }
  var running: f32 = add_f32(scratch0[block], exclusive);
  running = add_f32(running, e0);
  if (first + 0u < length) { finish(base + (first + 0u) * step, running); }
  running = add_f32(running, e1);
  if (first + 1u < length) { finish(base + (first + 1u) * step, running); }
  running = add_f32(running, e2);
  if (first + 2u < length) { finish(base + (first + 2u) * step, running); }
  running = add_f32(running, e3);
  if (first + 3u < length) { finish(base + (first + 3u) * step, running); }
  running = add_f32(running, e4);
  if (first + 4u < length) { finish(base + (first + 4u) * step, running); }
  running = add_f32(running, e5);
  if (first + 5u < length) { finish(base + (first + 5u) * step, running); }
  running = add_f32(running, e6);
  if (first + 6u < length) { finish(base + (first + 6u) * step, running); }
  running = add_f32(running, e7);
  if (first + 7u < length) { finish(base + (first + 7u) * step, running); }
}
