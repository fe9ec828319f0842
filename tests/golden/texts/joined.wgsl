// step 0: reads [0, 3, 6], writes [8]
//   loop 0+2
//   %0:f:int32 = index position c []
//   %1:f:float32 = take 0 %0
//   %2:u:float32 = scalar 0
//   %3:f:float32 = add %1:float32 %2:float32
//   %4:f:int32 = index position c []
//   %5:f:float32 = take 1 %4
//   %6:u:float32 = scalar 1
//   %7:f:float32 = multiply %5:float32 %6:float32
//   %8:f:int32 = index position c []
//   %9:f:float32 = take 2 %8
//   %10:f:bool = index not_negative s2 []
//   %11:f:float32 = where %10:bool %7:float32 %3:float32
//   %12:f:bool = index not_negative s2 []
//   %13:f:float32 = where %12:bool %9:float32 %11:float32
//   store 0:float32 %13 f c

// workgroups: 10 x 1 x 1
// library: add_f32, multiply_f32
// in range: no index is out of bounds
// map_position_add_position_multiply_position_and_4
struct Parameters { words: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read> input2: array<f32>;
@group(0) @binding(4) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one2: f32 = bitcast<f32>(parameters.words[0].z);
  let one6: f32 = bitcast<f32>(parameters.words[0].w);
  let i0 = first;
  let c0_q1 = i0 / parameters.words[1].x;
  let c0_1 = i0 - c0_q1 * parameters.words[1].x;
  let c0_0 = c0_q1;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let v0_0: i32 = i32(i0);
  let v0_1: i32 = i32(i1);
  let v0_2: i32 = i32(i2);
  let v0_3: i32 = i32(i3);
  let v1_0: f32 = input0[min(u32(v0_0), parameters.words[2].w)];
  let v1_1: f32 = input0[min(u32(v0_1), parameters.words[2].w)];
  let v1_2: f32 = input0[min(u32(v0_2), parameters.words[2].w)];
  let v1_3: f32 = input0[min(u32(v0_3), parameters.words[2].w)];
  let v4_0: i32 = i32(i0 + parameters.words[1].y);
  let v4_1: i32 = i32(i1 + parameters.words[1].y);
  let v4_2: i32 = i32(i2 + parameters.words[1].y);
  let v4_3: i32 = i32(i3 + parameters.words[1].y);
  let v5_0: f32 = input1[min(u32(v4_0), parameters.words[3].x)];
  let v5_1: f32 = input1[min(u32(v4_1), parameters.words[3].x)];
  let v5_2: f32 = input1[min(u32(v4_2), parameters.words[3].x)];
  let v5_3: f32 = input1[min(u32(v4_3), parameters.words[3].x)];
  let v8_0: i32 = i32(i0 + parameters.words[1].z);
  let v8_1: i32 = i32(i1 + parameters.words[1].z);
  let v8_2: i32 = i32(i2 + parameters.words[1].z);
  let v8_3: i32 = i32(i3 + parameters.words[1].z);
  let v9_0: f32 = input2[min(u32(v8_0), parameters.words[3].y)];
  let v9_1: f32 = input2[min(u32(v8_1), parameters.words[3].y)];
  let v9_2: f32 = input2[min(u32(v8_2), parameters.words[3].y)];
  let v9_3: f32 = input2[min(u32(v8_3), parameters.words[3].y)];
  let v10_0: bool = (i32(parameters.words[1].w + c0_0 * parameters.words[2].x) >= 0);
  let v10_1: bool = (i32(parameters.words[1].w + c0_0 * parameters.words[2].x) >= 0);
  let v10_2: bool = (i32(parameters.words[1].w + c0_0 * parameters.words[2].x) >= 0);
  let v10_3: bool = (i32(parameters.words[1].w + c0_0 * parameters.words[2].x) >= 0);
  let v12_0: bool = (i32(parameters.words[2].y + c0_0 * parameters.words[2].z) >= 0);
  let v12_1: bool = (i32(parameters.words[2].y + c0_0 * parameters.words[2].z) >= 0);
  let v12_2: bool = (i32(parameters.words[2].y + c0_0 * parameters.words[2].z) >= 0);
  let v12_3: bool = (i32(parameters.words[2].y + c0_0 * parameters.words[2].z) >= 0);
  let v3_0: f32 = add_f32(v1_0, one2);
  let v3_1: f32 = add_f32(v1_1, one2);
  let v3_2: f32 = add_f32(v1_2, one2);
  let v3_3: f32 = add_f32(v1_3, one2);
  let v7_0: f32 = multiply_f32(v5_0, one6);
  let v7_1: f32 = multiply_f32(v5_1, one6);
  let v7_2: f32 = multiply_f32(v5_2, one6);
  let v7_3: f32 = multiply_f32(v5_3, one6);
  let v11_0: f32 = select(v3_0, v7_0, v10_0);
  let v11_1: f32 = select(v3_1, v7_1, v10_1);
  let v11_2: f32 = select(v3_2, v7_2, v10_2);
  let v11_3: f32 = select(v3_3, v7_3, v10_3);
  let v13_0: f32 = select(v11_0, v9_0, v12_0);
  let v13_1: f32 = select(v11_1, v9_1, v12_1);
  let v13_2: f32 = select(v11_2, v9_2, v12_2);
  let v13_3: f32 = select(v11_3, v9_3, v12_3);
  output0[first / 4u] = vec4<f32>(v13_0, v13_1, v13_2, v13_3);
}
