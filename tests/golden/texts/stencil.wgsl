// step 0: reads [0], writes [9]
//   loop 0+2
//   %0:f:float32 = load 0 s2
//   %1:f:float32 = load 0 s2
//   %2:f:float32 = add %0:float32 %1:float32
//   %3:f:float32 = load 0 s2
//   %4:f:float32 = add %2:float32 %3:float32
//   %5:f:float32 = load 0 s2
//   %6:f:float32 = add %4:float32 %5:float32
//   %7:u:float32 = scalar 0
//   %8:f:float32 = divide %6:float32 %7:float32
//   store 0:float32 %8 f c

// workgroups: 468 x 1 x 1
// library: add_f32, divide_f32, fast_path_divide_f32, guard_ratio_f32
// in range: no index is out of bounds
// map_add_divide below
struct Parameters { words: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let own = (group.x + group.y * groups.x) * 256u + local;
  if (own >= parameters.words[1].x) { return; }
  var rest = own / parameters.words[0].y;
  let column = own - rest * parameters.words[0].y;
  let first = rest * 4u;
  let one7: f32 = bitcast<f32>(parameters.words[1].y);
  let row0 = min(first + 0u, parameters.words[0].z - 1u);
  let i0 = (row0) * parameters.words[0].y + column;
  let row1 = min(first + 1u, parameters.words[0].z - 1u);
  let i1 = (row1) * parameters.words[0].y + column;
  let row2 = min(first + 2u, parameters.words[0].z - 1u);
  let i2 = (row2) * parameters.words[0].y + column;
  let row3 = min(first + 3u, parameters.words[0].z - 1u);
  let i3 = (row3) * parameters.words[0].y + column;
  let base0 = parameters.words[2].x + column * parameters.words[1].w;
  let l0_0 = input0[base0 + min(first + 0u, parameters.words[0].z - 1u + 2u) * parameters.words[1].z];
  let l0_1 = input0[base0 + min(first + 1u, parameters.words[0].z - 1u + 2u) * parameters.words[1].z];
  let l0_2 = input0[base0 + min(first + 2u, parameters.words[0].z - 1u + 2u) * parameters.words[1].z];
  let l0_3 = input0[base0 + min(first + 3u, parameters.words[0].z - 1u + 2u) * parameters.words[1].z];
  let l0_4 = input0[base0 + min(first + 4u, parameters.words[0].z - 1u + 2u) * parameters.words[1].z];
  let l0_5 = input0[base0 + min(first + 5u, parameters.words[0].z - 1u + 2u) * parameters.words[1].z];
  let base1 = parameters.words[2].w + column * parameters.words[2].z;
  let l1_0 = input0[base1 + min(first + 0u, parameters.words[0].z - 1u + 0u) * parameters.words[2].y];
  let l1_1 = input0[base1 + min(first + 1u, parameters.words[0].z - 1u + 0u) * parameters.words[2].y];
  let l1_2 = input0[base1 + min(first + 2u, parameters.words[0].z - 1u + 0u) * parameters.words[2].y];
  let l1_3 = input0[base1 + min(first + 3u, parameters.words[0].z - 1u + 0u) * parameters.words[2].y];
  let base2 = parameters.words[3].z + column * parameters.words[3].y;
  let l2_0 = input0[base2 + min(first + 0u, parameters.words[0].z - 1u + 0u) * parameters.words[3].x];
  let l2_1 = input0[base2 + min(first + 1u, parameters.words[0].z - 1u + 0u) * parameters.words[3].x];
  let l2_2 = input0[base2 + min(first + 2u, parameters.words[0].z - 1u + 0u) * parameters.words[3].x];
  let l2_3 = input0[base2 + min(first + 3u, parameters.words[0].z - 1u + 0u) * parameters.words[3].x];
  let v0_0: f32 = l0_0;
  let v0_1: f32 = l0_1;
  let v0_2: f32 = l0_2;
  let v0_3: f32 = l0_3;
  let v1_0: f32 = l0_2;
  let v1_1: f32 = l0_3;
  let v1_2: f32 = l0_4;
  let v1_3: f32 = l0_5;
  let v3_0: f32 = l1_0;
  let v3_1: f32 = l1_1;
  let v3_2: f32 = l1_2;
  let v3_3: f32 = l1_3;
  let v5_0: f32 = l2_0;
  let v5_1: f32 = l2_1;
  let v5_2: f32 = l2_2;
  let v5_3: f32 = l2_3;
  var fine8 = true;
  let v2_0: f32 = add_f32(v0_0, v1_0);
  let v2_1: f32 = add_f32(v0_1, v1_1);
  let v2_2: f32 = add_f32(v0_2, v1_2);
  let v2_3: f32 = add_f32(v0_3, v1_3);
  let v4_0: f32 = add_f32(v2_0, v3_0);
  let v4_1: f32 = add_f32(v2_1, v3_1);
  let v4_2: f32 = add_f32(v2_2, v3_2);
  let v4_3: f32 = add_f32(v2_3, v3_3);
  let v6_0: f32 = add_f32(v4_0, v5_0);
  let v6_1: f32 = add_f32(v4_1, v5_1);
  let v6_2: f32 = add_f32(v4_2, v5_2);
  let v6_3: f32 = add_f32(v4_3, v5_3);
  var v8_0: f32 = fast_path_divide_f32(v6_0, one7);
  var v8_1: f32 = fast_path_divide_f32(v6_1, one7);
  var v8_2: f32 = fast_path_divide_f32(v6_2, one7);
  var v8_3: f32 = fast_path_divide_f32(v6_3, one7);
  fine8 = guard_ratio_f32(fine8, v6_0, one7, v8_0);
  fine8 = guard_ratio_f32(fine8, v6_1, one7, v8_1);
  fine8 = guard_ratio_f32(fine8, v6_2, one7, v8_2);
  fine8 = guard_ratio_f32(fine8, v6_3, one7, v8_3);
  if (!fine8) {
  for (var lane = 0u; lane < 4u; lane++) {
    var operand0: f32;
    var operand1: f32;
    var operand2: f32;
    var operand3: f32;
    switch lane { case 0u: { operand0 = v0_0; operand1 = v1_0; operand2 = v3_0; operand3 = v5_0; } case 1u: { operand0 = v0_1; operand1 = v1_1; operand2 = v3_1; operand3 = v5_1; } case 2u: { operand0 = v0_2; operand1 = v1_2; operand2 = v3_2; operand3 = v5_2; } default: { operand0 = v0_3; operand1 = v1_3; operand2 = v3_3; operand3 = v5_3; } }
    let again2: f32 = add_f32(operand0, operand1);
    let again4: f32 = add_f32(again2, operand2);
    let again6: f32 = add_f32(again4, operand3);
    let again8: f32 = divide_f32(again6, one7);
    switch lane { case 0u: { v8_0 = again8; } case 1u: { v8_1 = again8; } case 2u: { v8_2 = again8; } default: { v8_3 = again8; } }
  } }
  output0[i0] = v8_0;
  if (first + 1u < parameters.words[0].z) { output0[i1] = v8_1; }
  if (first + 2u < parameters.words[0].z) { output0[i2] = v8_2; }
  if (first + 3u < parameters.words[0].z) { output0[i3] = v8_3; }
}
