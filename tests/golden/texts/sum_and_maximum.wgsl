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
  let walker = block;
  let lane = local;
  let row = walker;
  let end = parameters.words[0].z;
  let begin = 0u;
  let origin = 0u;
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[0].w);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  let at4 = lane * 4u + 1024u;
  let i4 = min(at4, parameters.words[0].w);
  let at5 = at4 + 1u;
  let i5 = i4 + 1u;
  let at6 = at4 + 2u;
  let i6 = i4 + 2u;
  let at7 = at4 + 3u;
  let i7 = i4 + 3u;
  let at8 = lane * 4u + 2048u;
  let i8 = min(at8, parameters.words[0].w);
  let at9 = at8 + 1u;
  let i9 = i8 + 1u;
  let at10 = at8 + 2u;
  let i10 = i8 + 2u;
  let at11 = at8 + 3u;
  let i11 = i8 + 3u;
  let at12 = lane * 4u + 3072u;
  let i12 = min(at12, parameters.words[0].w);
  let at13 = at12 + 1u;
  let i13 = i12 + 1u;
  let at14 = at12 + 2u;
  let i14 = i12 + 2u;
  let at15 = at12 + 3u;
  let i15 = i12 + 3u;
  let at16 = lane * 4u + 4096u;
  let i16 = min(at16, parameters.words[0].w);
  let at17 = at16 + 1u;
  let i17 = i16 + 1u;
  let at18 = at16 + 2u;
  let i18 = i16 + 2u;
  let at19 = at16 + 3u;
  let i19 = i16 + 3u;
  let at20 = lane * 4u + 5120u;
  let i20 = min(at20, parameters.words[0].w);
  let at21 = at20 + 1u;
  let i21 = i20 + 1u;
  let at22 = at20 + 2u;
  let i22 = i20 + 2u;
  let at23 = at20 + 3u;
  let i23 = i20 + 3u;
  let at24 = lane * 4u + 6144u;
  let i24 = min(at24, parameters.words[0].w);
  let at25 = at24 + 1u;
  let i25 = i24 + 1u;
  let at26 = at24 + 2u;
  let i26 = i24 + 2u;
  let at27 = at24 + 3u;
  let i27 = i24 + 3u;
  let at28 = lane * 4u + 7168u;
  let i28 = min(at28, parameters.words[0].w);
  let at29 = at28 + 1u;
  let i29 = i28 + 1u;
  let at30 = at28 + 2u;
  let i30 = i28 + 2u;
  let at31 = at28 + 3u;
  let i31 = i28 + 3u;
  var a1: f32 = 0.0f;
  var a2: f32 = bitcast<f32>(0xff800000u);
  let b0_0 = 0u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let w0_4 = input0[(b0_0 + i4) / 4u];
  let w0_8 = input0[(b0_0 + i8) / 4u];
  let w0_12 = input0[(b0_0 + i12) / 4u];
  let w0_16 = input0[(b0_0 + i16) / 4u];
  let w0_20 = input0[(b0_0 + i20) / 4u];
  let w0_24 = input0[(b0_0 + i24) / 4u];
  let w0_28 = input0[(b0_0 + i28) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  let v0_4: f32 = w0_4.x;
  let v0_5: f32 = w0_4.y;
  let v0_6: f32 = w0_4.z;
  let v0_7: f32 = w0_4.w;
  let v0_8: f32 = w0_8.x;
  let v0_9: f32 = w0_8.y;
  let v0_10: f32 = w0_8.z;
  let v0_11: f32 = w0_8.w;
  let v0_12: f32 = w0_12.x;
  let v0_13: f32 = w0_12.y;
  let v0_14: f32 = w0_12.z;
  let v0_15: f32 = w0_12.w;
  let v0_16: f32 = w0_16.x;
  let v0_17: f32 = w0_16.y;
  let v0_18: f32 = w0_16.z;
  let v0_19: f32 = w0_16.w;
  let v0_20: f32 = w0_20.x;
  let v0_21: f32 = w0_20.y;
  let v0_22: f32 = w0_20.z;
  let v0_23: f32 = w0_20.w;
  let v0_24: f32 = w0_24.x;
  let v0_25: f32 = w0_24.y;
  let v0_26: f32 = w0_24.z;
  let v0_27: f32 = w0_24.w;
  let v0_28: f32 = w0_28.x;
  let v0_29: f32 = w0_28.y;
  let v0_30: f32 = w0_28.z;
  let v0_31: f32 = w0_28.w;
  if (at0 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_0, v0_1), add_f32(v0_2, v0_3)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_0, v0_1), maximum_f32(v0_2, v0_3)));
  }
  if (at4 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_4, v0_5), add_f32(v0_6, v0_7)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_4, v0_5), maximum_f32(v0_6, v0_7)));
  }
  if (at8 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_8, v0_9), add_f32(v0_10, v0_11)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_8, v0_9), maximum_f32(v0_10, v0_11)));
  }
  if (at12 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_12, v0_13), add_f32(v0_14, v0_15)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_12, v0_13), maximum_f32(v0_14, v0_15)));
  }
  if (at16 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_16, v0_17), add_f32(v0_18, v0_19)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_16, v0_17), maximum_f32(v0_18, v0_19)));
  }
  if (at20 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_20, v0_21), add_f32(v0_22, v0_23)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_20, v0_21), maximum_f32(v0_22, v0_23)));
  }
  if (at24 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_24, v0_25), add_f32(v0_26, v0_27)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_24, v0_25), maximum_f32(v0_26, v0_27)));
  }
  if (at28 < end) {
  a1 = add_f32(a1, add_f32(add_f32(v0_28, v0_29), add_f32(v0_30, v0_31)));
  a2 = maximum_f32(a2, maximum_f32(maximum_f32(v0_28, v0_29), maximum_f32(v0_30, v0_31)));
  }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if ((local) < half) {
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
  if ((local) < half) {
  a2 = maximum_f32(a2, shared0_f32[local + half]);
  shared0_f32[local] = a2;
  }
  workgroupBarrier();
  }
  a2 = shared0_f32[0];
  workgroupBarrier();
  let one2: f32 = a2;
  if (lane == 0u) { output0[0u] = one1; }
  if (lane == 0u) { output1[0u] = one2; }
}
