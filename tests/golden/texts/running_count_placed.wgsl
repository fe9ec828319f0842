// workgroups 25x1x1
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
  let first = (block - row * parameters.words[0].y) * 4096u + local * 16u;
  let base = (row / step) * length * step + row % step;
  var total: i32 = 0i;
  var e0: i32 = 0i;
  var e1: i32 = 0i;
  var e2: i32 = 0i;
  var e3: i32 = 0i;
  if (first + 0u < length) {
  let loaded0 = input0[(base + first) / 4u + 0u];
  e0 = i32((((loaded0 >> 0u) & 0xffu) != 0u));
  e1 = i32((((loaded0 >> 8u) & 0xffu) != 0u));
  e2 = i32((((loaded0 >> 16u) & 0xffu) != 0u));
  e3 = i32((((loaded0 >> 24u) & 0xffu) != 0u));
  }
  var e4: i32 = 0i;
  var e5: i32 = 0i;
  var e6: i32 = 0i;
  var e7: i32 = 0i;
  if (first + 4u < length) {
  let loaded4 = input0[(base + first) / 4u + 1u];
  e4 = i32((((loaded4 >> 0u) & 0xffu) != 0u));
  e5 = i32((((loaded4 >> 8u) & 0xffu) != 0u));
  e6 = i32((((loaded4 >> 16u) & 0xffu) != 0u));
  e7 = i32((((loaded4 >> 24u) & 0xffu) != 0u));
  }
  var e8: i32 = 0i;
  var e9: i32 = 0i;
  var e10: i32 = 0i;
  var e11: i32 = 0i;
  if (first + 8u < length) {
  let loaded8 = input0[(base + first) / 4u + 2u];
  e8 = i32((((loaded8 >> 0u) & 0xffu) != 0u));
  e9 = i32((((loaded8 >> 8u) & 0xffu) != 0u));
  e10 = i32((((loaded8 >> 16u) & 0xffu) != 0u));
  e11 = i32((((loaded8 >> 24u) & 0xffu) != 0u));
  }
  var e12: i32 = 0i;
  var e13: i32 = 0i;
  var e14: i32 = 0i;
  var e15: i32 = 0i;
  if (first + 12u < length) {
  let loaded12 = input0[(base + first) / 4u + 3u];
  e12 = i32((((loaded12 >> 0u) & 0xffu) != 0u));
  e13 = i32((((loaded12 >> 8u) & 0xffu) != 0u));
  e14 = i32((((loaded12 >> 16u) & 0xffu) != 0u));
  e15 = i32((((loaded12 >> 24u) & 0xffu) != 0u));
  }
  total = (total + e0);
  total = (total + e1);
  total = (total + e2);
  total = (total + e3);
  total = (total + e4);
  total = (total + e5);
  total = (total + e6);
  total = (total + e7);
  total = (total + e8);
  total = (total + e9);
  total = (total + e10);
  total = (total + e11);
  total = (total + e12);
  total = (total + e13);
  total = (total + e14);
  total = (total + e15);
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
  for (var start = 0u; start < parameters.words[0].y; start += 4096u) {
  let begin = start + local * 16u;
  let end = min(begin + 16u, parameters.words[0].y);
  var total: i32 = 0i;
  for (var n = begin; n < end; n++) { total = (total + scratch0[row * parameters.words[0].y + n]); }
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
  var running: i32 = (carry + exclusive);
  for (var n = begin; n < end; n++) {
  let own: i32 = scratch0[row * parameters.words[0].y + n];
  scratch0[row * parameters.words[0].y + n] = running;
  running = (running + own);
  }
  carry = (carry + shared_scan[255]);
  workgroupBarrier();
  }
}

