// step 0: reads [0, 1, 4], writes [6]
//   contract float32 c c
//   left loop 0+2
//   %0:f:float32 = load 0 c
//   %1:f:float32 = load 1 s2
//   %2:f:float32 = subtract %0:float32 %1:float32
//   store 0:float32 %2 f c

// workgroups: 2 x 1 x 1
// library: subtract_f32
// in range: no index is out of bounds
// contract_float32
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> top_value0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> top_value1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> input2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn top_value(first: u32) -> array<f32, 4> {
  let i0 = first;
  let c0_q1 = i0 / parameters.words[0].z;
  let c0_1 = i0 - c0_q1 * parameters.words[0].z;
  let c0_0 = c0_q1;
  let i1 = min(first + 1u, parameters.words[0].y - 1u);
  let i2 = min(first + 2u, parameters.words[0].y - 1u);
  let i3 = min(first + 3u, parameters.words[0].y - 1u);
  let w0 = top_value0[first / 4u];
  let w1 = top_value1[(parameters.words[0].w + c0_1 * parameters.words[1].x) / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v1_0: f32 = w1.x;
  let v1_1: f32 = w1.y;
  let v1_2: f32 = w1.z;
  let v1_3: f32 = w1.w;
  let v2_0: f32 = subtract_f32(v0_0, v1_0);
  let v2_1: f32 = subtract_f32(v0_1, v1_1);
  let v2_2: f32 = subtract_f32(v0_2, v1_2);
  let v2_3: f32 = subtract_f32(v0_3, v1_3);
  return array<f32, 4>(v2_0, v2_1, v2_2, v2_3);
}
var<workgroup> tiles: array<vec4<f32>, 136>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].y) { return; }
  var tile = block;
  var begin = 0u;
  let height = parameters.words[1].z;
  let width = parameters.words[1].w;
  let across = parameters.words[2].x;
  let down = parameters.words[2].y;
  let depth = parameters.words[2].z;
  var end = depth;
  let plane = tile / (across * down);
  let place = tile - plane * across * down;
  let top = place / across * 32u;
  let left = place % across * 32u;
  let base = plane * height;
  let member = local;
  let x = (member / 32u) % 1u * 8u + member % 32u / 2u % 8u;
  let y = member / 32u * 4u + member % 32u / 16u * 2u + member % 2u;
  let top_at = 0u + y;
  let left_at = 72u + x;
  let top_plane = parameters.words[3].z + plane * parameters.words[2].w;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 2u * 4u; let top_e0 = top_n0 / 2u;
  let top_o0 = (top_plane + min(top + top_e0, height - 1u) * parameters.words[3].x + top_d0 * parameters.words[3].y) / 4u;
  var top_v0_0: vec4<f32>;
  let left_plane = parameters.words[4].w + plane * parameters.words[3].w;
  let left_n0 = local + 0u;
  let left_e0 = left_n0 % 8u * 4u; let left_d0 = left_n0 / 8u;
  let left_o0 = (left_plane + min(left + left_e0, width - 4u) * parameters.words[4].x + left_d0 * parameters.words[4].y) / 4u;
  var left_v0_0: vec4<f32>;
  var sum0_0_0: vec4<f32>;
  var sum0_1_0: vec4<f32>;
  var sum0_2_0: vec4<f32>;
  var sum0_3_0: vec4<f32>;
  var start = begin;
  {
  let here = min(start, end - 8u);
  {
  let loaded = top_value((top_o0 + here / 4u) * 4u);
  top_v0_0 = vec4<f32>(loaded[0], loaded[1], loaded[2], loaded[3]);
  }
  {
  let loaded = input2[left_o0 + here * parameters.words[4].z];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  }
  loop {
  {
  tiles[0u + (top_d0 + 0u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.x;
  tiles[0u + (top_d0 + 1u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.y;
  tiles[0u + (top_d0 + 2u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.z;
  tiles[0u + (top_d0 + 3u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.w;
  }
  {
  tiles[72u + left_d0 * 8u + left_e0 / 4u] = left_v0_0;
  }
  workgroupBarrier();
  start += 8u;
  {
  let here = min(start, end - 8u);
  {
  let loaded = top_value((top_o0 + here / 4u) * 4u);
  top_v0_0 = vec4<f32>(loaded[0], loaded[1], loaded[2], loaded[3]);
  }
  {
  let loaded = input2[left_o0 + here * parameters.words[4].z];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  }
  for (var k = 0u; k < 8u; k++) {
  let a0_0 = tiles[0u + k * 9u + top_at];
  let b0_0 = tiles[0u + k * 8u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  if (start >= end) { break; }
  workgroupBarrier();
  }
  {
  let row = top + 0u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_0_0;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + 1u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_1_0;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + 2u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_2_0;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + 3u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_3_0;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
}
