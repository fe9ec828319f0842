// step 0: reads [0, 16], writes [17]
//   loop 1+1
//   %0:f:float32 = load 0 c
//   %1:o:float32 = fold sum %0:float32
//   %2:o:float32 = load 0 s1
//   %3:f:float32 = subtract %0:float32 %2:float32
//   %4:o:float32 = fold squared_deviations %3:float32
//   %5:u:float32 = scalar 0
//   %6:o:float32 = divide %4:float32 %5:float32
//   %7:u:float32 = scalar 1
//   %8:o:float32 = add %6:float32 %7:float32
//   %9:o:float32 = sqrt %8:float32
//   %10:u:float32 = scalar 2
//   %11:o:float32 = divide %1:float32 %10:float32
//   %12:f:float32 = subtract %0:float32 %11:float32
//   %13:f:float32 = divide %12:float32 %9:float32
//   %14:f:float32 = load 1 s2
//   %15:f:float32 = multiply %13:float32 %14:float32
//   store 0:float32 %15 f c

// workgroups: 8 x 1 x 1
// library: add_f32, divide_f32, fast_path_divide_f32, guard_ratio_f32, isfinite_f32, multiply_f32, sqrt_f32, subtract_f32
// in range: no index is out of bounds
// rows_sum_subtract_squared_deviations_divide_add_and_5
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
var<workgroup> shared1_f32: array<f32, 256>;
var<workgroup> shared2_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let one5: f32 = bitcast<f32>(parameters.words[0].w);
  let one7: f32 = bitcast<f32>(parameters.words[1].x);
  let one10: f32 = bitcast<f32>(parameters.words[1].y);
  let origin = 0u;
  let one2: f32 = input0[row * parameters.words[1].z];
  let at0 = lane + 0u;
  let i0 = min(at0, parameters.words[1].w);
  let at1 = lane + 32u;
  let i1 = min(at1, parameters.words[1].w);
  let at2 = lane + 64u;
  let i2 = min(at2, parameters.words[1].w);
  let at3 = lane + 96u;
  let i3 = min(at3, parameters.words[1].w);
  var a1: f32 = 0.0f;
  var n4: f32 = 0.0f;
  var m4: f32 = 0.0f;
  var a4: f32 = 0.0f;
  let b0_0 = row * parameters.words[2].x;
  let v0_0: f32 = input0[b0_0 + i0];
  let v0_1: f32 = input0[b0_0 + i1];
  let v0_2: f32 = input0[b0_0 + i2];
  let v0_3: f32 = input0[b0_0 + i3];
  let v3_0: f32 = subtract_f32(v0_0, one2);
  let v3_1: f32 = subtract_f32(v0_1, one2);
  let v3_2: f32 = subtract_f32(v0_2, one2);
  let v3_3: f32 = subtract_f32(v0_3, one2);
  a1 = add_f32(a1, add_f32(add_f32(select(0.0f, v0_0, (at0 < end)), select(0.0f, v0_1, (at1 < end))), add_f32(select(0.0f, v0_2, (at2 < end)), select(0.0f, v0_3, (at3 < end)))));
  {
  let count4 = ((select(0.0f, 1.0f, (at0 < end)) + select(0.0f, 1.0f, (at1 < end))) + (select(0.0f, 1.0f, (at2 < end)) + select(0.0f, 1.0f, (at3 < end))));
  let total4 = ((select(0.0f, v3_0, (at0 < end)) + select(0.0f, v3_1, (at1 < end))) + (select(0.0f, v3_2, (at2 < end)) + select(0.0f, v3_3, (at3 < end))));
  let mean4 = total4 / max(count4, 1.0f);
  let off4_0 = v3_0 - mean4;
  let off4_1 = v3_1 - mean4;
  let off4_2 = v3_2 - mean4;
  let off4_3 = v3_3 - mean4;
  let squares4 = ((select(0.0f, off4_0 * off4_0, (at0 < end)) + select(0.0f, off4_1 * off4_1, (at1 < end))) + (select(0.0f, off4_2 * off4_2, (at2 < end)) + select(0.0f, off4_3 * off4_3, (at3 < end))));
  { let gap = mean4 - m4; let share = count4 / max(n4 + count4, 1.0f); a4 += squares4 + gap * gap * (n4 * share); m4 += gap * share; n4 += count4; }
  }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  shared0_f32[local] = n4;
  shared1_f32[local] = m4;
  shared2_f32[local] = a4;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  { let gap = shared1_f32[local + half] - m4; let share = shared0_f32[local + half] / max(n4 + shared0_f32[local + half], 1.0f); a4 += shared2_f32[local + half] + gap * gap * (n4 * share); m4 += gap * share; n4 += shared0_f32[local + half]; }
  shared0_f32[local] = n4;
  shared1_f32[local] = m4;
  shared2_f32[local] = a4;
  }
  workgroupBarrier();
  }
  n4 = shared0_f32[local & 4294967264u];
  m4 = shared1_f32[local & 4294967264u];
  a4 = shared2_f32[local & 4294967264u];
  workgroupBarrier();
  let one1: f32 = a1;
  let one4: f32 = select(bitcast<f32>(0x7fc00000u), a4, isfinite_f32(m4));
  let one6: f32 = divide_f32(one4, one5);
  let one8: f32 = add_f32(one6, one7);
  let one9: f32 = sqrt_f32(one8);
  let one11: f32 = divide_f32(one1, one10);
  let b1_14 = 0u;
  let s1_0 = row * parameters.words[2].y;
  let v14_0: f32 = input1[b1_14 + i0];
  let v14_1: f32 = input1[b1_14 + i1];
  let v14_2: f32 = input1[b1_14 + i2];
  let v14_3: f32 = input1[b1_14 + i3];
  var fine13 = true;
  let v12_0: f32 = subtract_f32(v0_0, one11);
  let v12_1: f32 = subtract_f32(v0_1, one11);
  let v12_2: f32 = subtract_f32(v0_2, one11);
  let v12_3: f32 = subtract_f32(v0_3, one11);
  var v13_0: f32 = fast_path_divide_f32(v12_0, one9);
  var v13_1: f32 = fast_path_divide_f32(v12_1, one9);
  var v13_2: f32 = fast_path_divide_f32(v12_2, one9);
  var v13_3: f32 = fast_path_divide_f32(v12_3, one9);
  fine13 = guard_ratio_f32(fine13, v12_0, one9, v13_0);
  fine13 = guard_ratio_f32(fine13, v12_1, one9, v13_1);
  fine13 = guard_ratio_f32(fine13, v12_2, one9, v13_2);
  fine13 = guard_ratio_f32(fine13, v12_3, one9, v13_3);
  if (!fine13) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v0_0; } case 1u: { operand0 = v0_1; } case 2u: { operand0 = v0_2; } default: { operand0 = v0_3; } }
    let again12: f32 = subtract_f32(operand0, one11);
    let again13: f32 = divide_f32(again12, one9);
    switch lane { case 0u: { v13_0 = again13; } case 1u: { v13_1 = again13; } case 2u: { v13_2 = again13; } default: { v13_3 = again13; } }
  } }
  let v15_0: f32 = multiply_f32(v13_0, v14_0);
  let v15_1: f32 = multiply_f32(v13_1, v14_1);
  let v15_2: f32 = multiply_f32(v13_2, v14_2);
  let v15_3: f32 = multiply_f32(v13_3, v14_3);
  if (at0 < end) { output0[s1_0 + i0] = v15_0; }
  if (at1 < end) { output0[s1_0 + i1] = v15_1; }
  if (at2 < end) { output0[s1_0 + i2] = v15_2; }
  if (at3 < end) { output0[s1_0 + i3] = v15_3; }
}
