// step 0: reads [0], writes [3]
//   scan sum float32 -> float32
//   epilogue loop 0+1
//   %0:f:float32 = load 0 c
//   %1:u:float32 = scalar 0
//   %2:f:float32 = multiply %0:float32 %1:float32
//   store 0:float32 %2 f c

// workgroups: 25 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// scan_sum_float32 blocks
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
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
  var total: f32 = 0.0f;
  var n = begin + local * 4u;
  for (; n + 3072u < end; n += 4096u) {
  let loaded0 = input0[(base + n) / 4u + 0u];
  let loaded1 = input0[(base + n) / 4u + 256u];
  let loaded2 = input0[(base + n) / 4u + 512u];
  let loaded3 = input0[(base + n) / 4u + 768u];
  let e0: f32 = loaded0.x;
  let e1: f32 = loaded0.y;
  let e2: f32 = loaded0.z;
  let e3: f32 = loaded0.w;
  let e4: f32 = loaded1.x;
  let e5: f32 = loaded1.y;
  let e6: f32 = loaded1.z;
  let e7: f32 = loaded1.w;
  let e8: f32 = loaded2.x;
  let e9: f32 = loaded2.y;
  let e10: f32 = loaded2.z;
  let e11: f32 = loaded2.w;
  let e12: f32 = loaded3.x;
  let e13: f32 = loaded3.y;
  let e14: f32 = loaded3.z;
  let e15: f32 = loaded3.w;
  total = add_f32(total, add_f32(add_f32(add_f32(add_f32(e0, e1), add_f32(e2, e3)), add_f32(add_f32(e4, e5), add_f32(e6, e7))), add_f32(add_f32(add_f32(e8, e9), add_f32(e10, e11)), add_f32(add_f32(e12, e13), add_f32(e14, e15)))));
  }
  for (; n + 0u < end; n += 1024u) {
  let loaded0 = input0[(base + n) / 4u + 0u];
  let e0: f32 = loaded0.x;
  let e1: f32 = loaded0.y;
  let e2: f32 = loaded0.z;
  let e3: f32 = loaded0.w;
  total = add_f32(total, add_f32(add_f32(e0, e1), add_f32(e2, e3)));
  }
  shared0_f32[local] = total;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  total = add_f32(total, shared0_f32[local + half]);
  shared0_f32[local] = total;
  }
  workgroupBarrier();
  }
  total = shared0_f32[0u];
  workgroupBarrier();
  if (local == 0u) { scratch0[block] = total; }
}

