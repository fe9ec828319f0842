// workgroups 6x1x1
// contract_float32
struct Parameters { words: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> top_tile: array<vec4<f32>, 288>;
var<workgroup> left_tile: array<vec4<f32>, 288>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let height = parameters.words[0].z;
  let width = parameters.words[0].w;
  let depth = parameters.words[1].x;
  let across = parameters.words[1].y;
  let down = parameters.words[1].z;
  let tile = block;
  let begin = 0u;
  let end = depth;
  let plane = tile / (across * down);
  let place = tile - plane * across * down;
  let top = place / across * 32u;
  let left = place % across * 32u;
  let x = (local / 32u) % 1u * 8u + local % 8u;
  let y = local / 32u * 4u + local % 32u / 8u;
  let top_plane = parameters.words[2].z + plane * parameters.words[1].w;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 8u * 4u; let top_e0 = top_n0 / 8u;
  let top_o0 = top_plane + min(top + top_e0, height - 1u) * parameters.words[2].x + top_d0 * parameters.words[2].y;
  var top_v0_0: vec4<f32>;
  let top_n1 = local + 64u;
  let top_d1 = top_n1 % 8u * 4u; let top_e1 = top_n1 / 8u;
  let top_o1 = top_plane + min(top + top_e1, height - 1u) * parameters.words[2].x + top_d1 * parameters.words[2].y;
  var top_v0_1: vec4<f32>;
  let top_n2 = local + 128u;
  let top_d2 = top_n2 % 8u * 4u; let top_e2 = top_n2 / 8u;
  let top_o2 = top_plane + min(top + top_e2, height - 1u) * parameters.words[2].x + top_d2 * parameters.words[2].y;
  var top_v0_2: vec4<f32>;
  let top_n3 = local + 192u;
  let top_d3 = top_n3 % 8u * 4u; let top_e3 = top_n3 / 8u;
  let top_o3 = top_plane + min(top + top_e3, height - 1u) * parameters.words[2].x + top_d3 * parameters.words[2].y;
  var top_v0_3: vec4<f32>;
  let left_plane = parameters.words[3].z + plane * parameters.words[2].w;
  let left_n0 = local + 0u;
  let left_d0 = left_n0 % 8u * 4u; let left_e0 = left_n0 / 8u;
  let left_o0 = left_plane + min(left + left_e0, width - 1u) * parameters.words[3].x + left_d0 * parameters.words[3].y;
  var left_v0_0: vec4<f32>;
  let left_n1 = local + 64u;
  let left_d1 = left_n1 % 8u * 4u; let left_e1 = left_n1 / 8u;
  let left_o1 = left_plane + min(left + left_e1, width - 1u) * parameters.words[3].x + left_d1 * parameters.words[3].y;
  var left_v0_1: vec4<f32>;
  let left_n2 = local + 128u;
  let left_d2 = left_n2 % 8u * 4u; let left_e2 = left_n2 / 8u;
  let left_o2 = left_plane + min(left + left_e2, width - 1u) * parameters.words[3].x + left_d2 * parameters.words[3].y;
  var left_v0_2: vec4<f32>;
  let left_n3 = local + 192u;
  let left_d3 = left_n3 % 8u * 4u; let left_e3 = left_n3 / 8u;
  let left_o3 = left_plane + min(left + left_e3, width - 1u) * parameters.words[3].x + left_d3 * parameters.words[3].y;
  var left_v0_3: vec4<f32>;
  var sum0_0_0: vec4<f32>;
  var sum0_1_0: vec4<f32>;
  var sum0_2_0: vec4<f32>;
  var sum0_3_0: vec4<f32>;
  var start = begin;
  top_v0_0 = vec4<f32>();
  if (start + top_d0 < end) {
  let loaded = input0[(top_o0 + start * parameters.words[2].y) / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_1 = vec4<f32>();
  if (start + top_d1 < end) {
  let loaded = input0[(top_o1 + start * parameters.words[2].y) / 4u];
  top_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_2 = vec4<f32>();
  if (start + top_d2 < end) {
  let loaded = input0[(top_o2 + start * parameters.words[2].y) / 4u];
  top_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_3 = vec4<f32>();
  if (start + top_d3 < end) {
  let loaded = input0[(top_o3 + start * parameters.words[2].y) / 4u];
  top_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_0 = vec4<f32>();
  if (start + left_d0 < end) {
  let loaded = input1[(left_o0 + start * parameters.words[3].y) / 4u];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_1 = vec4<f32>();
  if (start + left_d1 < end) {
  let loaded = input1[(left_o1 + start * parameters.words[3].y) / 4u];
  left_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_2 = vec4<f32>();
  if (start + left_d2 < end) {
  let loaded = input1[(left_o2 + start * parameters.words[3].y) / 4u];
  left_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_3 = vec4<f32>();
  if (start + left_d3 < end) {
  let loaded = input1[(left_o3 + start * parameters.words[3].y) / 4u];
  left_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  loop {
  top_tile[0u + (top_d0 + 0u) * 9u + top_e0 / 4u][top_e0 % 4u] = top_v0_0.x;
  top_tile[0u + (top_d0 + 1u) * 9u + top_e0 / 4u][top_e0 % 4u] = top_v0_0.y;
  top_tile[0u + (top_d0 + 2u) * 9u + top_e0 / 4u][top_e0 % 4u] = top_v0_0.z;
  top_tile[0u + (top_d0 + 3u) * 9u + top_e0 / 4u][top_e0 % 4u] = top_v0_0.w;
  top_tile[0u + (top_d1 + 0u) * 9u + top_e1 / 4u][top_e1 % 4u] = top_v0_1.x;
  top_tile[0u + (top_d1 + 1u) * 9u + top_e1 / 4u][top_e1 % 4u] = top_v0_1.y;
  top_tile[0u + (top_d1 + 2u) * 9u + top_e1 / 4u][top_e1 % 4u] = top_v0_1.z;
  top_tile[0u + (top_d1 + 3u) * 9u + top_e1 / 4u][top_e1 % 4u] = top_v0_1.w;
  top_tile[0u + (top_d2 + 0u) * 9u + top_e2 / 4u][top_e2 % 4u] = top_v0_2.x;
  top_tile[0u + (top_d2 + 1u) * 9u + top_e2 / 4u][top_e2 % 4u] = top_v0_2.y;
  top_tile[0u + (top_d2 + 2u) * 9u + top_e2 / 4u][top_e2 % 4u] = top_v0_2.z;
  top_tile[0u + (top_d2 + 3u) * 9u + top_e2 / 4u][top_e2 % 4u] = top_v0_2.w;
  top_tile[0u + (top_d3 + 0u) * 9u + top_e3 / 4u][top_e3 % 4u] = top_v0_3.x;
  top_tile[0u + (top_d3 + 1u) * 9u + top_e3 / 4u][top_e3 % 4u] = top_v0_3.y;
  top_tile[0u + (top_d3 + 2u) * 9u + top_e3 / 4u][top_e3 % 4u] = top_v0_3.z;
  top_tile[0u + (top_d3 + 3u) * 9u + top_e3 / 4u][top_e3 % 4u] = top_v0_3.w;
  left_tile[0u + (left_d0 + 0u) * 9u + left_e0 / 4u][left_e0 % 4u] = left_v0_0.x;
  left_tile[0u + (left_d0 + 1u) * 9u + left_e0 / 4u][left_e0 % 4u] = left_v0_0.y;
  left_tile[0u + (left_d0 + 2u) * 9u + left_e0 / 4u][left_e0 % 4u] = left_v0_0.z;
  left_tile[0u + (left_d0 + 3u) * 9u + left_e0 / 4u][left_e0 % 4u] = left_v0_0.w;
  left_tile[0u + (left_d1 + 0u) * 9u + left_e1 / 4u][left_e1 % 4u] = left_v0_1.x;
  left_tile[0u + (left_d1 + 1u) * 9u + left_e1 / 4u][left_e1 % 4u] = left_v0_1.y;
  left_tile[0u + (left_d1 + 2u) * 9u + left_e1 / 4u][left_e1 % 4u] = left_v0_1.z;
  left_tile[0u + (left_d1 + 3u) * 9u + left_e1 / 4u][left_e1 % 4u] = left_v0_1.w;
  left_tile[0u + (left_d2 + 0u) * 9u + left_e2 / 4u][left_e2 % 4u] = left_v0_2.x;
  left_tile[0u + (left_d2 + 1u) * 9u + left_e2 / 4u][left_e2 % 4u] = left_v0_2.y;
  left_tile[0u + (left_d2 + 2u) * 9u + left_e2 / 4u][left_e2 % 4u] = left_v0_2.z;
  left_tile[0u + (left_d2 + 3u) * 9u + left_e2 / 4u][left_e2 % 4u] = left_v0_2.w;
  left_tile[0u + (left_d3 + 0u) * 9u + left_e3 / 4u][left_e3 % 4u] = left_v0_3.x;
  left_tile[0u + (left_d3 + 1u) * 9u + left_e3 / 4u][left_e3 % 4u] = left_v0_3.y;
  left_tile[0u + (left_d3 + 2u) * 9u + left_e3 / 4u][left_e3 % 4u] = left_v0_3.z;
  left_tile[0u + (left_d3 + 3u) * 9u + left_e3 / 4u][left_e3 % 4u] = left_v0_3.w;
  workgroupBarrier();
  start += 32u;
  top_v0_0 = vec4<f32>();
  if (start + top_d0 < end) {
  let loaded = input0[(top_o0 + start * parameters.words[2].y) / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_1 = vec4<f32>();
  if (start + top_d1 < end) {
  let loaded = input0[(top_o1 + start * parameters.words[2].y) / 4u];
  top_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_2 = vec4<f32>();
  if (start + top_d2 < end) {
  let loaded = input0[(top_o2 + start * parameters.words[2].y) / 4u];
  top_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_3 = vec4<f32>();
  if (start + top_d3 < end) {
  let loaded = input0[(top_o3 + start * parameters.words[2].y) / 4u];
  top_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_0 = vec4<f32>();
  if (start + left_d0 < end) {
  let loaded = input1[(left_o0 + start * parameters.words[3].y) / 4u];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_1 = vec4<f32>();
  if (start + left_d1 < end) {
  let loaded = input1[(left_o1 + start * parameters.words[3].y) / 4u];
  left_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_2 = vec4<f32>();
  if (start + left_d2 < end) {
  let loaded = input1[(left_o2 + start * parameters.words[3].y) / 4u];
  left_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_3 = vec4<f32>();
  if (start + left_d3 < end) {
  let loaded = input1[(left_o3 + start * parameters.words[3].y) / 4u];
  left_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  {
  let a0_0 = top_tile[0u + 0u * 9u + y];
  let b0_0 = left_tile[0u + 0u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 1u * 9u + y];
  let b0_0 = left_tile[0u + 1u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 2u * 9u + y];
  let b0_0 = left_tile[0u + 2u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 3u * 9u + y];
  let b0_0 = left_tile[0u + 3u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 4u * 9u + y];
  let b0_0 = left_tile[0u + 4u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 5u * 9u + y];
  let b0_0 = left_tile[0u + 5u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 6u * 9u + y];
  let b0_0 = left_tile[0u + 6u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 7u * 9u + y];
  let b0_0 = left_tile[0u + 7u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 8u * 9u + y];
  let b0_0 = left_tile[0u + 8u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 9u * 9u + y];
  let b0_0 = left_tile[0u + 9u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 10u * 9u + y];
  let b0_0 = left_tile[0u + 10u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 11u * 9u + y];
  let b0_0 = left_tile[0u + 11u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 12u * 9u + y];
  let b0_0 = left_tile[0u + 12u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 13u * 9u + y];
  let b0_0 = left_tile[0u + 13u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 14u * 9u + y];
  let b0_0 = left_tile[0u + 14u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 15u * 9u + y];
  let b0_0 = left_tile[0u + 15u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 16u * 9u + y];
  let b0_0 = left_tile[0u + 16u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 17u * 9u + y];
  let b0_0 = left_tile[0u + 17u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 18u * 9u + y];
  let b0_0 = left_tile[0u + 18u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 19u * 9u + y];
  let b0_0 = left_tile[0u + 19u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 20u * 9u + y];
  let b0_0 = left_tile[0u + 20u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 21u * 9u + y];
  let b0_0 = left_tile[0u + 21u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 22u * 9u + y];
  let b0_0 = left_tile[0u + 22u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 23u * 9u + y];
  let b0_0 = left_tile[0u + 23u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 24u * 9u + y];
  let b0_0 = left_tile[0u + 24u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 25u * 9u + y];
  let b0_0 = left_tile[0u + 25u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 26u * 9u + y];
  let b0_0 = left_tile[0u + 26u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 27u * 9u + y];
  let b0_0 = left_tile[0u + 27u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 28u * 9u + y];
  let b0_0 = left_tile[0u + 28u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 29u * 9u + y];
  let b0_0 = left_tile[0u + 29u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 30u * 9u + y];
  let b0_0 = left_tile[0u + 30u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 31u * 9u + y];
  let b0_0 = left_tile[0u + 31u * 9u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  if (start >= end) { break; }
  workgroupBarrier();
  }
  let base = plane * height;
  {
  let row = top + 0u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_0_0;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
  {
  let row = top + 1u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_1_0;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
  {
  let row = top + 2u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_2_0;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
  {
  let row = top + 3u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_3_0;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
}
