// step 0: reads [0], writes [7]
//   loop 1+1
//   %0:f:float32 = load 0 c
//   %1:o:float32 = fold max %0:float32
//   %2:f:float32 = subtract %0:float32 %1:float32
//   %3:f:float32 = exp %2:float32
//   %4:o:float32 = fold sum %3:float32
//   %5:f:float32 = divide %3:float32 %4:float32
//   store 0:float32 %5 f c

// workgroups: 8 x 1 x 1
// library: add_f32, divide_f32, exp_f32, fast_path_divide_f32, fast_path_exp_f32, guard_exp_f32, guard_ratio_f32, subtract_f32
// in range: no index is out of bounds
// rows_max_subtract_exp_sum_divide
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn key1(x: f32) -> u32 {
  let bits = bitcast<i32>(bitcast<u32>(x));
  return bitcast<u32>(bits ^ ((bits >> 31u) | -0x80000000)) - 0x7fffffu;
}
fn value1(key: u32) -> f32 {
  let ordered = bitcast<i32>(key + 0x7fffffu);
  return bitcast<f32>(bitcast<u32>(ordered ^ ((~ordered >> 31u) | -0x80000000)));
}
var<workgroup> shared0_u32: array<u32, 256>;
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let origin = 0u;
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[0].w);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  var a1: u32 = 0u;
  let b0_0 = row * parameters.words[1].x;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  a1 = max(a1, max(max(select(0u, key1(v0_0), (at0 < end)), select(0u, key1(v0_1), (at0 < end))), max(select(0u, key1(v0_2), (at0 < end)), select(0u, key1(v0_3), (at0 < end)))));
  shared0_u32[local] = a1;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a1 = max(a1, shared0_u32[local + half]);
  shared0_u32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_u32[local & 4294967264u];
  workgroupBarrier();
  let one1: f32 = value1(a1);
  var a4: f32 = 0.0f;
  var fine3 = true;
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v2_1: f32 = subtract_f32(v0_1, one1);
  let v2_2: f32 = subtract_f32(v0_2, one1);
  let v2_3: f32 = subtract_f32(v0_3, one1);
  var v3_0: f32 = fast_path_exp_f32(v2_0);
  var v3_1: f32 = fast_path_exp_f32(v2_1);
  var v3_2: f32 = fast_path_exp_f32(v2_2);
  var v3_3: f32 = fast_path_exp_f32(v2_3);
  fine3 = guard_exp_f32(fine3, v2_0);
  fine3 = guard_exp_f32(fine3, v2_1);
  fine3 = guard_exp_f32(fine3, v2_2);
  fine3 = guard_exp_f32(fine3, v2_3);
  if (!fine3) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v0_0; } case 1u: { operand0 = v0_1; } case 2u: { operand0 = v0_2; } default: { operand0 = v0_3; } }
    let again2: f32 = subtract_f32(operand0, one1);
    let again3: f32 = exp_f32(again2);
    switch lane { case 0u: { v3_0 = again3; } case 1u: { v3_1 = again3; } case 2u: { v3_2 = again3; } default: { v3_3 = again3; } }
  } }
  a4 = add_f32(a4, add_f32(add_f32(select(0.0f, v3_0, (at0 < end)), select(0.0f, v3_1, (at0 < end))), add_f32(select(0.0f, v3_2, (at0 < end)), select(0.0f, v3_3, (at0 < end)))));
  shared0_f32[local] = a4;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a4 = add_f32(a4, shared0_f32[local + half]);
  shared0_f32[local] = a4;
  }
  workgroupBarrier();
  }
  a4 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  let one4: f32 = a4;
  let s2_0 = row * parameters.words[1].y;
  var fine5 = true;
  var v5_0: f32 = fast_path_divide_f32(v3_0, one4);
  var v5_1: f32 = fast_path_divide_f32(v3_1, one4);
  var v5_2: f32 = fast_path_divide_f32(v3_2, one4);
  var v5_3: f32 = fast_path_divide_f32(v3_3, one4);
  fine5 = guard_ratio_f32(fine5, v3_0, one4, v5_0);
  fine5 = guard_ratio_f32(fine5, v3_1, one4, v5_1);
  fine5 = guard_ratio_f32(fine5, v3_2, one4, v5_2);
  fine5 = guard_ratio_f32(fine5, v3_3, one4, v5_3);
  if (!fine5) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    switch lane { case 0u: { operand0 = v3_0; } case 1u: { operand0 = v3_1; } case 2u: { operand0 = v3_2; } default: { operand0 = v3_3; } }
    let again5: f32 = divide_f32(operand0, one4);
    switch lane { case 0u: { v5_0 = again5; } case 1u: { v5_1 = again5; } case 2u: { v5_2 = again5; } default: { v5_3 = again5; } }
  } }
  if (at0 < end) {
  output0[(s2_0 + i0) / 4u] = vec4<f32>(v5_0, v5_1, v5_2, v5_3);
  }
}
