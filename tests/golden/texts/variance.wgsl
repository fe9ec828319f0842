// step 0: reads [0], writes [5]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   %1:o:float32 = load 0 b
//   %2:f:float32 = subtract %0:float32 %1:float32
//   %3:o:float32 = fold squared_deviations %2:float32
//   %4:u:float32 = scalar 0
//   %5:o:float32 = divide %3:float32 %4:float32
//   store 0:float32 %5 o b

// workgroups: 244 x 1 x 1
// library: subtract_f32
// in range: no index is out of bounds
// rows_subtract_squared_deviations_divide parts
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
@group(0) @binding(3) var<storage, read_write> scratch1: array<f32>;
@group(0) @binding(4) var<storage, read_write> scratch2: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_f32: array<f32, 256>;
var<workgroup> shared2_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let split = walker / parameters.words[0].w;
  let row = walker - split * parameters.words[0].w;
  let begin = split * 256u;
  let end = parameters.words[0].z;
  let one4: f32 = bitcast<f32>(parameters.words[1].x);
  let one1: f32 = input0[0u];
  let origin = parameters.words[1].y;
  var n3: f32 = 0.0f;
  var m3: f32 = 0.0f;
  var a3: f32 = 0.0f;
  let b0_0 = 0u;
  let apart = parameters.words[1].z;
  {
  var column = begin + lane * 1u;
  for (; column + 7u * apart < end; column += 8u * apart) {
  let i0 = column + 0u * apart;
  let i1 = column + 1u * apart;
  let i2 = column + 2u * apart;
  let i3 = column + 3u * apart;
  let i4 = column + 4u * apart;
  let i5 = column + 5u * apart;
  let i6 = column + 6u * apart;
  let i7 = column + 7u * apart;
  let v0_0: f32 = input0[b0_0 + i0];
  let v0_1: f32 = input0[b0_0 + i1];
  let v0_2: f32 = input0[b0_0 + i2];
  let v0_3: f32 = input0[b0_0 + i3];
  let v0_4: f32 = input0[b0_0 + i4];
  let v0_5: f32 = input0[b0_0 + i5];
  let v0_6: f32 = input0[b0_0 + i6];
  let v0_7: f32 = input0[b0_0 + i7];
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v2_1: f32 = subtract_f32(v0_1, one1);
  let v2_2: f32 = subtract_f32(v0_2, one1);
  let v2_3: f32 = subtract_f32(v0_3, one1);
  let v2_4: f32 = subtract_f32(v0_4, one1);
  let v2_5: f32 = subtract_f32(v0_5, one1);
  let v2_6: f32 = subtract_f32(v0_6, one1);
  let v2_7: f32 = subtract_f32(v0_7, one1);
  {
  let total3 = ((v2_0 + v2_1) + (v2_2 + v2_3));
  let mean3 = total3 * 0.25f;
  let off3_0 = v2_0 - mean3;
  let off3_1 = v2_1 - mean3;
  let off3_2 = v2_2 - mean3;
  let off3_3 = v2_3 - mean3;
  let squares3 = ((off3_0 * off3_0 + off3_1 * off3_1) + (off3_2 * off3_2 + off3_3 * off3_3));
  { let gap = mean3 - m3; let share = 4.0f / max(n3 + 4.0f, 1.0f); a3 += squares3 + gap * gap * (n3 * share); m3 += gap * share; n3 += 4.0f; }
  }
  {
  let total3 = ((v2_4 + v2_5) + (v2_6 + v2_7));
  let mean3 = total3 * 0.25f;
  let off3_0 = v2_4 - mean3;
  let off3_1 = v2_5 - mean3;
  let off3_2 = v2_6 - mean3;
  let off3_3 = v2_7 - mean3;
  let squares3 = ((off3_0 * off3_0 + off3_1 * off3_1) + (off3_2 * off3_2 + off3_3 * off3_3));
  { let gap = mean3 - m3; let share = 4.0f / max(n3 + 4.0f, 1.0f); a3 += squares3 + gap * gap * (n3 * share); m3 += gap * share; n3 += 4.0f; }
  }
  }
  for (; column < end; column += 1u * apart) {
  let i0 = column;
  let v0_0: f32 = input0[b0_0 + i0];
  let v2_0: f32 = subtract_f32(v0_0, one1);
  { let gap = v2_0 - m3; let share = 1.0f / max(n3 + 1.0f, 1.0f); a3 += 0.0f + gap * gap * (n3 * share); m3 += gap * share; n3 += 1.0f; }
  } }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  { let gap = shared1_f32[local + half] - m3; let share = shared0_f32[local + half] / max(n3 + shared0_f32[local + half], 1.0f); a3 += shared2_f32[local + half] + gap * gap * (n3 * share); m3 += gap * share; n3 += shared0_f32[local + half]; }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  }
  workgroupBarrier();
  }
  n3 = shared0_f32[0u];
  m3 = shared1_f32[0u];
  a3 = shared2_f32[0u];
  workgroupBarrier();
  let part = (parameters.words[1].w + split) * parameters.words[2].x + row;
  if (lane == 0u) { scratch0[part] = n3; }
  if (lane == 0u) { scratch1[part] = m3; }
  if (lane == 0u) { scratch2[part] = a3; }
}

