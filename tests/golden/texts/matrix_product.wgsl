// workgroups 4x1x1
// contract_float32
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read> input2: array<f32>;
@group(0) @binding(4) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
fn finish(first: u32, end: u32, result0: f32, result1: f32, result2: f32, result3: f32) {
  let i0 = first;
  let q0_1 = i0 / parameters.words[0].y;
  let c0_1 = i0 - q0_1 * parameters.words[0].y;
  let c0_0 = q0_1;
  let i1 = min(first + 1u, end - 1u);
  let q1_1 = i1 / parameters.words[0].y;
  let c1_1 = i1 - q1_1 * parameters.words[0].y;
  let c1_0 = q1_1;
  let i2 = min(first + 2u, end - 1u);
  let q2_1 = i2 / parameters.words[0].y;
  let c2_1 = i2 - q2_1 * parameters.words[0].y;
  let c2_0 = q2_1;
  let i3 = min(first + 3u, end - 1u);
  let q3_1 = i3 / parameters.words[0].y;
  let c3_1 = i3 - q3_1 * parameters.words[0].y;
  let c3_0 = q3_1;
  let v0_0: f32 = result0;
  let v0_1: f32 = result1;
  let v0_2: f32 = result2;
  let v0_3: f32 = result3;
  let v1_0: f32 = input2[parameters.words[0].z + c0_1 * parameters.words[0].w];
  let v1_1: f32 = input2[parameters.words[0].z + c1_1 * parameters.words[0].w];
  let v1_2: f32 = input2[parameters.words[0].z + c2_1 * parameters.words[0].w];
  let v1_3: f32 = input2[parameters.words[0].z + c3_1 * parameters.words[0].w];
  let v2_0: f32 = add_f32(v0_0, v1_0);
  let v2_1: f32 = add_f32(v0_1, v1_1);
  let v2_2: f32 = add_f32(v0_2, v1_2);
  let v2_3: f32 = add_f32(v0_3, v1_3);
  output0[i0] = v2_0;
  if (first + 1u < end) { output0[i1] = v2_1; }
  if (first + 2u < end) { output0[i2] = v2_2; }
  if (first + 3u < end) { output0[i3] = v2_3; }
}
var<workgroup> held: array<vec4<f32>, 800>;
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  var tile = block;
  var begin = 0u;
  let height = parameters.words[1].y;
  let width = parameters.words[1].z;
  let across = parameters.words[1].w;
  let down = parameters.words[2].x;
  let depth = parameters.words[2].y;
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
  let top_plane = parameters.words[3].y + plane * parameters.words[2].z;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 8u * 4u; let top_e0 = top_n0 / 8u;
  let top_o0 = (top_plane + min(top + top_e0, height - 1u) * parameters.words[2].w + top_d0 * parameters.words[3].x) / 4u;
  var top_v0_0: vec4<f32>;
  let top_n1 = local + 128u;
  let top_d1 = top_n1 % 8u * 4u; let top_e1 = top_n1 / 8u;
  let top_o1 = (top_plane + min(top + top_e1, height - 1u) * parameters.words[2].w + top_d1 * parameters.words[3].x) / 4u;
  var top_v0_1: vec4<f32>;
  let left_plane = parameters.words[4].z + plane * parameters.words[3].z;
  let left_n0 = local + 0u;
  let left_e0 = left_n0 % 64u * 1u; let left_d0 = left_n0 / 64u;
  let left_o0 = (left_plane + min(left + left_e0, width - 1u) * parameters.words[3].w + left_d0 * parameters.words[4].x) / 1u;
  var left_v0_0: f32;
  let left_n1 = local + 128u;
  let left_e1 = left_n1 % 64u * 1u; let left_d1 = left_n1 / 64u;
  let left_o1 = (left_plane + min(left + left_e1, width - 1u) * parameters.words[3].w + left_d1 * parameters.words[4].x) / 1u;
  var left_v0_1: f32;
  let left_n2 = local + 256u;
  let left_e2 = left_n2 % 64u * 1u; let left_d2 = left_n2 / 64u;
  let left_o2 = (left_plane + min(left + left_e2, width - 1u) * parameters.words[3].w + left_d2 * parameters.words[4].x) / 1u;
  var left_v0_2: f32;
  let left_n3 = local + 384u;
  let left_e3 = left_n3 % 64u * 1u; let left_d3 = left_n3 / 64u;
  let left_o3 = (left_plane + min(left + left_e3, width - 1u) * parameters.words[3].w + left_d3 * parameters.words[4].x) / 1u;
  var left_v0_3: f32;
  let left_n4 = local + 512u;
  let left_e4 = left_n4 % 64u * 1u; let left_d4 = left_n4 / 64u;
  let left_o4 = (left_plane + min(left + left_e4, width - 1u) * parameters.words[3].w + left_d4 * parameters.words[4].x) / 1u;
  var left_v0_4: f32;
  let left_n5 = local + 640u;
  let left_e5 = left_n5 % 64u * 1u; let left_d5 = left_n5 / 64u;
  let left_o5 = (left_plane + min(left + left_e5, width - 1u) * parameters.words[3].w + left_d5 * parameters.words[4].x) / 1u;
  var left_v0_5: f32;
  let left_n6 = local + 768u;
  let left_e6 = left_n6 % 64u * 1u; let left_d6 = left_n6 / 64u;
  let left_o6 = (left_plane + min(left + left_e6, width - 1u) * parameters.words[3].w + left_d6 * parameters.words[4].x) / 1u;
  var left_v0_6: f32;
  let left_n7 = local + 896u;
  let left_e7 = left_n7 % 64u * 1u; let left_d7 = left_n7 / 64u;
  let left_o7 = (left_plane + min(left + left_e7, width - 1u) * parameters.words[3].w + left_d7 * parameters.words[4].x) / 1u;
  var left_v0_7: f32;
  let left_n8 = local + 1024u;
  let left_e8 = left_n8 % 64u * 1u; let left_d8 = left_n8 / 64u;
  let left_o8 = (left_plane + min(left + left_e8, width - 1u) * parameters.words[3].w + left_d8 * parameters.words[4].x) / 1u;
  var left_v0_8: f32;
  let left_n9 = local + 1152u;
  let left_e9 = left_n9 % 64u * 1u; let left_d9 = left_n9 / 64u;
  let left_o9 = (left_plane + min(left + left_e9, width - 1u) * parameters.words[3].w + left_d9 * parameters.words[4].x) / 1u;
  var left_v0_9: f32;
  let left_n10 = local + 1280u;
  let left_e10 = left_n10 % 64u * 1u; let left_d10 = left_n10 / 64u;
  let left_o10 = (left_plane + min(left + left_e10, width - 1u) * parameters.words[3].w + left_d10 * parameters.words[4].x) / 1u;
  var left_v0_10: f32;
  let left_n11 = local + 1408u;
  let left_e11 = left_n11 % 64u * 1u; let left_d11 = left_n11 / 64u;
  let left_o11 = (left_plane + min(left + left_e11, width - 1u) * parameters.words[3].w + left_d11 * parameters.words[4].x) / 1u;
  var left_v0_11: f32;
  let left_n12 = local + 1536u;
  let left_e12 = left_n12 % 64u * 1u; let left_d12 = left_n12 / 64u;
  let left_o12 = (left_plane + min(left + left_e12, width - 1u) * parameters.words[3].w + left_d12 * parameters.words[4].x) / 1u;
  var left_v0_12: f32;
  let left_n13 = local + 1664u;
  let left_e13 = left_n13 % 64u * 1u; let left_d13 = left_n13 / 64u;
  let left_o13 = (left_plane + min(left + left_e13, width - 1u) * parameters.words[3].w + left_d13 * parameters.words[4].x) / 1u;
  var left_v0_13: f32;
  let left_n14 = local + 1792u;
  let left_e14 = left_n14 % 64u * 1u; let left_d14 = left_n14 / 64u;
  let left_o14 = (left_plane + min(left + left_e14, width - 1u) * parameters.words[3].w + left_d14 * parameters.words[4].x) / 1u;
  var left_v0_14: f32;
  let left_n15 = local + 1920u;
  let left_e15 = left_n15 % 64u * 1u; let left_d15 = left_n15 / 64u;
  let left_o15 = (left_plane + min(left + left_e15, width - 1u) * parameters.words[3].w + left_d15 * parameters.words[4].x) / 1u;
  var left_v0_15: f32;
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
  left_v0_0 = f32();
  if (here + left_d0 < end) {
  let loaded = input1[left_o0 + here * parameters.words[4].y];
  left_v0_0 = loaded;
  }
  left_v0_1 = f32();
  if (here + left_d1 < end) {
  let loaded = input1[left_o1 + here * parameters.words[4].y];
  left_v0_1 = loaded;
  }
  left_v0_2 = f32();
  if (here + left_d2 < end) {
  let loaded = input1[left_o2 + here * parameters.words[4].y];
  left_v0_2 = loaded;
  }
  left_v0_3 = f32();
  if (here + left_d3 < end) {
  let loaded = input1[left_o3 + here * parameters.words[4].y];
  left_v0_3 = loaded;
  }
  left_v0_4 = f32();
  if (here + left_d4 < end) {
  let loaded = input1[left_o4 + here * parameters.words[4].y];
  left_v0_4 = loaded;
  }
  left_v0_5 = f32();
  if (here + left_d5 < end) {
  let loaded = input1[left_o5 + here * parameters.words[4].y];
  left_v0_5 = loaded;
  }
  left_v0_6 = f32();
  if (here + left_d6 < end) {
  let loaded = input1[left_o6 + here * parameters.words[4].y];
  left_v0_6 = loaded;
  }
  left_v0_7 = f32();
  if (here + left_d7 < end) {
  let loaded = input1[left_o7 + here * parameters.words[4].y];
  left_v0_7 = loaded;
  }
  left_v0_8 = f32();
  if (here + left_d8 < end) {
  let loaded = input1[left_o8 + here * parameters.words[4].y];
  left_v0_8 = loaded;
  }
  left_v0_9 = f32();
  if (here + left_d9 < end) {
  let loaded = input1[left_o9 + here * parameters.words[4].y];
  left_v0_9 = loaded;
  }
  left_v0_10 = f32();
  if (here + left_d10 < end) {
  let loaded = input1[left_o10 + here * parameters.words[4].y];
  left_v0_10 = loaded;
  }
  left_v0_11 = f32();
  if (here + left_d11 < end) {
  let loaded = input1[left_o11 + here * parameters.words[4].y];
  left_v0_11 = loaded;
  }
  left_v0_12 = f32();
  if (here + left_d12 < end) {
  let loaded = input1[left_o12 + here * parameters.words[4].y];
  left_v0_12 = loaded;
  }
  left_v0_13 = f32();
  if (here + left_d13 < end) {
  let loaded = input1[left_o13 + here * parameters.words[4].y];
  left_v0_13 = loaded;
  }
  left_v0_14 = f32();
  if (here + left_d14 < end) {
  let loaded = input1[left_o14 + here * parameters.words[4].y];
  left_v0_14 = loaded;
  }
  left_v0_15 = f32();
  if (here + left_d15 < end) {
  let loaded = input1[left_o15 + here * parameters.words[4].y];
  left_v0_15 = loaded;
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
  held[288u + (left_d0 + 0u) * 16u + left_e0 / 4u][(left_e0 % 4u)] = left_v0_0;
  }
  {
  held[288u + (left_d1 + 0u) * 16u + left_e1 / 4u][(left_e1 % 4u)] = left_v0_1;
  }
  {
  held[288u + (left_d2 + 0u) * 16u + left_e2 / 4u][(left_e2 % 4u)] = left_v0_2;
  }
  {
  held[288u + (left_d3 + 0u) * 16u + left_e3 / 4u][(left_e3 % 4u)] = left_v0_3;
  }
  {
  held[288u + (left_d4 + 0u) * 16u + left_e4 / 4u][(left_e4 % 4u)] = left_v0_4;
  }
  {
  held[288u + (left_d5 + 0u) * 16u + left_e5 / 4u][(left_e5 % 4u)] = left_v0_5;
  }
  {
  held[288u + (left_d6 + 0u) * 16u + left_e6 / 4u][(left_e6 % 4u)] = left_v0_6;
  }
  {
  held[288u + (left_d7 + 0u) * 16u + left_e7 / 4u][(left_e7 % 4u)] = left_v0_7;
  }
  {
  held[288u + (left_d8 + 0u) * 16u + left_e8 / 4u][(left_e8 % 4u)] = left_v0_8;
  }
  {
  held[288u + (left_d9 + 0u) * 16u + left_e9 / 4u][(left_e9 % 4u)] = left_v0_9;
  }
  {
  held[288u + (left_d10 + 0u) * 16u + left_e10 / 4u][(left_e10 % 4u)] = left_v0_10;
  }
  {
  held[288u + (left_d11 + 0u) * 16u + left_e11 / 4u][(left_e11 % 4u)] = left_v0_11;
  }
  {
  held[288u + (left_d12 + 0u) * 16u + left_e12 / 4u][(left_e12 % 4u)] = left_v0_12;
  }
  {
  held[288u + (left_d13 + 0u) * 16u + left_e13 / 4u][(left_e13 % 4u)] = left_v0_13;
  }
  {
  held[288u + (left_d14 + 0u) * 16u + left_e14 / 4u][(left_e14 % 4u)] = left_v0_14;
  }
  {
  held[288u + (left_d15 + 0u) * 16u + left_e15 / 4u][(left_e15 % 4u)] = left_v0_15;
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
  left_v0_0 = f32();
  if (here + left_d0 < end) {
  let loaded = input1[left_o0 + here * parameters.words[4].y];
  left_v0_0 = loaded;
  }
  left_v0_1 = f32();
  if (here + left_d1 < end) {
  let loaded = input1[left_o1 + here * parameters.words[4].y];
  left_v0_1 = loaded;
  }
  left_v0_2 = f32();
  if (here + left_d2 < end) {
  let loaded = input1[left_o2 + here * parameters.words[4].y];
  left_v0_2 = loaded;
  }
  left_v0_3 = f32();
  if (here + left_d3 < end) {
  let loaded = input1[left_o3 + here * parameters.words[4].y];
  left_v0_3 = loaded;
  }
  left_v0_4 = f32();
  if (here + left_d4 < end) {
  let loaded = input1[left_o4 + here * parameters.words[4].y];
  left_v0_4 = loaded;
  }
  left_v0_5 = f32();
  if (here + left_d5 < end) {
  let loaded = input1[left_o5 + here * parameters.words[4].y];
  left_v0_5 = loaded;
  }
  left_v0_6 = f32();
  if (here + left_d6 < end) {
  let loaded = input1[left_o6 + here * parameters.words[4].y];
  left_v0_6 = loaded;
  }
  left_v0_7 = f32();
  if (here + left_d7 < end) {
  let loaded = input1[left_o7 + here * parameters.words[4].y];
  left_v0_7 = loaded;
  }
  left_v0_8 = f32();
  if (here + left_d8 < end) {
  let loaded = input1[left_o8 + here * parameters.words[4].y];
  left_v0_8 = loaded;
  }
  left_v0_9 = f32();
  if (here + left_d9 < end) {
  let loaded = input1[left_o9 + here * parameters.words[4].y];
  left_v0_9 = loaded;
  }
  left_v0_10 = f32();
  if (here + left_d10 < end) {
  let loaded = input1[left_o10 + here * parameters.words[4].y];
  left_v0_10 = loaded;
  }
  left_v0_11 = f32();
  if (here + left_d11 < end) {
  let loaded = input1[left_o11 + here * parameters.words[4].y];
  left_v0_11 = loaded;
  }
  left_v0_12 = f32();
  if (here + left_d12 < end) {
  let loaded = input1[left_o12 + here * parameters.words[4].y];
  left_v0_12 = loaded;
  }
  left_v0_13 = f32();
  if (here + left_d13 < end) {
  let loaded = input1[left_o13 + here * parameters.words[4].y];
  left_v0_13 = loaded;
  }
  left_v0_14 = f32();
  if (here + left_d14 < end) {
  let loaded = input1[left_o14 + here * parameters.words[4].y];
  left_v0_14 = loaded;
  }
  left_v0_15 = f32();
  if (here + left_d15 < end) {
  let loaded = input1[left_o15 + here * parameters.words[4].y];
  left_v0_15 = loaded;
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
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + (slice * 2u + 0u) / 4u * 16u + (slice * 2u + 0u) % 4u + y * 4u; let column = left + 32u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_0_1;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + (slice * 2u + 1u) / 4u * 16u + (slice * 2u + 1u) % 4u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_1_0;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + (slice * 2u + 1u) / 4u * 16u + (slice * 2u + 1u) % 4u + y * 4u; let column = left + 32u + x * 4u;
  if (row < height && column < width) {
  let found0 = met0_1_1;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
}
