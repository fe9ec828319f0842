// workgroups 49x1x1
// scan_sum_int32 blocks
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<i32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared_scan: array<i32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  let length = parameters.words[0].w;
  let step = parameters.words[0].z;
  let row = block / parameters.words[0].y;
  let first = (block - row * parameters.words[0].y) * 2048u + local * 8u;
  let base = (row / step) * length * step + row % step;
  var total: i32 = 0i;
  var e0: i32 = 0i;
  if (first + 0u < length) { e0 = i32((((input0[(base + (first + 0u) * step) >> 2u] >> (((base + (first + 0u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e0);
  var e1: i32 = 0i;
  if (first + 1u < length) { e1 = i32((((input0[(base + (first + 1u) * step) >> 2u] >> (((base + (first + 1u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e1);
  var e2: i32 = 0i;
  if (first + 2u < length) { e2 = i32((((input0[(base + (first + 2u) * step) >> 2u] >> (((base + (first + 2u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e2);
  var e3: i32 = 0i;
  if (first + 3u < length) { e3 = i32((((input0[(base + (first + 3u) * step) >> 2u] >> (((base + (first + 3u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e3);
  var e4: i32 = 0i;
  if (first + 4u < length) { e4 = i32((((input0[(base + (first + 4u) * step) >> 2u] >> (((base + (first + 4u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e4);
  var e5: i32 = 0i;
  if (first + 5u < length) { e5 = i32((((input0[(base + (first + 5u) * step) >> 2u] >> (((base + (first + 5u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e5);
  var e6: i32 = 0i;
  if (first + 6u < length) { e6 = i32((((input0[(base + (first + 6u) * step) >> 2u] >> (((base + (first + 6u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e6);
  var e7: i32 = 0i;
  if (first + 7u < length) { e7 = i32((((input0[(base + (first + 7u) * step) >> 2u] >> (((base + (first + 7u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e7);
  shared_scan[local] = total;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var left: i32 = 0i;
  if (local >= reach) { left = shared_scan[local - reach]; }
  let both = (left + shared_scan[local]);
  workgroupBarrier();
  if (local >= reach) { shared_scan[local] = both; }
  workgroupBarrier();
  }
  let inclusive = shared_scan[local];
  var exclusive: i32 = 0i;
  if (local > 0u) { exclusive = shared_scan[local - 1u]; }
  if (local == 255u) { scratch0[block] = inclusive; }
}

// workgroups 1x1x1
// scan_sum_int32 carries
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> scratch0: array<i32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared_scan: array<i32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let row = group.x + group.y * groups.x;
  if (row >= parameters.words[0].z) { return; }
  var carry: i32 = 0i;
  for (var start = 0u; start < parameters.words[0].y; start += 256u) {
  let place = row * parameters.words[0].y + start + local;
  let inside = start + local < parameters.words[0].y;
  var total: i32 = 0i;
  if (inside) { total = scratch0[place]; }
  shared_scan[local] = total;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var left: i32 = 0i;
  if (local >= reach) { left = shared_scan[local - reach]; }
  let both = (left + shared_scan[local]);
  workgroupBarrier();
  if (local >= reach) { shared_scan[local] = both; }
  workgroupBarrier();
  }
  let inclusive = shared_scan[local];
  var exclusive: i32 = 0i;
  if (local > 0u) { exclusive = shared_scan[local - 1u]; }
  if (inside) { scratch0[place] = (carry + exclusive); }
  carry = (carry + shared_scan[255]);
  workgroupBarrier();
  }
}

// workgroups 49x1x1
// scan_sum_int32 inside
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read> input1: array<i64>;
@group(0) @binding(3) var<storage, read_write> output0: array<i32>;
@group(0) @binding(4) var<storage, read> scratch0: array<i32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn finish(i: u32, result: i32) {
  let one1: i32 = bitcast<i32>(parameters.words[0].y);
  let v0_0: i32 = result;
  let v2_0: i32 = (v0_0 - one1);
  let v3_0: i64 = input1[i];
  if (u32(v3_0) < parameters.words[0].z) { output0[u32(v3_0)] = v2_0; }
}
var<workgroup> shared_scan: array<i32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].z) { return; }
  let length = parameters.words[1].y;
  let step = parameters.words[1].x;
  let row = block / parameters.words[0].w;
  let first = (block - row * parameters.words[0].w) * 2048u + local * 8u;
  let base = (row / step) * length * step + row % step;
  var total: i32 = 0i;
  var e0: i32 = 0i;
  if (first + 0u < length) { e0 = i32((((input0[(base + (first + 0u) * step) >> 2u] >> (((base + (first + 0u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e0);
  var e1: i32 = 0i;
  if (first + 1u < length) { e1 = i32((((input0[(base + (first + 1u) * step) >> 2u] >> (((base + (first + 1u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e1);
  var e2: i32 = 0i;
  if (first + 2u < length) { e2 = i32((((input0[(base + (first + 2u) * step) >> 2u] >> (((base + (first + 2u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e2);
  var e3: i32 = 0i;
  if (first + 3u < length) { e3 = i32((((input0[(base + (first + 3u) * step) >> 2u] >> (((base + (first + 3u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e3);
  var e4: i32 = 0i;
  if (first + 4u < length) { e4 = i32((((input0[(base + (first + 4u) * step) >> 2u] >> (((base + (first + 4u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e4);
  var e5: i32 = 0i;
  if (first + 5u < length) { e5 = i32((((input0[(base + (first + 5u) * step) >> 2u] >> (((base + (first + 5u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e5);
  var e6: i32 = 0i;
  if (first + 6u < length) { e6 = i32((((input0[(base + (first + 6u) * step) >> 2u] >> (((base + (first + 6u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e6);
  var e7: i32 = 0i;
  if (first + 7u < length) { e7 = i32((((input0[(base + (first + 7u) * step) >> 2u] >> (((base + (first + 7u) * step) & 3u) * 8u)) & 0xffu) != 0u)); }
  total = (total + e7);
  shared_scan[local] = total;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var left: i32 = 0i;
  if (local >= reach) { left = shared_scan[local - reach]; }
  let both = (left + shared_scan[local]);
  workgroupBarrier();
  if (local >= reach) { shared_scan[local] = both; }
  workgroupBarrier();
  }
  let inclusive = shared_scan[local];
  var exclusive: i32 = 0i;
  if (local > 0u) { exclusive = shared_scan[local - 1u]; }
  var running: i32 = (scratch0[block] + exclusive);
  running = (running + e0);
  if (first + 0u < length) { finish(base + (first + 0u) * step, running); }
  running = (running + e1);
  if (first + 1u < length) { finish(base + (first + 1u) * step, running); }
  running = (running + e2);
  if (first + 2u < length) { finish(base + (first + 2u) * step, running); }
  running = (running + e3);
  if (first + 3u < length) { finish(base + (first + 3u) * step, running); }
  running = (running + e4);
  if (first + 4u < length) { finish(base + (first + 4u) * step, running); }
  running = (running + e5);
  if (first + 5u < length) { finish(base + (first + 5u) * step, running); }
  running = (running + e6);
  if (first + 6u < length) { finish(base + (first + 6u) * step, running); }
  running = (running + e7);
  if (first + 7u < length) { finish(base + (first + 7u) * step, running); }
}
