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
fn key2(x: f32) -> u32 {
  let bits = bitcast<i32>(bitcast<u32>(x));
  return bitcast<u32>(bits ^ ((bits >> 31u) | -0x80000000)) - 0x7fffffu;
}
fn value2(key: u32) -> f32 {
  let ordered = bitcast<i32>(key + 0x7fffffu);
  return bitcast<f32>(bitcast<u32>(ordered ^ ((~ordered >> 31u) | -0x80000000)));
}
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared0_u32: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  let origin = 0u;
  var a1: f32 = 0.0f;
  var a2 = 0u;
  let b0_0 = 0u;
  {
  var column = begin + lane * 4u;
  for (; column + 4u * 256u + 3u < end; column += 8u * 256u) {
  let i0 = column + 0u * 256u + 0u;
  let i1 = column + 0u * 256u + 1u;
  let i2 = column + 0u * 256u + 2u;
  let i3 = column + 0u * 256u + 3u;
  let i4 = column + 4u * 256u + 0u;
  let i5 = column + 4u * 256u + 1u;
  let i6 = column + 4u * 256u + 2u;
  let i7 = column + 4u * 256u + 3u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let w0_4 = input0[(b0_0 + i4) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  let v0_4: f32 = w0_4.x;
  let v0_5: f32 = w0_4.y;
  let v0_6: f32 = w0_4.z;
  let v0_7: f32 = w0_4.w;
  a1 = add_f32(a1, add_f32(add_f32(v0_0, v0_1), add_f32(v0_2, v0_3)));
  a2 = max(a2, max(max(key2(v0_0), key2(v0_1)), max(key2(v0_2), key2(v0_3))));
  a1 = add_f32(a1, add_f32(add_f32(v0_4, v0_5), add_f32(v0_6, v0_7)));
  a2 = max(a2, max(max(key2(v0_4), key2(v0_5)), max(key2(v0_6), key2(v0_7))));
  }
  for (; column < end; column += 4u * 256u) {
  let i0 = column;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  a1 = add_f32(a1, add_f32(add_f32(v0_0, v0_1), add_f32(v0_2, v0_3)));
  a2 = max(a2, max(max(key2(v0_0), key2(v0_1)), max(key2(v0_2), key2(v0_3))));
  } }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[0u];
  workgroupBarrier();
  let one1: f32 = a1;
  shared0_u32[local] = a2;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  a2 = max(a2, shared0_u32[local + half]);
  shared0_u32[local] = a2;
  }
  workgroupBarrier();
  }
  a2 = shared0_u32[0u];
  workgroupBarrier();
  let one2: f32 = value2(a2);
  if (lane == 0u) { output0[0u] = one1; }
  if (lane == 0u) { output1[0u] = one2; }
}