// workgroups: 1 x 1 x 1
// library: divide_f32, isfinite_f32
// in range: no index is out of bounds
// rows_subtract_squared_deviations_divide end
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
@group(0) @binding(3) var<storage, read> scratch0: array<f32>;
@group(0) @binding(4) var<storage, read> scratch1: array<f32>;
@group(0) @binding(5) var<storage, read> scratch2: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_f32: array<f32, 256>;
var<workgroup> shared2_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  let one4: f32 = bitcast<f32>(parameters.words[0].w);
  let one1: f32 = input0[0u];
  var n3: f32 = 0.0f;
  var m3: f32 = 0.0f;
  var a3: f32 = 0.0f;
  var part = lane;
  for (; part + 768u < parameters.words[1].x; part += 1024u) {
  let scratch0_0 = scratch0[(part + 0u) * parameters.words[1].y + row];
  let scratch0_1 = scratch0[(part + 256u) * parameters.words[1].y + row];
  let scratch0_2 = scratch0[(part + 512u) * parameters.words[1].y + row];
  let scratch0_3 = scratch0[(part + 768u) * parameters.words[1].y + row];
  let scratch1_0 = scratch1[(part + 0u) * parameters.words[1].y + row];
  let scratch1_1 = scratch1[(part + 256u) * parameters.words[1].y + row];
  let scratch1_2 = scratch1[(part + 512u) * parameters.words[1].y + row];
  let scratch1_3 = scratch1[(part + 768u) * parameters.words[1].y + row];
  let scratch2_0 = scratch2[(part + 0u) * parameters.words[1].y + row];
  let scratch2_1 = scratch2[(part + 256u) * parameters.words[1].y + row];
  let scratch2_2 = scratch2[(part + 512u) * parameters.words[1].y + row];
  let scratch2_3 = scratch2[(part + 768u) * parameters.words[1].y + row];
  { let gap = scratch1_0 - m3; let share = scratch0_0 / max(n3 + scratch0_0, 1.0f); a3 += scratch2_0 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_0; }
  { let gap = scratch1_1 - m3; let share = scratch0_1 / max(n3 + scratch0_1, 1.0f); a3 += scratch2_1 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_1; }
  { let gap = scratch1_2 - m3; let share = scratch0_2 / max(n3 + scratch0_2, 1.0f); a3 += scratch2_2 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_2; }
  { let gap = scratch1_3 - m3; let share = scratch0_3 / max(n3 + scratch0_3, 1.0f); a3 += scratch2_3 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_3; }
  }
  for (; part < parameters.words[1].x; part += 256u) {
  let scratch0_0 = scratch0[part * parameters.words[1].y + row];
  let scratch1_0 = scratch1[part * parameters.words[1].y + row];
  let scratch2_0 = scratch2[part * parameters.words[1].y + row];
  { let gap = scratch1_0 - m3; let share = scratch0_0 / max(n3 + scratch0_0, 1.0f); a3 += scratch2_0 + gap * gap * (n3 * share); m3 += gap * share; n3 += scratch0_0; }
  }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  { let gap = shared1_f32[local + half] - m3; let share = shared0_f32[local + half] / max(n3 + shared0_f32[local + half], 1.0f); a3 += shared2_f32[local + half] + gap * gap * (n3 * share); m3 += gap * share; n3 += shared0_f32[local + half]; }
  shared0_f32[local] = n3;
  shared1_f32[local] = m3;
  shared2_f32[local] = a3;
  }
  workgroupBarrier();
  }
  n3 = shared0_f32[0u];
  m3 = shared1_f32[0u];
  a3 = shared2_f32[0u];
  workgroupBarrier();
  let one3: f32 = select(bitcast<f32>(0x7fc00000u), a3, isfinite_f32(m3));
  let one5: f32 = divide_f32(one3, one4);
  if (lane == 0u) { output0[0u] = one5; }
}
