// workgroups 1x1x1
// map_floor_divide_remainder_add
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<i64>;
@group(0) @binding(2) var<storage, read> input1: array<i64>;
@group(0) @binding(3) var<storage, read_write> output0: array<i64>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn floor_divide_i64(x: i64, y: i64) -> i64 {
  if (y == 0) { return i64(0); }
  if (y == -1) { return -x; }
  let quotient = x / y;
  return quotient - i64((quotient * y != x) && ((x < 0) != (y < 0)));
}
fn fmod_i64(x: i64, y: i64) -> i64 {
  if (y == 0 || y == -1) { return i64(0); }
  return x - (x / y) * y;
}
fn remainder_i64(x: i64, y: i64) -> i64 {
  let left = fmod_i64(x, y);
  return select(left, left + y, left != 0 && ((left < 0) != (y < 0)));
}
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
