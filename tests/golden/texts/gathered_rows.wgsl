// step 0: reads [1, 0], writes [13]
//   loop 0+2
//   %0:f:int64 = load 0 s2
//   %1:f:int32 = cast %0:int64
//   %2:u:int32 = scalar 0
//   %3:f:int32 = multiply %1:int32 %2:int32
//   %4:u:int32 = scalar 1
//   %5:f:int32 = index arange s2 [2, 3]
//   %6:f:int32 = add %4:int32 %5:int32
//   %7:f:int32 = add %3:int32 %6:int32
//   %8:f:float32 = take 1 %7
//   %9:u:float32 = scalar 4
//   %10:f:float32 = add %8:float32 %9:float32
//   store 0:float32 %10 f c

// workgroups: 1 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// map_cast_multiply_arange_add
struct Parameters { words: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<i64>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local * 4u;
  if (first >= parameters.words[0].y) { return; }
  let one2: i32 = bitcast<i32>(parameters.words[0].z);
  let one4: i32 = bitcast<i32>(parameters.words[0].w);
  let one9: f32 = bitcast<f32>(parameters.words[1].x);
  let i0 = first;
  let c0_q1 = i0 / parameters.words[1].y;
  let c0_1 = i0 - c0_q1 * parameters.words[1].y;
  let c0_0 = c0_q1;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let v0_0: i64 = input0[parameters.words[1].z + c0_0 * parameters.words[1].w];
  let v0_1: i64 = v0_0;
  let v0_2: i64 = v0_0;
  let v0_3: i64 = v0_0;
  let v5_0: i32 = (bitcast<i32>(parameters.words[2].z) + i32(parameters.words[2].x + c0_1 * parameters.words[2].y) * bitcast<i32>(parameters.words[2].w));
  let v5_1: i32 = (bitcast<i32>(parameters.words[2].z) + i32(parameters.words[2].x + (c0_1 + 1u) * parameters.words[2].y) * bitcast<i32>(parameters.words[2].w));
  let v5_2: i32 = (bitcast<i32>(parameters.words[2].z) + i32(parameters.words[2].x + (c0_1 + 2u) * parameters.words[2].y) * bitcast<i32>(parameters.words[2].w));
  let v5_3: i32 = (bitcast<i32>(parameters.words[2].z) + i32(parameters.words[2].x + (c0_1 + 3u) * parameters.words[2].y) * bitcast<i32>(parameters.words[2].w));
  let v1_0: i32 = i32(v0_0);
  let v1_1: i32 = i32(v0_1);
  let v1_2: i32 = i32(v0_2);
  let v1_3: i32 = i32(v0_3);
  let v3_0: i32 = (v1_0 * one2);
  let v3_1: i32 = (v1_1 * one2);
  let v3_2: i32 = (v1_2 * one2);
  let v3_3: i32 = (v1_3 * one2);
  let v6_0: i32 = (one4 + v5_0);
  let v6_1: i32 = (one4 + v5_1);
  let v6_2: i32 = (one4 + v5_2);
  let v6_3: i32 = (one4 + v5_3);
  let v7_0: i32 = (v3_0 + v6_0);
  let v7_1: i32 = (v3_1 + v6_1);
  let v7_2: i32 = (v3_2 + v6_2);
  let v7_3: i32 = (v3_3 + v6_3);
  let v8_0: f32 = input1[min(u32(v7_0), parameters.words[3].x)];
  let v8_1: f32 = input1[min(u32(v7_1), parameters.words[3].x)];
  let v8_2: f32 = input1[min(u32(v7_2), parameters.words[3].x)];
  let v8_3: f32 = input1[min(u32(v7_3), parameters.words[3].x)];
  let v10_0: f32 = add_f32(v8_0, one9);
  let v10_1: f32 = add_f32(v8_1, one9);
  let v10_2: f32 = add_f32(v8_2, one9);
  let v10_3: f32 = add_f32(v8_3, one9);
  output0[first / 4u] = vec4<f32>(v10_0, v10_1, v10_2, v10_3);
}
