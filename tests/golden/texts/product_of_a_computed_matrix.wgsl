// workgroups 2x1x1
// contract_float32
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> top_value0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> top_value1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> input2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn subtract_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), -y); }
fn top_value(first: u32) -> array<f32, 4> {
  let i0 = first;
  let q0_1 = i0 / parameters.words[0].z;
  let c0_1 = i0 - q0_1 * parameters.words[0].z;
  let c0_0 = q0_1;
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
var<workgroup> held: array<vec4<f32>, 800>;
@compute @workgroup_size(128)
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
  let left = place % across * 64u;
  let base = plane * height;
  let slice = local / 32u;
  let member = local % 32u;
  let x = (member / 32u) % 1u * 8u + member % 32u / 2u % 8u;
  let y = member / 32u * 4u + member % 32u / 16u * 2u + member % 2u;
  let top_at = 0u + y + slice * 72u;
  let left_at = 288u + x + slice * 128u;
  let top_plane = parameters.words[3].z + plane * parameters.words[2].w;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 8u * 4u; let top_e0 = top_n0 / 8u;
  let top_o0 = (top_plane + min(top + top_e0, height - 1u) * parameters.words[3].x + top_d0 * parameters.words[3].y) / 4u;
  var top_v0_0: vec4<f32>;
  let top_n1 = local + 128u;
  let top_d1 = top_n1 % 8u * 4u; let top_e1 = top_n1 / 8u;
  let top_o1 = (top_plane + min(top + top_e1, height - 1u) * parameters.words[3].x + top_d1 * parameters.words[3].y) / 4u;
  var top_v0_1: vec4<f32>;
  let left_plane = parameters.words[4].w + plane * parameters.words[3].w;
  let left_n0 = local + 0u;
  let left_e0 = left_n0 % 16u * 4u; let left_d0 = left_n0 / 16u;
  let left_o0 = (left_plane + min(left + left_e0, width - 4u) * parameters.words[4].x + left_d0 * parameters.words[4].y) / 4u;
  var left_v0_0: vec4<f32>;
  let left_n1 = local + 128u;
  let left_e1 = left_n1 % 16u * 4u; let left_d1 = left_n1 / 16u;
  let left_o1 = (left_plane + min(left + left_e1, width - 4u) * parameters.words[4].x + left_d1 * parameters.words[4].y) / 4u;
  var left_v0_1: vec4<f32>;
  let left_n2 = local + 256u;
  let left_e2 = left_n2 % 16u * 4u; let left_d2 = left_n2 / 16u;
  let left_o2 = (left_plane + min(left + left_e2, width - 4u) * parameters.words[4].x + left_d2 * parameters.words[4].y) / 4u;
  var left_v0_2: vec4<f32>;
  let left_n3 = local + 384u;
  let left_e3 = left_n3 % 16u * 4u; let left_d3 = left_n3 / 16u;
  let left_o3 = (left_plane + min(left + left_e3, width - 4u) * parameters.words[4].x + left_d3 * parameters.words[4].y) / 4u;
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
  let loaded = top_value((top_o0 + here / 4u) * 4u);
  top_v0_0 = vec4<f32>(loaded[0], loaded[1], loaded[2], loaded[3]);
  }
  top_v0_1 = vec4<f32>();
  if (here + top_d1 < end) {
  let loaded = top_value((top_o1 + here / 4u) * 4u);
  top_v0_1 = vec4<f32>(loaded[0], loaded[1], loaded[2], loaded[3]);
  }
  left_v0_0 = vec4<f32>();
  if (here + left_d0 < end) {
  let loaded = input2[left_o0 + here * parameters.words[4].z];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_1 = vec4<f32>();
  if (here + left_d1 < end) {
  let loaded = input2[left_o1 + here * parameters.words[4].z];
  left_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_2 = vec4<f32>();
  if (here + left_d2 < end) {
  let loaded = input2[left_o2 + here * parameters.words[4].z];
  left_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_3 = vec4<f32>();
  if (here + left_d3 < end) {
  let loaded = input2[left_o3 + here * parameters.words[4].z];
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
  held[288u + left_d0 * 16u + left_e0 / 4u] = left_v0_0;
  }
  {
  held[288u + left_d1 * 16u + left_e1 / 4u] = left_v0_1;
  }
  {
  held[288u + left_d2 * 16u + left_e2 / 4u] = left_v0_2;
  }
  {
  held[288u + left_d3 * 16u + left_e3 / 4u] = left_v0_3;
  }
  workgroupBarrier();
  start += 32u;
  {
  let here = start;
  top_v0_0 = vec4<f32>();
  if (here + top_d0 < end) {
  let loaded = top_value((top_o0 + here / 4u) * 4u);
  top_v0_0 = vec4<f32>(loaded[0], loaded[1], loaded[2], loaded[3]);
  }
  top_v0_1 = vec4<f32>();
  if (here + top_d1 < end) {
  let loaded = top_value((top_o1 + here / 4u) * 4u);
  top_v0_1 = vec4<f32>(loaded[0], loaded[1], loaded[2], loaded[3]);
  }
  left_v0_0 = vec4<f32>();
  if (here + left_d0 < end) {
  let loaded = input2[left_o0 + here * parameters.words[4].z];
  left_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_1 = vec4<f32>();
  if (here + left_d1 < end) {
  let loaded = input2[left_o1 + here * parameters.words[4].z];
  left_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_2 = vec4<f32>();
  if (here + left_d2 < end) {
  let loaded = input2[left_o2 + here * parameters.words[4].z];
  left_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_3 = vec4<f32>();
  if (here + left_d3 < end) {
  let loaded = input2[left_o3 + here * parameters.words[4].z];
  left_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  }
  {
  let a0_0 = held[0u + 0u * 9u + top_at];
  let a0_1 = held[4u + 0u * 9u + top_at];
  let b0_0 = held[0u + 0u * 16u + left_at];
  let b0_1 = held[8u + 0u * 16u + left_at];
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
  let b0_0 = held[0u + 1u * 16u + left_at];
  let b0_1 = held[8u + 1u * 16u + left_at];
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
  let b0_0 = held[0u + 2u * 16u + left_at];
  let b0_1 = held[8u + 2u * 16u + left_at];
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
  let b0_0 = held[0u + 3u * 16u + left_at];
  let b0_1 = held[8u + 3u * 16u + left_at];
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
  let b0_0 = held[0u + 4u * 16u + left_at];
  let b0_1 = held[8u + 4u * 16u + left_at];
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
  let b0_0 = held[0u + 5u * 16u + left_at];
  let b0_1 = held[8u + 5u * 16u + left_at];
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
  let b0_0 = held[0u + 6u * 16u + left_at];
  let b0_1 = held[8u + 6u * 16u + left_at];
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
  let b0_0 = held[0u + 7u * 16u + left_at];
  let b0_1 = held[8u + 7u * 16u + left_at];
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
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + (slice * 2u + 0u) / 4u * 16u + (slice * 2u + 0u) % 4u + y * 4u; let column = left + 32u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_0_1;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + (slice * 2u + 1u) / 4u * 16u + (slice * 2u + 1u) % 4u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_1_0;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + (slice * 2u + 1u) / 4u * 16u + (slice * 2u + 1u) % 4u + y * 4u; let column = left + 32u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_1_1;
  let first = (base + row) * width + column;
  output0[first / 4u] = vec4<f32>(found0.x, found0.y, found0.z, found0.w);
  } }
}
