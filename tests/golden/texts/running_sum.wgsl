// workgroups 25x1x1
// scan_sum_float32 blocks
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
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
  let first = (block - row * parameters.words[0].y) * 4096u + local * 16u;
  let base = (row / step) * length * step + row % step;
  var total: f32 = 0.0f;
  var e0: f32 = 0.0f;
  var e1: f32 = 0.0f;
  var e2: f32 = 0.0f;
  var e3: f32 = 0.0f;
  if (first + 0u < length) {
  let loaded0 = input0[(base + first) / 4u + 0u];
  e0 = loaded0.x;
  e1 = loaded0.y;
  e2 = loaded0.z;
  e3 = loaded0.w;
  }
  var e4: f32 = 0.0f;
  var e5: f32 = 0.0f;
  var e6: f32 = 0.0f;
  var e7: f32 = 0.0f;
  if (first + 4u < length) {
  let loaded4 = input0[(base + first) / 4u + 1u];
  e4 = loaded4.x;
  e5 = loaded4.y;
  e6 = loaded4.z;
  e7 = loaded4.w;
  }
  var e8: f32 = 0.0f;
  var e9: f32 = 0.0f;
  var e10: f32 = 0.0f;
  var e11: f32 = 0.0f;
  if (first + 8u < length) {
  let loaded8 = input0[(base + first) / 4u + 2u];
  e8 = loaded8.x;
  e9 = loaded8.y;
  e10 = loaded8.z;
  e11 = loaded8.w;
  }
  var e12: f32 = 0.0f;
  var e13: f32 = 0.0f;
  var e14: f32 = 0.0f;
  var e15: f32 = 0.0f;
  if (first + 12u < length) {
  let loaded12 = input0[(base + first) / 4u + 3u];
  e12 = loaded12.x;
  e13 = loaded12.y;
  e14 = loaded12.z;
  e15 = loaded12.w;
  }
  total = add_f32(total, e0);
  total = add_f32(total, e1);
  total = add_f32(total, e2);
  total = add_f32(total, e3);
  total = add_f32(total, e4);
  total = add_f32(total, e5);
  total = add_f32(total, e6);
  total = add_f32(total, e7);
  total = add_f32(total, e8);
  total = add_f32(total, e9);
  total = add_f32(total, e10);
  total = add_f32(total, e11);
  total = add_f32(total, e12);
  total = add_f32(total, e13);
  total = add_f32(total, e14);
  total = add_f32(total, e15);
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
  for (var start = 0u; start < parameters.words[0].y; start += 4096u) {
  let begin = start + local * 16u;
  let end = min(begin + 16u, parameters.words[0].y);
  var total: f32 = 0.0f;
  for (var n = begin; n < end; n++) { total = add_f32(total, scratch0[row * parameters.words[0].y + n]); }
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
  var running: f32 = add_f32(carry, exclusive);
  for (var n = begin; n < end; n++) {
  let own: f32 = scratch0[row * parameters.words[0].y + n];
  scratch0[row * parameters.words[0].y + n] = running;
  running = add_f32(running, own);
  }
  carry = add_f32(carry, shared_scan[255]);
  workgroupBarrier();
  }
}

