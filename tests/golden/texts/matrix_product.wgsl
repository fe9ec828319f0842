// workgroups 2x1x1
// contract_float32
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read> input2: array<f32>;
@group(0) @binding(4) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
fn finish(i: u32, result: f32) {
  let q0_1 = i / parameters.words[0].y;
  let c0_1 = i - q0_1 * parameters.words[0].y;
  let c0_0 = q0_1;
  let v0_0: f32 = result;
  let v1_0: f32 = input2[parameters.words[0].z + c0_1 * parameters.words[0].w];
  let v2_0: f32 = add_f32(v0_0, v1_0);
  output0[i] = v2_0;
}
var<workgroup> left_tile: array<f32, 1024>;
var<workgroup> right_tile: array<f32, 1024>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  let height = parameters.words[1].y; let width = parameters.words[1].z; let depth = parameters.words[1].w;
  let plane = block / (parameters.words[2].x * parameters.words[2].y);
  let tile = block - plane * (parameters.words[2].x * parameters.words[2].y);
  let top = (tile / parameters.words[2].x) * 64u;
  let left = (tile % parameters.words[2].x) * 64u;
  let y = (local / 16u) * 4u;
  let x = (local % 16u) * 4u;
  var sum00: f32 = 0.0f;
  var sum01: f32 = 0.0f;
  var sum02: f32 = 0.0f;
  var sum03: f32 = 0.0f;
  var sum10: f32 = 0.0f;
  var sum11: f32 = 0.0f;
  var sum12: f32 = 0.0f;
  var sum13: f32 = 0.0f;
  var sum20: f32 = 0.0f;
  var sum21: f32 = 0.0f;
  var sum22: f32 = 0.0f;
  var sum23: f32 = 0.0f;
  var sum30: f32 = 0.0f;
  var sum31: f32 = 0.0f;
  var sum32: f32 = 0.0f;
  var sum33: f32 = 0.0f;
  for (var start = 0u; start < depth; start += 16u) {
  for (var n = local; n < 1024u; n += 256u) { let d = n % 16u; let e = n / 16u;
  var value: f32 = 0.0f;
  if (top + e < height && start + d < depth) { value = input0[parameters.words[3].y + plane * parameters.words[2].z + (top + e) * parameters.words[2].w + (start + d) * parameters.words[3].x]; }
  left_tile[d * 64u + e] = value; }
  for (var n = local; n < 1024u; n += 256u) { let e = n % 64u; let d = n / 64u;
  var value: f32 = 0.0f;
  if (left + e < width && start + d < depth) { value = input1[parameters.words[4].y + plane * parameters.words[3].z + (left + e) * parameters.words[4].x + (start + d) * parameters.words[3].w]; }
  right_tile[d * 64u + e] = value; }
  workgroupBarrier();
  for (var k = 0u; k < 16u; k++) {
  let a0 = left_tile[k * 64u + y + 0u];
  let b0 = right_tile[k * 64u + x + 0u];
  let a1 = left_tile[k * 64u + y + 1u];
  let b1 = right_tile[k * 64u + x + 1u];
  let a2 = left_tile[k * 64u + y + 2u];
  let b2 = right_tile[k * 64u + x + 2u];
  let a3 = left_tile[k * 64u + y + 3u];
  let b3 = right_tile[k * 64u + x + 3u];
  sum00 = add_f32(sum00, a0 * b0);
  sum01 = add_f32(sum01, a0 * b1);
  sum02 = add_f32(sum02, a0 * b2);
  sum03 = add_f32(sum03, a0 * b3);
  sum10 = add_f32(sum10, a1 * b0);
  sum11 = add_f32(sum11, a1 * b1);
  sum12 = add_f32(sum12, a1 * b2);
  sum13 = add_f32(sum13, a1 * b3);
  sum20 = add_f32(sum20, a2 * b0);
  sum21 = add_f32(sum21, a2 * b1);
  sum22 = add_f32(sum22, a2 * b2);
  sum23 = add_f32(sum23, a2 * b3);
  sum30 = add_f32(sum30, a3 * b0);
  sum31 = add_f32(sum31, a3 * b1);
  sum32 = add_f32(sum32, a3 * b2);
  sum33 = add_f32(sum33, a3 * b3);
  }
  workgroupBarrier();
  }
  if (top + y + 0u < height && left + x + 0u < width) { finish((plane * height + top + y + 0u) * width + left + x + 0u, sum00); }
  if (top + y + 0u < height && left + x + 1u < width) { finish((plane * height + top + y + 0u) * width + left + x + 1u, sum01); }
  if (top + y + 0u < height && left + x + 2u < width) { finish((plane * height + top + y + 0u) * width + left + x + 2u, sum02); }
  if (top + y + 0u < height && left + x + 3u < width) { finish((plane * height + top + y + 0u) * width + left + x + 3u, sum03); }
  if (top + y + 1u < height && left + x + 0u < width) { finish((plane * height + top + y + 1u) * width + left + x + 0u, sum10); }
  if (top + y + 1u < height && left + x + 1u < width) { finish((plane * height + top + y + 1u) * width + left + x + 1u, sum11); }
  if (top + y + 1u < height && left + x + 2u < width) { finish((plane * height + top + y + 1u) * width + left + x + 2u, sum12); }
  if (top + y + 1u < height && left + x + 3u < width) { finish((plane * height + top + y + 1u) * width + left + x + 3u, sum13); }
  if (top + y + 2u < height && left + x + 0u < width) { finish((plane * height + top + y + 2u) * width + left + x + 0u, sum20); }
  if (top + y + 2u < height && left + x + 1u < width) { finish((plane * height + top + y + 2u) * width + left + x + 1u, sum21); }
  if (top + y + 2u < height && left + x + 2u < width) { finish((plane * height + top + y + 2u) * width + left + x + 2u, sum22); }
  if (top + y + 2u < height && left + x + 3u < width) { finish((plane * height + top + y + 2u) * width + left + x + 3u, sum23); }
  if (top + y + 3u < height && left + x + 0u < width) { finish((plane * height + top + y + 3u) * width + left + x + 0u, sum30); }
  if (top + y + 3u < height && left + x + 1u < width) { finish((plane * height + top + y + 3u) * width + left + x + 1u, sum31); }
  if (top + y + 3u < height && left + x + 2u < width) { finish((plane * height + top + y + 3u) * width + left + x + 2u, sum32); }
  if (top + y + 3u < height && left + x + 3u < width) { finish((plane * height + top + y + 3u) * width + left + x + 3u, sum33); }
}
