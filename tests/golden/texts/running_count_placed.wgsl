// workgroups 25x1x1
// scan_sum_int32 blocks
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<i32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_i32: array<i32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + group.y * groups.x;
  if (number >= parameters.words[0].z) { return; }
  let row = number / parameters.words[0].y + parameters.words[0].w;
  let part = number % parameters.words[0].y + parameters.words[1].x;
  let blocks = parameters.words[1].y;
  let block = row * blocks + part;
  let step = parameters.words[1].z;
  let length = parameters.words[1].w;
  let begin = part * parameters.words[2].x;
  let end = min(begin + parameters.words[2].y, length);
  let base = row / step * length * step + row % step - parameters.words[2].z;
  var total: i32 = 0i;
  var n = begin + local * 4u;
  for (; n + 3072u < end; n += 4096u) {
  let loaded0 = input0[(base + n) / 4u + 0u];
  let loaded1 = input0[(base + n) / 4u + 256u];
  let loaded2 = input0[(base + n) / 4u + 512u];
  let loaded3 = input0[(base + n) / 4u + 768u];
  let e0: i32 = i32((((loaded0 >> 0u) & 0xffu) != 0u));
  let e1: i32 = i32((((loaded0 >> 8u) & 0xffu) != 0u));
  let e2: i32 = i32((((loaded0 >> 16u) & 0xffu) != 0u));
  let e3: i32 = i32((((loaded0 >> 24u) & 0xffu) != 0u));
  let e4: i32 = i32((((loaded1 >> 0u) & 0xffu) != 0u));
  let e5: i32 = i32((((loaded1 >> 8u) & 0xffu) != 0u));
  let e6: i32 = i32((((loaded1 >> 16u) & 0xffu) != 0u));
  let e7: i32 = i32((((loaded1 >> 24u) & 0xffu) != 0u));
  let e8: i32 = i32((((loaded2 >> 0u) & 0xffu) != 0u));
  let e9: i32 = i32((((loaded2 >> 8u) & 0xffu) != 0u));
  let e10: i32 = i32((((loaded2 >> 16u) & 0xffu) != 0u));
  let e11: i32 = i32((((loaded2 >> 24u) & 0xffu) != 0u));
  let e12: i32 = i32((((loaded3 >> 0u) & 0xffu) != 0u));
  let e13: i32 = i32((((loaded3 >> 8u) & 0xffu) != 0u));
  let e14: i32 = i32((((loaded3 >> 16u) & 0xffu) != 0u));
  let e15: i32 = i32((((loaded3 >> 24u) & 0xffu) != 0u));
  total = (total + ((((e0 + e1) + (e2 + e3)) + ((e4 + e5) + (e6 + e7))) + (((e8 + e9) + (e10 + e11)) + ((e12 + e13) + (e14 + e15)))));
  }
  for (; n + 0u < end; n += 1024u) {
  let loaded0 = input0[(base + n) / 4u + 0u];
  let e0: i32 = i32((((loaded0 >> 0u) & 0xffu) != 0u));
  let e1: i32 = i32((((loaded0 >> 8u) & 0xffu) != 0u));
  let e2: i32 = i32((((loaded0 >> 16u) & 0xffu) != 0u));
  let e3: i32 = i32((((loaded0 >> 24u) & 0xffu) != 0u));
  total = (total + ((e0 + e1) + (e2 + e3)));
  }
  shared0_i32[local] = total;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  total = (total + shared0_i32[local + half]);
  shared0_i32[local] = total;
  }
  workgroupBarrier();
  }
  total = shared0_i32[0u];
  workgroupBarrier();
  if (local == 0u) { scratch0[block] = total; }
}

