// step 0: reads [0, 3], writes [6]
//   loop 0+1
//   %0:f:int64 = load 0 c
//   %1:u:int64 = scalar 0
//   %2:f:int64 = floor_divide %0:int64 %1:int64
//   %3:f:int64 = load 1 c
//   %4:u:int64 = scalar 1
//   %5:f:int64 = remainder %3:int64 %4:int64
//   %6:f:int64 = add %2:int64 %5:int64
//   store 0:int64 %6 f c

// workgroups: 1 x 1 x 1
// library: floor_divide_i64, remainder_i64
// in range: no index is out of bounds
// map_floor_divide_remainder_add
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<i64>;
@group(0) @binding(2) var<storage, read> input1: array<i64>;
@group(0) @binding(3) var<storage, read_write> output0: array<i64>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let one1: i64 = bitcast<i64>((u64(parameters.words[0].z) | (u64(parameters.words[0].w) << 32u)));
  let one4: i64 = bitcast<i64>((u64(parameters.words[1].x) | (u64(parameters.words[1].y) << 32u)));
  let i0 = first;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let v0_0: i64 = input0[i0];
  let v0_1: i64 = input0[i1];
  let v0_2: i64 = input0[i2];
  let v0_3: i64 = input0[i3];
  let v2_0: i64 = floor_divide_i64(v0_0, one1);
  let v2_1: i64 = floor_divide_i64(v0_1, one1);
  let v2_2: i64 = floor_divide_i64(v0_2, one1);
  let v2_3: i64 = floor_divide_i64(v0_3, one1);
  let v3_0: i64 = input1[i0];
  let v3_1: i64 = input1[i1];
  let v3_2: i64 = input1[i2];
  let v3_3: i64 = input1[i3];
  let v5_0: i64 = remainder_i64(v3_0, one4);
  let v5_1: i64 = remainder_i64(v3_1, one4);
  let v5_2: i64 = remainder_i64(v3_2, one4);
  let v5_3: i64 = remainder_i64(v3_3, one4);
  let v6_0: i64 = (v2_0 + v5_0);
  let v6_1: i64 = (v2_1 + v5_1);
  let v6_2: i64 = (v2_2 + v5_2);
  let v6_3: i64 = (v2_3 + v5_3);
  output0[i0] = v6_0;
  if (first + 256u < parameters.words[0].y) { output0[i1] = v6_1; }
  if (first + 512u < parameters.words[0].y) { output0[i2] = v6_2; }
  if (first + 768u < parameters.words[0].y) { output0[i3] = v6_3; }
}