// workgroups 25x1x1
// scan_sum_int32 inside
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<i64>>;
@group(0) @binding(3) var<storage, read_write> output0: array<i32>;
@group(0) @binding(4) var<storage, read> scratch0: array<i32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn finish(first: u32, end: u32, result0: i32, result1: i32, result2: i32, result3: i32) {
  let one1: i32 = bitcast<i32>(parameters.words[0].y);
  let i0 = first;
  let i1 = min(first + 1u, end - 1u);
  let i2 = min(first + 2u, end - 1u);
  let i3 = min(first + 3u, end - 1u);
  let w3 = input1[first / 4u];
  let v0_0: i32 = result0;
  let v0_1: i32 = result1;
  let v0_2: i32 = result2;
  let v0_3: i32 = result3;
  let v2_0: i32 = (v0_0 - one1);
  let v2_1: i32 = (v0_1 - one1);
  let v2_2: i32 = (v0_2 - one1);
  let v2_3: i32 = (v0_3 - one1);
  let v3_0: i64 = w3.x;
  let v3_1: i64 = w3.y;
  let v3_2: i64 = w3.z;
  let v3_3: i64 = w3.w;
  if (u32(v3_0) < parameters.words[0].z) { output0[u32(v3_0)] = v2_0; }
  if (first + 1u < end) { if (u32(v3_1) < parameters.words[0].z) { output0[u32(v3_1)] = v2_1; } }
  if (first + 2u < end) { if (u32(v3_2) < parameters.words[0].z) { output0[u32(v3_2)] = v2_2; } }
  if (first + 3u < end) { if (u32(v3_3) < parameters.words[0].z) { output0[u32(v3_3)] = v2_3; } }
}
var<workgroup> shared_scan: array<i32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].z) { return; }
  let length = parameters.words[1].y;
  let step = parameters.words[1].x;
  let row = block / parameters.words[0].w;
  let first = (block - row * parameters.words[0].w) * 4096u + local * 16u;
  let base = (row / step) * length * step + row % step;
  var total: i32 = 0i;
  var e0: i32 = 0i;
  var e1: i32 = 0i;
  var e2: i32 = 0i;
  var e3: i32 = 0i;
  if (first + 0u < length) {
  let loaded0 = input0[(base + first) / 4u + 0u];
  e0 = i32((((loaded0 >> 0u) & 0xffu) != 0u));
  e1 = i32((((loaded0 >> 8u) & 0xffu) != 0u));
  e2 = i32((((loaded0 >> 16u) & 0xffu) != 0u));
  e3 = i32((((loaded0 >> 24u) & 0xffu) != 0u));
  }
  var e4: i32 = 0i;
  var e5: i32 = 0i;
  var e6: i32 = 0i;
  var e7: i32 = 0i;
  if (first + 4u < length) {
  let loaded4 = input0[(base + first) / 4u + 1u];
  e4 = i32((((loaded4 >> 0u) & 0xffu) != 0u));
  e5 = i32((((loaded4 >> 8u) & 0xffu) != 0u));
  e6 = i32((((loaded4 >> 16u) & 0xffu) != 0u));
  e7 = i32((((loaded4 >> 24u) & 0xffu) != 0u));
  }
  var e8: i32 = 0i;
  var e9: i32 = 0i;
  var e10: i32 = 0i;
  var e11: i32 = 0i;
  if (first + 8u < length) {
  let loaded8 = input0[(base + first) / 4u + 2u];
  e8 = i32((((loaded8 >> 0u) & 0xffu) != 0u));
  e9 = i32((((loaded8 >> 8u) & 0xffu) != 0u));
  e10 = i32((((loaded8 >> 16u) & 0xffu) != 0u));
  e11 = i32((((loaded8 >> 24u) & 0xffu) != 0u));
  }
  var e12: i32 = 0i;
  var e13: i32 = 0i;
  var e14: i32 = 0i;
  var e15: i32 = 0i;
  if (first + 12u < length) {
  let loaded12 = input0[(base + first) / 4u + 3u];
  e12 = i32((((loaded12 >> 0u) & 0xffu) != 0u));
  e13 = i32((((loaded12 >> 8u) & 0xffu) != 0u));
  e14 = i32((((loaded12 >> 16u) & 0xffu) != 0u));
  e15 = i32((((loaded12 >> 24u) & 0xffu) != 0u));
  }
  total = (total + e0);
  total = (total + e1);
  total = (total + e2);
  total = (total + e3);
  total = (total + e4);
  total = (total + e5);
  total = (total + e6);
  total = (total + e7);
  total = (total + e8);
  total = (total + e9);
  total = (total + e10);
  total = (total + e11);
  total = (total + e12);
  total = (total + e13);
  total = (total + e14);
  total = (total + e15);
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
  let r0: i32 = running;
  running = (running + e1);
  let r1: i32 = running;
  running = (running + e2);
  let r2: i32 = running;
  running = (running + e3);
  let r3: i32 = running;
  if (first + 0u < length) {
  finish(base + first + 0u, base + first + 0u + 4u, r0, r1, r2, r3);
  }
  running = (running + e4);
  let r4: i32 = running;
  running = (running + e5);
  let r5: i32 = running;
  running = (running + e6);
  let r6: i32 = running;
  running = (running + e7);
  let r7: i32 = running;
  if (first + 4u < length) {
  finish(base + first + 4u, base + first + 4u + 4u, r4, r5, r6, r7);
  }
  running = (running + e8);
  let r8: i32 = running;
  running = (running + e9);
  let r9: i32 = running;
  running = (running + e10);
  let r10: i32 = running;
  running = (running + e11);
  let r11: i32 = running;
  if (first + 8u < length) {
  finish(base + first + 8u, base + first + 8u + 4u, r8, r9, r10, r11);
  }
  running = (running + e12);
  let r12: i32 = running;
  running = (running + e13);
  let r13: i32 = running;
  running = (running + e14);
  let r14: i32 = running;
  running = (running + e15);
  let r15: i32 = running;
  if (first + 12u < length) {
  finish(base + first + 12u, base + first + 12u + 4u, r12, r13, r14, r15);
  }
}