// workgroups 25x1x1
// scan_sum_int32 inside
struct Parameters { words: array<vec4<u32>, 4> }
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
  let v3_0: i64 = w3.x;
  let v3_1: i64 = w3.y;
  let v3_2: i64 = w3.z;
  let v3_3: i64 = w3.w;
  let v2_0: i32 = (v0_0 - one1);
  let v2_1: i32 = (v0_1 - one1);
  let v2_2: i32 = (v0_2 - one1);
  let v2_3: i32 = (v0_3 - one1);
  if (u32(v3_0) < parameters.words[0].z) { output0[u32(v3_0)] = v2_0; }
  if (first + 1u < end) { if (u32(v3_1) < parameters.words[0].z) { output0[u32(v3_1)] = v2_1; } }
  if (first + 2u < end) { if (u32(v3_2) < parameters.words[0].z) { output0[u32(v3_2)] = v2_2; } }
  if (first + 3u < end) { if (u32(v3_3) < parameters.words[0].z) { output0[u32(v3_3)] = v2_3; } }
}
var<workgroup> shared0_i32: array<i32, 256>;
var<workgroup> run: array<i32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + group.y * groups.x;
  if (number >= parameters.words[1].x) { return; }
  let row = number / parameters.words[0].w + parameters.words[1].y;
  let part = number % parameters.words[0].w + parameters.words[1].z;
  let blocks = parameters.words[1].w;
  let block = row * blocks + part;
  let step = parameters.words[2].x;
  let length = parameters.words[2].y;
  let begin = part * parameters.words[2].z;
  let end = min(begin + parameters.words[2].w, length);
  let base = row / step * length * step + row % step - parameters.words[3].x;
  var carry: i32 = 0i;
  for (var n = row * blocks + local; n < block; n += 256u) {
  carry = (carry + scratch0[n]);
  }
  shared0_i32[local] = carry;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  carry = (carry + shared0_i32[local + half]);
  shared0_i32[local] = carry;
  }
  workgroupBarrier();
  }
  carry = shared0_i32[0u];
  workgroupBarrier();
  var turn = 0u;
  for (var start = begin; start < end; start += 4096u) {
  let n0 = start + local * 4u + 0u;
  var e0: i32 = 0i;
  var e1: i32 = 0i;
  var e2: i32 = 0i;
  var e3: i32 = 0i;
  if (n0 < end) {
  let loaded0 = input0[(base + n0) / 4u];
  e0 = i32((((loaded0 >> 0u) & 0xffu) != 0u));
  e1 = i32((((loaded0 >> 8u) & 0xffu) != 0u));
  e2 = i32((((loaded0 >> 16u) & 0xffu) != 0u));
  e3 = i32((((loaded0 >> 24u) & 0xffu) != 0u));
  }
  let n1 = start + local * 4u + 1024u;
  var e4: i32 = 0i;
  var e5: i32 = 0i;
  var e6: i32 = 0i;
  var e7: i32 = 0i;
  if (n1 < end) {
  let loaded4 = input0[(base + n1) / 4u];
  e4 = i32((((loaded4 >> 0u) & 0xffu) != 0u));
  e5 = i32((((loaded4 >> 8u) & 0xffu) != 0u));
  e6 = i32((((loaded4 >> 16u) & 0xffu) != 0u));
  e7 = i32((((loaded4 >> 24u) & 0xffu) != 0u));
  }
  let n2 = start + local * 4u + 2048u;
  var e8: i32 = 0i;
  var e9: i32 = 0i;
  var e10: i32 = 0i;
  var e11: i32 = 0i;
  if (n2 < end) {
  let loaded8 = input0[(base + n2) / 4u];
  e8 = i32((((loaded8 >> 0u) & 0xffu) != 0u));
  e9 = i32((((loaded8 >> 8u) & 0xffu) != 0u));
  e10 = i32((((loaded8 >> 16u) & 0xffu) != 0u));
  e11 = i32((((loaded8 >> 24u) & 0xffu) != 0u));
  }
  let n3 = start + local * 4u + 3072u;
  var e12: i32 = 0i;
  var e13: i32 = 0i;
  var e14: i32 = 0i;
  var e15: i32 = 0i;
  if (n3 < end) {
  let loaded12 = input0[(base + n3) / 4u];
  e12 = i32((((loaded12 >> 0u) & 0xffu) != 0u));
  e13 = i32((((loaded12 >> 8u) & 0xffu) != 0u));
  e14 = i32((((loaded12 >> 16u) & 0xffu) != 0u));
  e15 = i32((((loaded12 >> 24u) & 0xffu) != 0u));
  }
  e1 = (e0 + e1);
  e2 = (e1 + e2);
  e3 = (e2 + e3);
  e5 = (e4 + e5);
  e6 = (e5 + e6);
  e7 = (e6 + e7);
  e9 = (e8 + e9);
  e10 = (e9 + e10);
  e11 = (e10 + e11);
  e13 = (e12 + e13);
  e14 = (e13 + e14);
  e15 = (e14 + e15);
  run[0u + local] = e3;
  run[256u + local] = e7;
  run[512u + local] = e11;
  run[768u + local] = e15;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var both0: i32 = run[0u + local];
  if (local >= reach) { both0 = (run[0u + local - reach] + both0); }
  var both1: i32 = run[256u + local];
  if (local >= reach) { both1 = (run[256u + local - reach] + both1); }
  var both2: i32 = run[512u + local];
  if (local >= reach) { both2 = (run[512u + local - reach] + both2); }
  var both3: i32 = run[768u + local];
  if (local >= reach) { both3 = (run[768u + local - reach] + both3); }
  workgroupBarrier();
  run[0u + local] = both0;
  run[256u + local] = both1;
  run[512u + local] = both2;
  run[768u + local] = both3;
  workgroupBarrier();
  }
  var whole: i32 = 0i;
  var before0: i32 = whole;
  if (local > 0u) { before0 = (before0 + run[0u + local - 1u]); }
  whole = (whole + run[255]);
  var before1: i32 = whole;
  if (local > 0u) { before1 = (before1 + run[256u + local - 1u]); }
  whole = (whole + run[511]);
  var before2: i32 = whole;
  if (local > 0u) { before2 = (before2 + run[512u + local - 1u]); }
  whole = (whole + run[767]);
  var before3: i32 = whole;
  if (local > 0u) { before3 = (before3 + run[768u + local - 1u]); }
  whole = (whole + run[1023]);
  workgroupBarrier();
  before0 = (carry + before0);
  let r0: i32 = ((before0 + e0));
  let r1: i32 = ((before0 + e1));
  let r2: i32 = ((before0 + e2));
  let r3: i32 = ((before0 + e3));
  if (n0 < end) {
  finish(base + n0, base + n0 + 4u, r0, r1, r2, r3);
  }
  before1 = (carry + before1);
  let r4: i32 = ((before1 + e4));
  let r5: i32 = ((before1 + e5));
  let r6: i32 = ((before1 + e6));
  let r7: i32 = ((before1 + e7));
  if (n1 < end) {
  finish(base + n1, base + n1 + 4u, r4, r5, r6, r7);
  }
  before2 = (carry + before2);
  let r8: i32 = ((before2 + e8));
  let r9: i32 = ((before2 + e9));
  let r10: i32 = ((before2 + e10));
  let r11: i32 = ((before2 + e11));
  if (n2 < end) {
  finish(base + n2, base + n2 + 4u, r8, r9, r10, r11);
  }
  before3 = (carry + before3);
  let r12: i32 = ((before3 + e12));
  let r13: i32 = ((before3 + e13));
  let r14: i32 = ((before3 + e14));
  let r15: i32 = ((before3 + e15));
  if (n3 < end) {
  finish(base + n3, base + n3 + 4u, r12, r13, r14, r15);
  }
  carry = (carry + whole);
  turn++;
  }
}
