// workgroups 1x1x1
// rows_sum_max
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
@group(0) @binding(3) var<storage, read_write> output1: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
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
fn maximum_f32(x: f32, y: f32) -> f32 {
  return select(select(x, y, order_f32(x) <= order_f32(y) || isnan_f32(y)), x, isnan_f32(x));
}
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let row = block;
  let begin = 0u;
  let end = parameters.words[0].z;
  let origin = 0u;
  var a1: f32 = 0.0f;
  var a2: f32 = bitcast<f32>(0xff800000u);
  let b0_0 = 0u;
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
  a1 = add_f32(a1, v0_0);
  a1 = add_f32(a1, v0_1);
  a1 = add_f32(a1, v0_2);
  a1 = add_f32(a1, v0_3);
  a2 = maximum_f32(a2, v0_0);
  a2 = maximum_f32(a2, v0_1);
  a2 = maximum_f32(a2, v0_2);
  a2 = maximum_f32(a2, v0_3);
  }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[0];
  workgroupBarrier();
  let one1: f32 = a1;
  shared0_f32[local] = a2;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  a2 = maximum_f32(a2, shared0_f32[local + half]);
  shared0_f32[local] = a2;
  }
  workgroupBarrier();
  }
  a2 = shared0_f32[0];
  workgroupBarrier();
  let one2: f32 = a2;
  if (local == 0u) { output0[0u] = one1; }
  if (local == 0u) { output1[0u] = one2; }
}