// workgroups 25x1x1
// scan_sum_float32 inside
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
const sign_bit_f32 = 0x80000000u;
fn negative_zero_f32() -> f32 { return bitcast<f32>(sign_bit_f32 + u32(zero_u32())); }
fn multiply_f32(x: f32, y: f32) -> f32 { return fma(x, y, negative_zero_f32()); }
fn finish(first: u32, end: u32, result0: f32, result1: f32, result2: f32, result3: f32) {
  let one1: f32 = bitcast<f32>(parameters.words[0].y);
  let i0 = first;
  let i1 = min(first + 1u, end - 1u);
  let i2 = min(first + 2u, end - 1u);
  let i3 = min(first + 3u, end - 1u);
  let v0_0: f32 = result0;
  let v0_1: f32 = result1;
  let v0_2: f32 = result2;
  let v0_3: f32 = result3;
  let v2_0: f32 = multiply_f32(v0_0, one1);
  let v2_1: f32 = multiply_f32(v0_1, one1);
  let v2_2: f32 = multiply_f32(v0_2, one1);
  let v2_3: f32 = multiply_f32(v0_3, one1);
  output0[first / 4u] = vec4<f32>(v2_0, v2_1, v2_2, v2_3);
}
var<workgroup> shared_scan: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].y) { return; }
  let length = parameters.words[1].x;
  let step = parameters.words[0].w;
  let row = block / parameters.words[0].z;
  let first = (block - row * parameters.words[0].z) * 4096u + local * 16u;
  let base = (row / step) * length * step + row % step;
  var total: f32 = 0.0f;
  var e0: f32 = 0.0f;
  var e1: f32 = 0.0f;
  var e2: f32 = 0.0f;
  var e3: f32 = 0.0f;
  if (first + 0u < length) {
  let loaded0 = input0[(base + first) / 4u + 0u];
  e0 = loaded0.x;
  e1 = loaded0.y;
  e2 = loaded0.z;
  e3 = loaded0.w;
  }
  var e4: f32 = 0.0f;
  var e5: f32 = 0.0f;
  var e6: f32 = 0.0f;
  var e7: f32 = 0.0f;
  if (first + 4u < length) {
  let loaded4 = input0[(base + first) / 4u + 1u];
  e4 = loaded4.x;
  e5 = loaded4.y;
  e6 = loaded4.z;
  e7 = loaded4.w;
  }
  var e8: f32 = 0.0f;
  var e9: f32 = 0.0f;
  var e10: f32 = 0.0f;
  var e11: f32 = 0.0f;
  if (first + 8u < length) {
  let loaded8 = input0[(base + first) / 4u + 2u];
  e8 = loaded8.x;
  e9 = loaded8.y;
  e10 = loaded8.z;
  e11 = loaded8.w;
  }
  var e12: f32 = 0.0f;
  var e13: f32 = 0.0f;
  var e14: f32 = 0.0f;
  var e15: f32 = 0.0f;
  if (first + 12u < length) {
  let loaded12 = input0[(base + first) / 4u + 3u];
  e12 = loaded12.x;
  e13 = loaded12.y;
  e14 = loaded12.z;
  e15 = loaded12.w;
  }
  total = add_f32(total, e0);
  total = add_f32(total, e1);
  total = add_f32(total, e2);
  total = add_f32(total, e3);
  total = add_f32(total, e4);
  total = add_f32(total, e5);
  total = add_f32(total, e6);
  total = add_f32(total, e7);
  total = add_f32(total, e8);
  total = add_f32(total, e9);
  total = add_f32(total, e10);
  total = add_f32(total, e11);
  total = add_f32(total, e12);
  total = add_f32(total, e13);
  total = add_f32(total, e14);
  total = add_f32(total, e15);
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
  let r0: f32 = running;
  running = add_f32(running, e1);
  let r1: f32 = running;
  running = add_f32(running, e2);
  let r2: f32 = running;
  running = add_f32(running, e3);
  let r3: f32 = running;
  if (first + 0u < length) {
  finish(base + first + 0u, base + first + 0u + 4u, r0, r1, r2, r3);
  }
  running = add_f32(running, e4);
  let r4: f32 = running;
  running = add_f32(running, e5);
  let r5: f32 = running;
  running = add_f32(running, e6);
  let r6: f32 = running;
  running = add_f32(running, e7);
  let r7: f32 = running;
  if (first + 4u < length) {
  finish(base + first + 4u, base + first + 4u + 4u, r4, r5, r6, r7);
  }
  running = add_f32(running, e8);
  let r8: f32 = running;
  running = add_f32(running, e9);
  let r9: f32 = running;
  running = add_f32(running, e10);
  let r10: f32 = running;
  running = add_f32(running, e11);
  let r11: f32 = running;
  if (first + 8u < length) {
  finish(base + first + 8u, base + first + 8u + 4u, r8, r9, r10, r11);
  }
  running = add_f32(running, e12);
  let r12: f32 = running;
  running = add_f32(running, e13);
  let r13: f32 = running;
  running = add_f32(running, e14);
  let r14: f32 = running;
  running = add_f32(running, e15);
  let r15: f32 = running;
  if (first + 12u < length) {
  finish(base + first + 12u, base + first + 12u + 4u, r12, r13, r14, r15);
  }
}
