// step 0: reads [0], writes [11]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   %1:f:float32 = sin %0:float32
//   %2:f:float32 = square %1:float32
//   %3:f:float32 = negative %0:float32
//   %4:f:float32 = multiply %3:float32 %0:float32
//   %5:f:float32 = exp %4:float32
//   %6:f:float32 = abs %0:float32
//   %7:u:float32 = scalar 0
//   %8:f:float32 = add %6:float32 %7:float32
//   %9:f:float32 = sqrt %8:float32
//   %10:f:float32 = multiply %5:float32 %9:float32
//   %11:f:float32 = add %2:float32 %10:float32
//   store 0:float32 %11 f c

// workgroups: 5 x 1 x 1
// library: abs_f32, add_f32, exp_f32, fast_path_exp_f32, fast_path_sin_f32, fast_path_sqrt_f32, guard_exp_f32, guard_sin_f32, guard_sqrt_f32, multiply_f32, negative_f32, sin_f32, sqrt_f32
// in range: no index is out of bounds
// map_sin_square_negative_multiply_exp_and_5
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one7: f32 = bitcast<f32>(parameters.words[0].z);
  let w0 = input0[first / 4u];
  var fine = true;
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  var v1_0: f32 = fast_path_sin_f32(v0_0);
  var v1_1: f32 = fast_path_sin_f32(v0_1);
  var v1_2: f32 = fast_path_sin_f32(v0_2);
  var v1_3: f32 = fast_path_sin_f32(v0_3);
  fine = guard_sin_f32(fine, v0_0);
  fine = guard_sin_f32(fine, v0_1);
  fine = guard_sin_f32(fine, v0_2);
  fine = guard_sin_f32(fine, v0_3);
  let v3_0: f32 = negative_f32(v0_0);
  let v3_1: f32 = negative_f32(v0_1);
  let v3_2: f32 = negative_f32(v0_2);
  let v3_3: f32 = negative_f32(v0_3);
  let v4_0: f32 = multiply_f32(v3_0, v0_0);
  let v4_1: f32 = multiply_f32(v3_1, v0_1);
  let v4_2: f32 = multiply_f32(v3_2, v0_2);
  let v4_3: f32 = multiply_f32(v3_3, v0_3);
  var v5_0: f32 = fast_path_exp_f32(v4_0);
  var v5_1: f32 = fast_path_exp_f32(v4_1);
  var v5_2: f32 = fast_path_exp_f32(v4_2);
  var v5_3: f32 = fast_path_exp_f32(v4_3);
  fine = guard_exp_f32(fine, v4_0);
  fine = guard_exp_f32(fine, v4_1);
  fine = guard_exp_f32(fine, v4_2);
  fine = guard_exp_f32(fine, v4_3);
  let v6_0: f32 = abs_f32(v0_0);
  let v6_1: f32 = abs_f32(v0_1);
  let v6_2: f32 = abs_f32(v0_2);
  let v6_3: f32 = abs_f32(v0_3);
  let v8_0: f32 = add_f32(v6_0, one7);
  let v8_1: f32 = add_f32(v6_1, one7);
  let v8_2: f32 = add_f32(v6_2, one7);
  let v8_3: f32 = add_f32(v6_3, one7);
  var v9_0: f32 = fast_path_sqrt_f32(v8_0);
  var v9_1: f32 = fast_path_sqrt_f32(v8_1);
  var v9_2: f32 = fast_path_sqrt_f32(v8_2);
  var v9_3: f32 = fast_path_sqrt_f32(v8_3);
  fine = guard_sqrt_f32(fine, v8_0);
  fine = guard_sqrt_f32(fine, v8_1);
  fine = guard_sqrt_f32(fine, v8_2);
  fine = guard_sqrt_f32(fine, v8_3);
  let v2_0: f32 = multiply_f32(v1_0, v1_0);
  let v2_1: f32 = multiply_f32(v1_1, v1_1);
  let v2_2: f32 = multiply_f32(v1_2, v1_2);
  let v2_3: f32 = multiply_f32(v1_3, v1_3);
  let v10_0: f32 = multiply_f32(v5_0, v9_0);
  let v10_1: f32 = multiply_f32(v5_1, v9_1);
  let v10_2: f32 = multiply_f32(v5_2, v9_2);
  let v10_3: f32 = multiply_f32(v5_3, v9_3);
  let v11_0: f32 = add_f32(v2_0, v10_0);
  let v11_1: f32 = add_f32(v2_1, v10_1);
  let v11_2: f32 = add_f32(v2_2, v10_2);
  let v11_3: f32 = add_f32(v2_3, v10_3);
  if (!fine) {
  for (var lane = 0u; lane < 4u; lane++) {
    let at = first + lane;
    if (at >= parameters.words[0].y) { break; }
    let v0_0: f32 = input0[(at) / 4u][(at) % 4u];
    let again1: f32 = sin_f32(v0_0);
    let again2: f32 = multiply_f32(again1, again1);
    let again3: f32 = negative_f32(v0_0);
    let again4: f32 = multiply_f32(again3, v0_0);
    let again5: f32 = exp_f32(again4);
    let again6: f32 = abs_f32(v0_0);
    let again8: f32 = add_f32(again6, one7);
    let again9: f32 = sqrt_f32(again8);
    let again10: f32 = multiply_f32(again5, again9);
    let again11: f32 = add_f32(again2, again10);
    output0[(at) / 4u][(at) % 4u] = again11;
  }
  return;
  }
  output0[first / 4u] = vec4<f32>(v11_0, v11_1, v11_2, v11_3);
}
