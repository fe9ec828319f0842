// step 0: reads [], writes [9]
//   loop 0+2
//   %0:f:float32 = index arange s2 [0, 1]
//   %1:u:float32 = scalar 2
//   %2:f:float32 = subtract %0:float32 %1:float32
//   %3:f:float32 = square %2:float32
//   %4:f:float32 = index arange s2 [3, 4]
//   %5:u:float32 = scalar 5
//   %6:f:float32 = subtract %4:float32 %5:float32
//   %7:f:float32 = square %6:float32
//   %8:f:float32 = add %3:float32 %7:float32
//   store 0:float32 %8 f c

// workgroups: 5 x 1 x 1
// library: add_f32, arange_f32, multiply_f32, subtract_f32
// in range: no index is out of bounds
// map_arange_subtract_square_arange_subtract_and_2
struct Parameters { words: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one1: f32 = bitcast<f32>(parameters.words[0].z);
  let one5: f32 = bitcast<f32>(parameters.words[0].w);
  let i0 = first;
  let c0_q1 = i0 / parameters.words[1].x;
  let c0_1 = i0 - c0_q1 * parameters.words[1].x;
  let c0_0 = c0_q1;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let v0_0: f32 = arange_f32(parameters.words[1].y + c0_0 * parameters.words[1].z, bitcast<f32>(parameters.words[2].y), bitcast<f32>(parameters.words[2].z));
  let v0_1: f32 = arange_f32(parameters.words[1].y + c0_0 * parameters.words[1].z, bitcast<f32>(parameters.words[2].y), bitcast<f32>(parameters.words[2].z));
  let v0_2: f32 = arange_f32(parameters.words[1].y + c0_0 * parameters.words[1].z, bitcast<f32>(parameters.words[2].y), bitcast<f32>(parameters.words[2].z));
  let v0_3: f32 = arange_f32(parameters.words[1].y + c0_0 * parameters.words[1].z, bitcast<f32>(parameters.words[2].y), bitcast<f32>(parameters.words[2].z));
  let v4_0: f32 = arange_f32(parameters.words[1].w + c0_1 * parameters.words[2].x, bitcast<f32>(parameters.words[2].w), bitcast<f32>(parameters.words[3].x));
  let v4_1: f32 = arange_f32(parameters.words[1].w + (c0_1 + 1u) * parameters.words[2].x, bitcast<f32>(parameters.words[2].w), bitcast<f32>(parameters.words[3].x));
  let v4_2: f32 = arange_f32(parameters.words[1].w + (c0_1 + 2u) * parameters.words[2].x, bitcast<f32>(parameters.words[2].w), bitcast<f32>(parameters.words[3].x));
  let v4_3: f32 = arange_f32(parameters.words[1].w + (c0_1 + 3u) * parameters.words[2].x, bitcast<f32>(parameters.words[2].w), bitcast<f32>(parameters.words[3].x));
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v2_1: f32 = subtract_f32(v0_1, one1);
  let v2_2: f32 = subtract_f32(v0_2, one1);
  let v2_3: f32 = subtract_f32(v0_3, one1);
  let v3_0: f32 = multiply_f32(v2_0, v2_0);
  let v3_1: f32 = multiply_f32(v2_1, v2_1);
  let v3_2: f32 = multiply_f32(v2_2, v2_2);
  let v3_3: f32 = multiply_f32(v2_3, v2_3);
  let v6_0: f32 = subtract_f32(v4_0, one5);
  let v6_1: f32 = subtract_f32(v4_1, one5);
  let v6_2: f32 = subtract_f32(v4_2, one5);
  let v6_3: f32 = subtract_f32(v4_3, one5);
  let v7_0: f32 = multiply_f32(v6_0, v6_0);
  let v7_1: f32 = multiply_f32(v6_1, v6_1);
  let v7_2: f32 = multiply_f32(v6_2, v6_2);
  let v7_3: f32 = multiply_f32(v6_3, v6_3);
  let v8_0: f32 = add_f32(v3_0, v7_0);
  let v8_1: f32 = add_f32(v3_1, v7_1);
  let v8_2: f32 = add_f32(v3_2, v7_2);
  let v8_3: f32 = add_f32(v3_3, v7_3);
  output0[first / 4u] = vec4<f32>(v8_0, v8_1, v8_2, v8_3);
}
