// workgroups 13x1x1
// rows_any
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> output0: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_u32: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
  let row = walker;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
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
  let at4 = lane * 4u + 128u;
  let i4 = min(at4, parameters.words[0].w);
  let at5 = at4 + 1u;
  let i5 = i4 + 1u;
  let at6 = at4 + 2u;
  let i6 = i4 + 2u;
  let at7 = at4 + 3u;
  let i7 = i4 + 3u;
  let at8 = lane * 4u + 256u;
  let i8 = min(at8, parameters.words[0].w);
  let at9 = at8 + 1u;
  let i9 = i8 + 1u;
  let at10 = at8 + 2u;
  let i10 = i8 + 2u;
  let at11 = at8 + 3u;
  let i11 = i8 + 3u;
  let at12 = lane * 4u + 384u;
  let i12 = min(at12, parameters.words[0].w);
  let at13 = at12 + 1u;
  let i13 = i12 + 1u;
  let at14 = at12 + 2u;
  let i14 = i12 + 2u;
  let at15 = at12 + 3u;
  let i15 = i12 + 3u;
  let at16 = lane * 4u + 512u;
  let i16 = min(at16, parameters.words[0].w);
  let at17 = at16 + 1u;
  let i17 = i16 + 1u;
  let at18 = at16 + 2u;
  let i18 = i16 + 2u;
  let at19 = at16 + 3u;
  let i19 = i16 + 3u;
  let at20 = lane * 4u + 640u;
  let i20 = min(at20, parameters.words[0].w);
  let at21 = at20 + 1u;
  let i21 = i20 + 1u;
  let at22 = at20 + 2u;
  let i22 = i20 + 2u;
  let at23 = at20 + 3u;
  let i23 = i20 + 3u;
  let at24 = lane * 4u + 768u;
  let i24 = min(at24, parameters.words[0].w);
  let at25 = at24 + 1u;
  let i25 = i24 + 1u;
  let at26 = at24 + 2u;
  let i26 = i24 + 2u;
  let at27 = at24 + 3u;
  let i27 = i24 + 3u;
  let at28 = lane * 4u + 896u;
  let i28 = min(at28, parameters.words[0].w);
  let at29 = at28 + 1u;
  let i29 = i28 + 1u;
  let at30 = at28 + 2u;
  let i30 = i28 + 2u;
  let at31 = at28 + 3u;
  let i31 = i28 + 3u;
  var a1: bool = false;
  let b0_0 = row * parameters.words[1].x;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let w0_4 = input0[(b0_0 + i4) / 4u];
  let w0_8 = input0[(b0_0 + i8) / 4u];
  let w0_12 = input0[(b0_0 + i12) / 4u];
  let w0_16 = input0[(b0_0 + i16) / 4u];
  let w0_20 = input0[(b0_0 + i20) / 4u];
  let w0_24 = input0[(b0_0 + i24) / 4u];
  let w0_28 = input0[(b0_0 + i28) / 4u];
  let v0_0: bool = (((w0_0 >> 0u) & 0xffu) != 0u);
  let v0_1: bool = (((w0_0 >> 8u) & 0xffu) != 0u);
  let v0_2: bool = (((w0_0 >> 16u) & 0xffu) != 0u);
  let v0_3: bool = (((w0_0 >> 24u) & 0xffu) != 0u);
  let v0_4: bool = (((w0_4 >> 0u) & 0xffu) != 0u);
  let v0_5: bool = (((w0_4 >> 8u) & 0xffu) != 0u);
  let v0_6: bool = (((w0_4 >> 16u) & 0xffu) != 0u);
  let v0_7: bool = (((w0_4 >> 24u) & 0xffu) != 0u);
  let v0_8: bool = (((w0_8 >> 0u) & 0xffu) != 0u);
  let v0_9: bool = (((w0_8 >> 8u) & 0xffu) != 0u);
  let v0_10: bool = (((w0_8 >> 16u) & 0xffu) != 0u);
  let v0_11: bool = (((w0_8 >> 24u) & 0xffu) != 0u);
  let v0_12: bool = (((w0_12 >> 0u) & 0xffu) != 0u);
  let v0_13: bool = (((w0_12 >> 8u) & 0xffu) != 0u);
  let v0_14: bool = (((w0_12 >> 16u) & 0xffu) != 0u);
  let v0_15: bool = (((w0_12 >> 24u) & 0xffu) != 0u);
  let v0_16: bool = (((w0_16 >> 0u) & 0xffu) != 0u);
  let v0_17: bool = (((w0_16 >> 8u) & 0xffu) != 0u);
  let v0_18: bool = (((w0_16 >> 16u) & 0xffu) != 0u);
  let v0_19: bool = (((w0_16 >> 24u) & 0xffu) != 0u);
  let v0_20: bool = (((w0_20 >> 0u) & 0xffu) != 0u);
  let v0_21: bool = (((w0_20 >> 8u) & 0xffu) != 0u);
  let v0_22: bool = (((w0_20 >> 16u) & 0xffu) != 0u);
  let v0_23: bool = (((w0_20 >> 24u) & 0xffu) != 0u);
  let v0_24: bool = (((w0_24 >> 0u) & 0xffu) != 0u);
  let v0_25: bool = (((w0_24 >> 8u) & 0xffu) != 0u);
  let v0_26: bool = (((w0_24 >> 16u) & 0xffu) != 0u);
  let v0_27: bool = (((w0_24 >> 24u) & 0xffu) != 0u);
  let v0_28: bool = (((w0_28 >> 0u) & 0xffu) != 0u);
  let v0_29: bool = (((w0_28 >> 8u) & 0xffu) != 0u);
  let v0_30: bool = (((w0_28 >> 16u) & 0xffu) != 0u);
  let v0_31: bool = (((w0_28 >> 24u) & 0xffu) != 0u);
  if (at0 < end) {
  a1 = (a1 || ((v0_0 || v0_1) || (v0_2 || v0_3)));
  }
  if (at4 < end) {
  a1 = (a1 || ((v0_4 || v0_5) || (v0_6 || v0_7)));
  }
  if (at8 < end) {
  a1 = (a1 || ((v0_8 || v0_9) || (v0_10 || v0_11)));
  }
  if (at12 < end) {
  a1 = (a1 || ((v0_12 || v0_13) || (v0_14 || v0_15)));
  }
  if (at16 < end) {
  a1 = (a1 || ((v0_16 || v0_17) || (v0_18 || v0_19)));
  }
  if (at20 < end) {
  a1 = (a1 || ((v0_20 || v0_21) || (v0_22 || v0_23)));
  }
  if (at24 < end) {
  a1 = (a1 || ((v0_24 || v0_25) || (v0_26 || v0_27)));
  }
  if (at28 < end) {
  a1 = (a1 || ((v0_28 || v0_29) || (v0_30 || v0_31)));
  }
  shared0_u32[local] = select(0u, 1u, a1);
  workgroupBarrier();
  for (var half = 16u; half > 0u; half >>= 1u) {
  if ((local & 31u) < half) {
  a1 = (a1 || (shared0_u32[local + half] != 0u));
  shared0_u32[local] = select(0u, 1u, a1);
  }
  workgroupBarrier();
  }
  a1 = (shared0_u32[local & 4294967264u] != 0u);
  workgroupBarrier();
  let one1: bool = a1;
  if (lane == 0u && end > 0u) { atomicAnd(&output0[(row * parameters.words[1].y) >> 2u], ~(0xffu << (((row * parameters.words[1].y) & 3u) * 8u))); atomicOr(&output0[(row * parameters.words[1].y) >> 2u], select(0u, 1u, one1) << (((row * parameters.words[1].y) & 3u) * 8u)); }
}
