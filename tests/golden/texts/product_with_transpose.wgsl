// workgroups 4x1x1
// contract_float32
struct Parameters { words: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> held: array<vec4<f32>, 832>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  var tile = block;
  var begin = 0u;
  let height = parameters.words[0].z;
  let width = parameters.words[0].w;
  let across = parameters.words[1].x;
  let down = parameters.words[1].y;
  let depth = parameters.words[1].z;
  var end = depth;
  let plane = tile / (across * down);
  let place = tile - plane * across * down;
  let top = place / across * 32u;
  let left = place % across * 64u;
  let base = plane * height;
  let slice = local / 32u;
  let member = local % 32u;
  let x = (member / 32u) % 1u * 8u + member % 32u / 2u % 8u;
  let y = member / 32u * 4u + member % 32u / 16u * 2u + member % 2u;
  let top_at = 0u + y + slice * 72u;
  let left_at = 288u + x + slice * 136u;
  let top_plane = parameters.words[2].z + plane * parameters.words[1].w;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 8u * 4u; let top_e0 = top_n0 / 8u;
  let top_o0 = (top_plane + min(top + top_e0, height - 1u) * parameters.words[2].x + top_d0 * parameters.words[2].y) / 4u;
  var top_v0_0: vec4<f32>;
  let top_n1 = local + 128u;
  let top_d1 = top_n1 % 8u * 4u; let top_e1 = top_n1 / 8u;
  let top_o1 = (top_plane + min(top + top_e1, height - 1u) * parameters.words[2].x + top_d1 * parameters.words[2].y) / 4u;
  var top_v0_1: vec4<f32>;
  let left_plane = parameters.words[3].z + plane * parameters.words[2].w;
  let left_n0 = local + 0u;
  let left_d0 = left_n0 % 8u * 4u; let left_e0 = left_n0 / 8u;
  let left_o0 = (left_plane + min(left + left_e0, width - 1u) * parameters.words[3].x + left_d0 * parameters.words[3].y) / 4u;
  var left_v0_0: vec4<f32>;
  let left_n1 = local + 128u;
  let left_d1 = left_n1 % 8u * 4u; let left_e1 = left_n1 / 8u;
  let left_o1 = (left_plane + min(left + left_e1, width - 1u) * parameters.words[3].x + left_d1 * parameters.words[3].y) / 4u;
  var left_v0_1: vec4<f32>;
  let left_n2 = local + 256u;
  let left_d2 = left_n2 % 8u * 4u; let left_e2 = left_n2 / 8u;
  let left_o2 = (left_plane + min(left + left_e2, width - 1u) * parameters.words[3].x + left_d2 * parameters.words[3].y) / 4u;
  var left_v0_2: vec4<f32>;
  let left_n3 = local + 384u;
  let left_d3 = left_n3 % 8u * 4u; let left_e3 = left_n3 / 8u;
  let left_o3 = (left_plane + min(left + left_e3, width - 1u) * parameters.words[3].x + left_d3 * parameters.words[3].y) / 4u;
  var left_v0_3: vec4<f32>;
  var sum0_0_0: vec4<f32>;
  var sum0_0_1: vec4<f32>;
  var sum0_1_0: vec4<f32>;
  var sum0_1_1: vec4<f32>;
  var sum0_2_0: vec4<f32>;
  var sum0_2_1: vec4<f32>;
  var sum0_3_0: vec4<f32>;
  var sum0_3_1: vec4<f32>;
  var sum0_4_0: vec4<f32>;
  var sum0_4_1: vec4<f32>;
  var sum0_5_0: vec4<f32>;
  var sum0_5_1: vec4<f32>;
  var sum0_6_0: vec4<f32>;
  var sum0_6_1: vec4<f32>;
  var sum0_7_0: vec4<f32>;
  var sum0_7_1: vec4<f32>;
  var start = begin;
  {
  let here = start;
  top_v0_0 = vec4<f32>();
  if (here + top_d0 < end) {
  let loaded = input0[top_o0 + here / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_1 = vec4<f32>();
  if (here + top_d1 < end) {
  let loaded = input0[top_o1 + here / 4u];
  top_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_0 = vec4<f32>();
  if (here + left_d0 < end) {
  let loaded = input1[left_o0 + here / 4u];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_1 = vec4<f32>();
  if (here + left_d1 < end) {
  let loaded = input1[left_o1 + here / 4u];
  left_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_2 = vec4<f32>();
  if (here + left_d2 < end) {
  let loaded = input1[left_o2 + here / 4u];
  left_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_3 = vec4<f32>();
  if (here + left_d3 < end) {
  let loaded = input1[left_o3 + here / 4u];
  left_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  }
  loop {
  {
  held[0u + (top_d0 + 0u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.x;
  held[0u + (top_d0 + 1u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.y;
  held[0u + (top_d0 + 2u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.z;
  held[0u + (top_d0 + 3u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.w;
  }
  {
  held[0u + (top_d1 + 0u) * 9u + top_e1 / 4u][(top_e1 % 4u)] = top_v0_1.x;
  held[0u + (top_d1 + 1u) * 9u + top_e1 / 4u][(top_e1 % 4u)] = top_v0_1.y;
  held[0u + (top_d1 + 2u) * 9u + top_e1 / 4u][(top_e1 % 4u)] = top_v0_1.z;
  held[0u + (top_d1 + 3u) * 9u + top_e1 / 4u][(top_e1 % 4u)] = top_v0_1.w;
  }
  {
  held[288u + (left_d0 + 0u) * 17u + left_e0 / 4u][(left_e0 % 4u)] = left_v0_0.x;
  held[288u + (left_d0 + 1u) * 17u + left_e0 / 4u][(left_e0 % 4u)] = left_v0_0.y;
  held[288u + (left_d0 + 2u) * 17u + left_e0 / 4u][(left_e0 % 4u)] = left_v0_0.z;
  held[288u + (left_d0 + 3u) * 17u + left_e0 / 4u][(left_e0 % 4u)] = left_v0_0.w;
  }
  {
  held[288u + (left_d1 + 0u) * 17u + left_e1 / 4u][(left_e1 % 4u)] = left_v0_1.x;
  held[288u + (left_d1 + 1u) * 17u + left_e1 / 4u][(left_e1 % 4u)] = left_v0_1.y;
  held[288u + (left_d1 + 2u) * 17u + left_e1 / 4u][(left_e1 % 4u)] = left_v0_1.z;
  held[288u + (left_d1 + 3u) * 17u + left_e1 / 4u][(left_e1 % 4u)] = left_v0_1.w;
  }
  {
  held[288u + (left_d2 + 0u) * 17u + left_e2 / 4u][(left_e2 % 4u)] = left_v0_2.x;
  held[288u + (left_d2 + 1u) * 17u + left_e2 / 4u][(left_e2 % 4u)] = left_v0_2.y;
  held[288u + (left_d2 + 2u) * 17u + left_e2 / 4u][(left_e2 % 4u)] = left_v0_2.z;
  held[288u + (left_d2 + 3u) * 17u + left_e2 / 4u][(left_e2 % 4u)] = left_v0_2.w;
  }
  {
  held[288u + (left_d3 + 0u) * 17u + left_e3 / 4u][(left_e3 % 4u)] = left_v0_3.x;
  held[288u + (left_d3 + 1u) * 17u + left_e3 / 4u][(left_e3 % 4u)] = left_v0_3.y;
  held[288u + (left_d3 + 2u) * 17u + left_e3 / 4u][(left_e3 % 4u)] = left_v0_3.z;
  held[288u + (left_d3 + 3u) * 17u + left_e3 / 4u][(left_e3 % 4u)] = left_v0_3.w;
  }
  workgroupBarrier();
  start += 32u;
  {
  let here = start;
  top_v0_0 = vec4<f32>();
  if (here + top_d0 < end) {
  let loaded = input0[top_o0 + here / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_1 = vec4<f32>();
  if (here + top_d1 < end) {
  let loaded = input0[top_o1 + here / 4u];
  top_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_0 = vec4<f32>();
  if (here + left_d0 < end) {
  let loaded = input1[left_o0 + here / 4u];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_1 = vec4<f32>();
  if (here + left_d1 < end) {
  let loaded = input1[left_o1 + here / 4u];
  left_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_2 = vec4<f32>();
  if (here + left_d2 < end) {
  let loaded = input1[left_o2 + here / 4u];
  left_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_3 = vec4<f32>();
  if (here + left_d3 < end) {
  let loaded = input1[left_o3 + here / 4u];
  left_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  }
  {
  let a0_0 = held[0u + 0u * 9u + top_at];
  let a0_1 = held[4u + 0u * 9u + top_at];
  let b0_0 = held[0u + 0u * 17u + left_at];
  let b0_1 = held[8u + 0u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 1u * 9u + top_at];
  let a0_1 = held[4u + 1u * 9u + top_at];
  let b0_0 = held[0u + 1u * 17u + left_at];
  let b0_1 = held[8u + 1u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 2u * 9u + top_at];
  let a0_1 = held[4u + 2u * 9u + top_at];
  let b0_0 = held[0u + 2u * 17u + left_at];
  let b0_1 = held[8u + 2u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 3u * 9u + top_at];
  let a0_1 = held[4u + 3u * 9u + top_at];
  let b0_0 = held[0u + 3u * 17u + left_at];
  let b0_1 = held[8u + 3u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 4u * 9u + top_at];
  let a0_1 = held[4u + 4u * 9u + top_at];
  let b0_0 = held[0u + 4u * 17u + left_at];
  let b0_1 = held[8u + 4u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 5u * 9u + top_at];
  let a0_1 = held[4u + 5u * 9u + top_at];
  let b0_0 = held[0u + 5u * 17u + left_at];
  let b0_1 = held[8u + 5u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 6u * 9u + top_at];
  let a0_1 = held[4u + 6u * 9u + top_at];
  let b0_0 = held[0u + 6u * 17u + left_at];
  let b0_1 = held[8u + 6u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  {
  let a0_0 = held[0u + 7u * 9u + top_at];
  let a0_1 = held[4u + 7u * 9u + top_at];
  let b0_0 = held[0u + 7u * 17u + left_at];
  let b0_1 = held[8u + 7u * 17u + left_at];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_0_1 = fma(vec4<f32>(a0_0.x), b0_1, sum0_0_1);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_1_1 = fma(vec4<f32>(a0_0.y), b0_1, sum0_1_1);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_2_1 = fma(vec4<f32>(a0_0.z), b0_1, sum0_2_1);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  sum0_3_1 = fma(vec4<f32>(a0_0.w), b0_1, sum0_3_1);
  sum0_4_0 = fma(vec4<f32>(a0_1.x), b0_0, sum0_4_0);
  sum0_4_1 = fma(vec4<f32>(a0_1.x), b0_1, sum0_4_1);
  sum0_5_0 = fma(vec4<f32>(a0_1.y), b0_0, sum0_5_0);
  sum0_5_1 = fma(vec4<f32>(a0_1.y), b0_1, sum0_5_1);
  sum0_6_0 = fma(vec4<f32>(a0_1.z), b0_0, sum0_6_0);
  sum0_6_1 = fma(vec4<f32>(a0_1.z), b0_1, sum0_6_1);
  sum0_7_0 = fma(vec4<f32>(a0_1.w), b0_0, sum0_7_0);
  sum0_7_1 = fma(vec4<f32>(a0_1.w), b0_1, sum0_7_1);
  }
  if (start >= end) { break; }
  workgroupBarrier();
  }
  var met0_0_0: vec4<f32>;
  var met0_0_1: vec4<f32>;
  var met0_1_0: vec4<f32>;
  var met0_1_1: vec4<f32>;
  workgroupBarrier();
  held[0u + local] = sum0_0_0;
  held[128u + local] = sum0_0_1;
  held[256u + local] = sum0_1_0;
  held[384u + local] = sum0_1_1;
  workgroupBarrier();
  if (slice == 0u) {
  met0_0_0 = held[0u + member];
  met0_0_0 += held[32u + member];
  met0_0_0 += held[64u + member];
  met0_0_0 += held[96u + member];
  met0_0_1 = held[128u + member];
  met0_0_1 += held[160u + member];
  met0_0_1 += held[192u + member];
  met0_0_1 += held[224u + member];
  met0_1_0 = held[256u + member];
  met0_1_0 += held[288u + member];
  met0_1_0 += held[320u + member];
  met0_1_0 += held[352u + member];
  met0_1_1 = held[384u + member];
  met0_1_1 += held[416u + member];
  met0_1_1 += held[448u + member];
  met0_1_1 += held[480u + member];
  }
  workgroupBarrier();
  held[0u + local] = sum0_2_0;
  held[128u + local] = sum0_2_1;
  held[256u + local] = sum0_3_0;
  held[384u + local] = sum0_3_1;
  workgroupBarrier();
  if (slice == 1u) {
  met0_0_0 = held[0u + member];
  met0_0_0 += held[32u + member];
  met0_0_0 += held[64u + member];
  met0_0_0 += held[96u + member];
  met0_0_1 = held[128u + member];
  met0_0_1 += held[160u + member];
  met0_0_1 += held[192u + member];
  met0_0_1 += held[224u + member];
  met0_1_0 = held[256u + member];
  met0_1_0 += held[288u + member];
  met0_1_0 += held[320u + member];
  met0_1_0 += held[352u + member];
  met0_1_1 = held[384u + member];
  met0_1_1 += held[416u + member];
  met0_1_1 += held[448u + member];
  met0_1_1 += held[480u + member];
  }
  workgroupBarrier();
  held[0u + local] = sum0_4_0;
  held[128u + local] = sum0_4_1;
  held[256u + local] = sum0_5_0;
  held[384u + local] = sum0_5_1;
  workgroupBarrier();
  if (slice == 2u) {
  met0_0_0 = held[0u + member];
  met0_0_0 += held[32u + member];
  met0_0_0 += held[64u + member];
  met0_0_0 += held[96u + member];
  met0_0_1 = held[128u + member];
  met0_0_1 += held[160u + member];
  met0_0_1 += held[192u + member];
  met0_0_1 += held[224u + member];
  met0_1_0 = held[256u + member];
  met0_1_0 += held[288u + member];
  met0_1_0 += held[320u + member];
  met0_1_0 += held[352u + member];
  met0_1_1 = held[384u + member];
  met0_1_1 += held[416u + member];
  met0_1_1 += held[448u + member];
  met0_1_1 += held[480u + member];
  }
  workgroupBarrier();
  held[0u + local] = sum0_6_0;
  held[128u + local] = sum0_6_1;
  held[256u + local] = sum0_7_0;
  held[384u + local] = sum0_7_1;
  workgroupBarrier();
  if (slice == 3u) {
  met0_0_0 = held[0u + member];
  met0_0_0 += held[32u + member];
  met0_0_0 += held[64u + member];
  met0_0_0 += held[96u + member];
  met0_0_1 = held[128u + member];
  met0_0_1 += held[160u + member];
  met0_0_1 += held[192u + member];
  met0_0_1 += held[224u + member];
  met0_1_0 = held[256u + member];
  met0_1_0 += held[288u + member];
  met0_1_0 += held[320u + member];
  met0_1_0 += held[352u + member];
  met0_1_1 = held[384u + member];
  met0_1_1 += held[416u + member];
  met0_1_1 += held[448u + member];
  met0_1_1 += held[480u + member];
  }
  {
  let row = top + (slice * 2u + 0u) / 4u * 16u + (slice * 2u + 0u) % 4u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_0_0;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
  {
  let row = top + (slice * 2u + 0u) / 4u * 16u + (slice * 2u + 0u) % 4u + y * 4u; let column = left + 32u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_0_1;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
  {
  let row = top + (slice * 2u + 1u) / 4u * 16u + (slice * 2u + 1u) % 4u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_1_0;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
  {
  let row = top + (slice * 2u + 1u) / 4u * 16u + (slice * 2u + 1u) % 4u + y * 4u; let column = left + 32u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_1_1;
  let first = (base + row) * width + column;
  output0[first + 0u] = found0.x;
  if (first + 1u < (base + row) * width + width) { output0[first + 1u] = found0.y; }
  if (first + 2u < (base + row) * width + width) { output0[first + 2u] = found0.z; }
  if (first + 3u < (base + row) * width + width) { output0[first + 3u] = found0.w; }
  } }
}
