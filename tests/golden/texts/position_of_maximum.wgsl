// workgroups 60x1x1
// rows_argmax
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<i64>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const magnitude_bits_f32 = 0x7fffffffu;
fn magnitude_f32(x: f32) -> u32 { return bitcast<u32>(x) & magnitude_bits_f32; }
const sign_bit_f32 = 0x80000000u;
fn signbit_f32(x: f32) -> bool { return bitcast<u32>(x) >= sign_bit_f32; }
fn order_f32(x: f32) -> i32 {
  let magnitude = i32(magnitude_f32(x));
  return select(magnitude, -magnitude, signbit_f32(x));
}
const infinity_bits_f32 = 0x7f800000u;
fn isnan_f32(x: f32) -> bool { return magnitude_f32(x) > infinity_bits_f32; }
fn comparable_f32(x: f32, y: f32) -> bool { return !isnan_f32(x) && !isnan_f32(y); }
fn less_f32(x: f32, y: f32) -> bool { return order_f32(x) < order_f32(y) && comparable_f32(x, y); }
fn greater_f32(x: f32, y: f32) -> bool { return less_f32(y, x); }
fn i64_from_u32(x: u32) -> i64 { return i64(u64(x)); }
fn better1(a: f32, i: u32, b: f32, j: u32) -> bool {
  if (j == 0xffffffffu) { return false; }
  if (i == 0xffffffffu) { return true; }
  if (isnan_f32(a) || isnan_f32(b)) { return select(isnan_f32(b), j < i, isnan_f32(a) && isnan_f32(b)); }
  if (greater_f32(b, a)) { return true; }
  if (greater_f32(a, b)) { return false; }
  return j < i;
}
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_u32: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let row = block;
  let begin = 0u;
  let end = parameters.words[0].z;
  let origin = 0u;
  var a1: f32 = bitcast<f32>(0xff800000u);
  var p1: u32 = 0xffffffffu;
  let b0_0 = row * parameters.words[0].w;
  for (var column = begin + local * 4u; column < end; column += 1024u) {
  let i0 = column + 0u;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0 = input0[(b0_0 + column) / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  if (better1(a1, p1, v0_0, i0 + origin)) { a1 = v0_0; p1 = i0 + origin; }
  if (better1(a1, p1, v0_1, i1 + origin)) { a1 = v0_1; p1 = i1 + origin; }
  if (better1(a1, p1, v0_2, i2 + origin)) { a1 = v0_2; p1 = i2 + origin; }
  if (better1(a1, p1, v0_3, i3 + origin)) { a1 = v0_3; p1 = i3 + origin; }
  }
  shared0_f32[local] = a1;
  shared1_u32[local] = p1;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  if (better1(a1, p1, shared0_f32[local + half], shared1_u32[local + half])) { a1 = shared0_f32[local + half]; p1 = shared1_u32[local + half]; }
  shared0_f32[local] = a1;
  shared1_u32[local] = p1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[0];
  p1 = shared1_u32[0];
  workgroupBarrier();
  let one1: i64 = i64_from_u32(p1);
  if (local == 0u) { output0[row * parameters.words[1].x] = one1; }
}
