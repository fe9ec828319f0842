// step 0: reads [0, 2], writes [7]
//   loop 2+1
//   %0:f:float32 = load 0 s3
//   %1:f:float32 = load 1 s3
//   %2:f:float32 = subtract %0:float32 %1:float32
//   %3:f:float32 = square %2:float32
//   %4:o:float32 = fold sum %3:float32
//   %5:o:float32 = sqrt %4:float32
//   store 0:float32 %5 o c

// workgroups: 1 x 1 x 1
// library: add_f32, multiply_f32, sqrt_f32, subtract_f32
// in range: no index is out of bounds
// rows_subtract_square_sum_sqrt pairs
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> tile0: array<f32, 1040>;
var<workgroup> tile1: array<f32, 1040>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  var rest = block / parameters.words[1].y;
  let left = (block - rest * parameters.words[1].z) * 64u;
  let top = rest % parameters.words[1].w * 64u;
  let x = local % 16u; let y = local / 16u * 4u;
  var total_a10: f32 = 0.0f;
  var total_a16: f32 = 0.0f;
  var total_a22: f32 = 0.0f;
  var total_a28: f32 = 0.0f;
  var total_a34: f32 = 0.0f;
  var total_a40: f32 = 0.0f;
  var total_a46: f32 = 0.0f;
  var total_a52: f32 = 0.0f;
  var total_a58: f32 = 0.0f;
  var total_a64: f32 = 0.0f;
  var total_a70: f32 = 0.0f;
  var total_a76: f32 = 0.0f;
  var total_a82: f32 = 0.0f;
  var total_a88: f32 = 0.0f;
  var total_a94: f32 = 0.0f;
  var total_a100: f32 = 0.0f;
  let base0 = parameters.words[2].x;
  let base1 = parameters.words[3].x;
  for (var start = 0u; start < parameters.words[0].w; start += 16u) {
  for (var n = local; n < 1024u; n += 256u) { let d = n % 16u; let e = n / 16u;
  if (start + d < parameters.words[2].w) { tile0[d * 65u + e] = input0[base0 + min(top + e, parameters.words[0].y - 1u) * parameters.words[2].y + (start + d) * parameters.words[2].z]; } }
  for (var n = local; n < 1024u; n += 256u) { let d = n % 16u; let e = n / 16u;
  if (start + d < parameters.words[3].w) { tile1[d * 65u + e] = input1[base1 + min(left + e, parameters.words[0].z - 1u) * parameters.words[3].y + (start + d) * parameters.words[3].z]; } }
  workgroupBarrier();
  var a10: f32 = 0.0f;
  var a16: f32 = 0.0f;
  var a22: f32 = 0.0f;
  var a28: f32 = 0.0f;
  var a34: f32 = 0.0f;
  var a40: f32 = 0.0f;
  var a46: f32 = 0.0f;
  var a52: f32 = 0.0f;
  var a58: f32 = 0.0f;
  var a64: f32 = 0.0f;
  var a70: f32 = 0.0f;
  var a76: f32 = 0.0f;
  var a82: f32 = 0.0f;
  var a88: f32 = 0.0f;
  var a94: f32 = 0.0f;
  var a100: f32 = 0.0f;
  let count = min(16u, parameters.words[0].w - start);
  for (var k = 0u; k < count; k++) {
  let v0_r0: f32 = tile0[k * 65u + y + 0u];
  let v0_r1: f32 = tile0[k * 65u + y + 1u];
  let v0_r2: f32 = tile0[k * 65u + y + 2u];
  let v0_r3: f32 = tile0[k * 65u + y + 3u];
  let v1_c0: f32 = tile1[k * 65u + x + 0u];
  let v1_c1: f32 = tile1[k * 65u + x + 16u];
  let v1_c2: f32 = tile1[k * 65u + x + 32u];
  let v1_c3: f32 = tile1[k * 65u + x + 48u];
  {
  let v2_0_0: f32 = subtract_f32(v0_r0, v1_c0);
  let v3_0_0: f32 = multiply_f32(v2_0_0, v2_0_0);
  a10 = add_f32(a10, v3_0_0);
  }
  {
  let v2_0_1: f32 = subtract_f32(v0_r0, v1_c1);
  let v3_0_1: f32 = multiply_f32(v2_0_1, v2_0_1);
  a16 = add_f32(a16, v3_0_1);
  }
  {
  let v2_0_2: f32 = subtract_f32(v0_r0, v1_c2);
  let v3_0_2: f32 = multiply_f32(v2_0_2, v2_0_2);
  a22 = add_f32(a22, v3_0_2);
  }
  {
  let v2_0_3: f32 = subtract_f32(v0_r0, v1_c3);
  let v3_0_3: f32 = multiply_f32(v2_0_3, v2_0_3);
  a28 = add_f32(a28, v3_0_3);
  }
  {
  let v2_1_0: f32 = subtract_f32(v0_r1, v1_c0);
  let v3_1_0: f32 = multiply_f32(v2_1_0, v2_1_0);
  a34 = add_f32(a34, v3_1_0);
  }
  {
  let v2_1_1: f32 = subtract_f32(v0_r1, v1_c1);
  let v3_1_1: f32 = multiply_f32(v2_1_1, v2_1_1);
  a40 = add_f32(a40, v3_1_1);
  }
  {
  let v2_1_2: f32 = subtract_f32(v0_r1, v1_c2);
  let v3_1_2: f32 = multiply_f32(v2_1_2, v2_1_2);
  a46 = add_f32(a46, v3_1_2);
  }
  {
  let v2_1_3: f32 = subtract_f32(v0_r1, v1_c3);
  let v3_1_3: f32 = multiply_f32(v2_1_3, v2_1_3);
  a52 = add_f32(a52, v3_1_3);
  }
  {
  let v2_2_0: f32 = subtract_f32(v0_r2, v1_c0);
  let v3_2_0: f32 = multiply_f32(v2_2_0, v2_2_0);
  a58 = add_f32(a58, v3_2_0);
  }
  {
  let v2_2_1: f32 = subtract_f32(v0_r2, v1_c1);
  let v3_2_1: f32 = multiply_f32(v2_2_1, v2_2_1);
  a64 = add_f32(a64, v3_2_1);
  }
  {
  let v2_2_2: f32 = subtract_f32(v0_r2, v1_c2);
  let v3_2_2: f32 = multiply_f32(v2_2_2, v2_2_2);
  a70 = add_f32(a70, v3_2_2);
  }
  {
  let v2_2_3: f32 = subtract_f32(v0_r2, v1_c3);
  let v3_2_3: f32 = multiply_f32(v2_2_3, v2_2_3);
  a76 = add_f32(a76, v3_2_3);
  }
  {
  let v2_3_0: f32 = subtract_f32(v0_r3, v1_c0);
  let v3_3_0: f32 = multiply_f32(v2_3_0, v2_3_0);
  a82 = add_f32(a82, v3_3_0);
  }
  {
  let v2_3_1: f32 = subtract_f32(v0_r3, v1_c1);
  let v3_3_1: f32 = multiply_f32(v2_3_1, v2_3_1);
  a88 = add_f32(a88, v3_3_1);
  }
  {
  let v2_3_2: f32 = subtract_f32(v0_r3, v1_c2);
  let v3_3_2: f32 = multiply_f32(v2_3_2, v2_3_2);
  a94 = add_f32(a94, v3_3_2);
  }
  {
  let v2_3_3: f32 = subtract_f32(v0_r3, v1_c3);
  let v3_3_3: f32 = multiply_f32(v2_3_3, v2_3_3);
  a100 = add_f32(a100, v3_3_3);
  }
  }
  a10 = add_f32(a10, total_a10); total_a10 = a10;
  a16 = add_f32(a16, total_a16); total_a16 = a16;
  a22 = add_f32(a22, total_a22); total_a22 = a22;
  a28 = add_f32(a28, total_a28); total_a28 = a28;
  a34 = add_f32(a34, total_a34); total_a34 = a34;
  a40 = add_f32(a40, total_a40); total_a40 = a40;
  a46 = add_f32(a46, total_a46); total_a46 = a46;
  a52 = add_f32(a52, total_a52); total_a52 = a52;
  a58 = add_f32(a58, total_a58); total_a58 = a58;
  a64 = add_f32(a64, total_a64); total_a64 = a64;
  a70 = add_f32(a70, total_a70); total_a70 = a70;
  a76 = add_f32(a76, total_a76); total_a76 = a76;
  a82 = add_f32(a82, total_a82); total_a82 = a82;
  a88 = add_f32(a88, total_a88); total_a88 = a88;
  a94 = add_f32(a94, total_a94); total_a94 = a94;
  a100 = add_f32(a100, total_a100); total_a100 = a100;
  workgroupBarrier();
  }
  for (var n = 0u; n < 16u; n++) {
  var a4: f32 = 0.0f;
  switch n {
  case 0u: { a4 = total_a10; }
  case 1u: { a4 = total_a16; }
  case 2u: { a4 = total_a22; }
  case 3u: { a4 = total_a28; }
  case 4u: { a4 = total_a34; }
  case 5u: { a4 = total_a40; }
  case 6u: { a4 = total_a46; }
  case 7u: { a4 = total_a52; }
  case 8u: { a4 = total_a58; }
  case 9u: { a4 = total_a64; }
  case 10u: { a4 = total_a70; }
  case 11u: { a4 = total_a76; }
  case 12u: { a4 = total_a82; }
  case 13u: { a4 = total_a88; }
  case 14u: { a4 = total_a94; }
  default: { a4 = total_a100; }
  }
  let r0 = top + y + n / 4u;
  let r1 = left + x + n % 4u * 16u;
  if (r0 < parameters.words[0].y && r1 < parameters.words[0].z) {
  let one4: f32 = a4;
  let one5: f32 = sqrt_f32(one4);
  output0[r0 * parameters.words[4].x + r1 * parameters.words[4].y] = one5;
  } }
}
