// step 0: reads [0], writes [7]
//   loop 1+1
//   %0:f:float32 = load 0 c
//   %1:o:float32 = fold max %0:float32
//   %2:f:float32 = subtract %0:float32 %1:float32
//   %3:f:float32 = exp %2:float32
//   %4:o:float32 = fold sum %3:float32
//   %5:f:float32 = divide %3:float32 %4:float32
//   store 0:float32 %5 f c

// workgroups: 12 x 1 x 1
// library: add_f32, divide_f32, exp_f32, subtract_f32
// in range: no index is out of bounds
// rows_max_subtract_exp_sum_divide
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn key1(x: f32) -> u32 {
  let bits = bitcast<i32>(bitcast<u32>(x));
  return bitcast<u32>(bits ^ ((bits >> 31u) | -0x80000000)) - 0x7fffffu;
}
fn value1(key: u32) -> f32 {
  let ordered = bitcast<i32>(key + 0x7fffffu);
  return bitcast<f32>(bitcast<u32>(ordered ^ ((~ordered >> 31u) | -0x80000000)));
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let walker = block * 256u + local;
  if (walker >= parameters.words[0].y) { return; }
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  let origin = 0u;
  var a1: u32 = 0u;
  let b0_0 = row * parameters.words[0].w;
  {
  var column = begin;
  for (; column < end; column += 1u * 1u) {
  let i0 = column;
  let v0_0: f32 = input0[b0_0 + i0];
  a1 = max(a1, key1(v0_0));
  } }
  let one1: f32 = value1(a1);
  var a4: f32 = 0.0f;
  let b1_0 = row * parameters.words[1].x;
  {
  var column = begin;
  for (; column < end; column += 1u * 1u) {
  let i0 = column;
  let v0_0: f32 = input0[b1_0 + i0];
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v3_0: f32 = exp_f32(v2_0);
  a4 = add_f32(a4, v3_0);
  } }
  let one4: f32 = a4;
  let b2_0 = row * parameters.words[1].y;
  let s2_0 = row * parameters.words[1].z;
  {
  var column = begin;
  for (; column < end; column += 1u * 1u) {
  let i0 = column;
  let v0_0: f32 = input0[b2_0 + i0];
  let v2_0: f32 = subtract_f32(v0_0, one1);
  let v3_0: f32 = exp_f32(v2_0);
  let v5_0: f32 = divide_f32(v3_0, one4);
  output0[s2_0 + i0] = v5_0;
  } }
}