// workgroups: 25 x 1 x 1
// library: add_f32, multiply_f32
// in range: no index is out of bounds
// scan_sum_float32 inside
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
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
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> run: array<f32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = group.x + group.y * groups.x;
  if (number >= parameters.words[0].w) { return; }
  let row = number / parameters.words[0].z + parameters.words[1].x;
  let part = number % parameters.words[0].z + parameters.words[1].y;
  let blocks = parameters.words[1].z;
  let block = row * blocks + part;
  let step = parameters.words[1].w;
  let length = parameters.words[2].x;
  let begin = part * parameters.words[2].y;
  let end = min(begin + parameters.words[2].z, length);
  let base = row / step * length * step + row % step - parameters.words[2].w;
  var carry: f32 = 0.0f;
  for (var n = row * blocks + local; n < block; n += 256u) {
  carry = add_f32(carry, scratch0[n]);
  }
  shared0_f32[local] = carry;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  carry = add_f32(carry, shared0_f32[local + half]);
  shared0_f32[local] = carry;
  }
  workgroupBarrier();
  }
  carry = shared0_f32[0u];
  workgroupBarrier();
  var scans = 0u;
  for (var start = begin; start < end; start += 4096u) {
  let n0 = start + local * 4u + 0u;
  var e0: f32 = 0.0f;
  var e1: f32 = 0.0f;
  var e2: f32 = 0.0f;
  var e3: f32 = 0.0f;
  if (n0 < end) {
  let loaded0 = input0[(base + n0) / 4u];
  e0 = loaded0.x;
  e1 = loaded0.y;
  e2 = loaded0.z;
  e3 = loaded0.w;
  }
  let n1 = start + local * 4u + 1024u;
  var e4: f32 = 0.0f;
  var e5: f32 = 0.0f;
  var e6: f32 = 0.0f;
  var e7: f32 = 0.0f;
  if (n1 < end) {
  let loaded4 = input0[(base + n1) / 4u];
  e4 = loaded4.x;
  e5 = loaded4.y;
  e6 = loaded4.z;
  e7 = loaded4.w;
  }
  let n2 = start + local * 4u + 2048u;
  var e8: f32 = 0.0f;
  var e9: f32 = 0.0f;
  var e10: f32 = 0.0f;
  var e11: f32 = 0.0f;
  if (n2 < end) {
  let loaded8 = input0[(base + n2) / 4u];
  e8 = loaded8.x;
  e9 = loaded8.y;
  e10 = loaded8.z;
  e11 = loaded8.w;
  }
  let n3 = start + local * 4u + 3072u;
  var e12: f32 = 0.0f;
  var e13: f32 = 0.0f;
  var e14: f32 = 0.0f;
  var e15: f32 = 0.0f;
  if (n3 < end) {
  let loaded12 = input0[(base + n3) / 4u];
  e12 = loaded12.x;
  e13 = loaded12.y;
  e14 = loaded12.z;
  e15 = loaded12.w;
  }
  e1 = add_f32(e0, e1);
  e2 = add_f32(e1, e2);
  e3 = add_f32(e2, e3);
  e5 = add_f32(e4, e5);
  e6 = add_f32(e5, e6);
  e7 = add_f32(e6, e7);
  e9 = add_f32(e8, e9);
  e10 = add_f32(e9, e10);
  e11 = add_f32(e10, e11);
  e13 = add_f32(e12, e13);
  e14 = add_f32(e13, e14);
  e15 = add_f32(e14, e15);
  run[0u + local] = e3;
  run[256u + local] = e7;
  run[512u + local] = e11;
  run[768u + local] = e15;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
  var both0: f32 = run[0u + local];
  if (local >= reach) { both0 = add_f32(run[0u + local - reach], both0); }
  var both1: f32 = run[256u + local];
  if (local >= reach) { both1 = add_f32(run[256u + local - reach], both1); }
  var both2: f32 = run[512u + local];
  if (local >= reach) { both2 = add_f32(run[512u + local - reach], both2); }
  var both3: f32 = run[768u + local];
  if (local >= reach) { both3 = add_f32(run[768u + local - reach], both3); }
  workgroupBarrier();
  run[0u + local] = both0;
  run[256u + local] = both1;
  run[512u + local] = both2;
  run[768u + local] = both3;
  workgroupBarrier();
  }
  var whole: f32 = 0.0f;
  var before0: f32 = whole;
  if (local > 0u) { before0 = add_f32(before0, run[0u + local - 1u]); }
  whole = add_f32(whole, run[255]);
  var before1: f32 = whole;
  if (local > 0u) { before1 = add_f32(before1, run[256u + local - 1u]); }
  whole = add_f32(whole, run[511]);
  var before2: f32 = whole;
  if (local > 0u) { before2 = add_f32(before2, run[512u + local - 1u]); }
  whole = add_f32(whole, run[767]);
  var before3: f32 = whole;
  if (local > 0u) { before3 = add_f32(before3, run[768u + local - 1u]); }
  whole = add_f32(whole, run[1023]);
  workgroupBarrier();
  before0 = add_f32(carry, before0);
  let r0: f32 = (add_f32(before0, e0));
  let r1: f32 = (add_f32(before0, e1));
  let r2: f32 = (add_f32(before0, e2));
  let r3: f32 = (add_f32(before0, e3));
  if (n0 < end) {
  finish(base + n0, base + n0 + 4u, r0, r1, r2, r3);
  }
  before1 = add_f32(carry, before1);
  let r4: f32 = (add_f32(before1, e4));
  let r5: f32 = (add_f32(before1, e5));
  let r6: f32 = (add_f32(before1, e6));
  let r7: f32 = (add_f32(before1, e7));
  if (n1 < end) {
  finish(base + n1, base + n1 + 4u, r4, r5, r6, r7);
  }
  before2 = add_f32(carry, before2);
  let r8: f32 = (add_f32(before2, e8));
  let r9: f32 = (add_f32(before2, e9));
  let r10: f32 = (add_f32(before2, e10));
  let r11: f32 = (add_f32(before2, e11));
  if (n2 < end) {
  finish(base + n2, base + n2 + 4u, r8, r9, r10, r11);
  }
  before3 = add_f32(carry, before3);
  let r12: f32 = (add_f32(before3, e12));
  let r13: f32 = (add_f32(before3, e13));
  let r14: f32 = (add_f32(before3, e14));
  let r15: f32 = (add_f32(before3, e15));
  if (n3 < end) {
  finish(base + n3, base + n3 + 4u, r12, r13, r14, r15);
  }
  carry = add_f32(carry, whole);
  scans++;
  }
}
