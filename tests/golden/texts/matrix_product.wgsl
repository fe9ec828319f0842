// workgroups 6x1x1
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
var<workgroup> top_tile: array<vec4<f32>, 288>;
var<workgroup> left_tile: array<vec4<f32>, 256>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[1].x) { return; }
  let height = parameters.words[1].y;
  let width = parameters.words[1].z;
  let depth = parameters.words[1].w;
  let across = parameters.words[2].x;
  let down = parameters.words[2].y;
  let tile = block;
  let begin = 0u;
  let end = depth;
  let plane = tile / (across * down);
  let place = tile - plane * across * down;
  let top = place / across * 32u;
  let left = place % across * 32u;
  let x = (local / 32u) % 1u * 8u + local % 8u;
  let y = local / 32u * 4u + local % 32u / 8u;
  let top_plane = parameters.words[3].y + plane * parameters.words[2].z;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 8u * 4u; let top_e0 = top_n0 / 8u;
  let top_o0 = top_plane + min(top + top_e0, height - 1u) * parameters.words[2].w + top_d0 * parameters.words[3].x;
  var top_v0_0: vec4<f32>;
  let top_n1 = local + 64u;
  let top_d1 = top_n1 % 8u * 4u; let top_e1 = top_n1 / 8u;
  let top_o1 = top_plane + min(top + top_e1, height - 1u) * parameters.words[2].w + top_d1 * parameters.words[3].x;
  var top_v0_1: vec4<f32>;
  let top_n2 = local + 128u;
  let top_d2 = top_n2 % 8u * 4u; let top_e2 = top_n2 / 8u;
  let top_o2 = top_plane + min(top + top_e2, height - 1u) * parameters.words[2].w + top_d2 * parameters.words[3].x;
  var top_v0_2: vec4<f32>;
  let top_n3 = local + 192u;
  let top_d3 = top_n3 % 8u * 4u; let top_e3 = top_n3 / 8u;
  let top_o3 = top_plane + min(top + top_e3, height - 1u) * parameters.words[2].w + top_d3 * parameters.words[3].x;
  var top_v0_3: vec4<f32>;
  let left_plane = parameters.words[4].y + plane * parameters.words[3].z;
  let left_n0 = local + 0u;
  let left_e0 = left_n0 % 32u * 1u; let left_d0 = left_n0 / 32u;
  let left_o0 = left_plane + min(left + left_e0, width - 1u) * parameters.words[3].w + left_d0 * parameters.words[4].x;
  var left_v0_0: f32;
  let left_n1 = local + 64u;
  let left_e1 = left_n1 % 32u * 1u; let left_d1 = left_n1 / 32u;
  let left_o1 = left_plane + min(left + left_e1, width - 1u) * parameters.words[3].w + left_d1 * parameters.words[4].x;
  var left_v0_1: f32;
  let left_n2 = local + 128u;
  let left_e2 = left_n2 % 32u * 1u; let left_d2 = left_n2 / 32u;
  let left_o2 = left_plane + min(left + left_e2, width - 1u) * parameters.words[3].w + left_d2 * parameters.words[4].x;
  var left_v0_2: f32;
  let left_n3 = local + 192u;
  let left_e3 = left_n3 % 32u * 1u; let left_d3 = left_n3 / 32u;
  let left_o3 = left_plane + min(left + left_e3, width - 1u) * parameters.words[3].w + left_d3 * parameters.words[4].x;
  var left_v0_3: f32;
  let left_n4 = local + 256u;
  let left_e4 = left_n4 % 32u * 1u; let left_d4 = left_n4 / 32u;
  let left_o4 = left_plane + min(left + left_e4, width - 1u) * parameters.words[3].w + left_d4 * parameters.words[4].x;
  var left_v0_4: f32;
  let left_n5 = local + 320u;
  let left_e5 = left_n5 % 32u * 1u; let left_d5 = left_n5 / 32u;
  let left_o5 = left_plane + min(left + left_e5, width - 1u) * parameters.words[3].w + left_d5 * parameters.words[4].x;
  var left_v0_5: f32;
  let left_n6 = local + 384u;
  let left_e6 = left_n6 % 32u * 1u; let left_d6 = left_n6 / 32u;
  let left_o6 = left_plane + min(left + left_e6, width - 1u) * parameters.words[3].w + left_d6 * parameters.words[4].x;
  var left_v0_6: f32;
  let left_n7 = local + 448u;
  let left_e7 = left_n7 % 32u * 1u; let left_d7 = left_n7 / 32u;
  let left_o7 = left_plane + min(left + left_e7, width - 1u) * parameters.words[3].w + left_d7 * parameters.words[4].x;
  var left_v0_7: f32;
  let left_n8 = local + 512u;
  let left_e8 = left_n8 % 32u * 1u; let left_d8 = left_n8 / 32u;
  let left_o8 = left_plane + min(left + left_e8, width - 1u) * parameters.words[3].w + left_d8 * parameters.words[4].x;
  var left_v0_8: f32;
  let left_n9 = local + 576u;
  let left_e9 = left_n9 % 32u * 1u; let left_d9 = left_n9 / 32u;
  let left_o9 = left_plane + min(left + left_e9, width - 1u) * parameters.words[3].w + left_d9 * parameters.words[4].x;
  var left_v0_9: f32;
  let left_n10 = local + 640u;
  let left_e10 = left_n10 % 32u * 1u; let left_d10 = left_n10 / 32u;
  let left_o10 = left_plane + min(left + left_e10, width - 1u) * parameters.words[3].w + left_d10 * parameters.words[4].x;
  var left_v0_10: f32;
  let left_n11 = local + 704u;
  let left_e11 = left_n11 % 32u * 1u; let left_d11 = left_n11 / 32u;
  let left_o11 = left_plane + min(left + left_e11, width - 1u) * parameters.words[3].w + left_d11 * parameters.words[4].x;
  var left_v0_11: f32;
  let left_n12 = local + 768u;
  let left_e12 = left_n12 % 32u * 1u; let left_d12 = left_n12 / 32u;
  let left_o12 = left_plane + min(left + left_e12, width - 1u) * parameters.words[3].w + left_d12 * parameters.words[4].x;
  var left_v0_12: f32;
  let left_n13 = local + 832u;
  let left_e13 = left_n13 % 32u * 1u; let left_d13 = left_n13 / 32u;
  let left_o13 = left_plane + min(left + left_e13, width - 1u) * parameters.words[3].w + left_d13 * parameters.words[4].x;
  var left_v0_13: f32;
  let left_n14 = local + 896u;
  let left_e14 = left_n14 % 32u * 1u; let left_d14 = left_n14 / 32u;
  let left_o14 = left_plane + min(left + left_e14, width - 1u) * parameters.words[3].w + left_d14 * parameters.words[4].x;
  var left_v0_14: f32;
  let left_n15 = local + 960u;
  let left_e15 = left_n15 % 32u * 1u; let left_d15 = left_n15 / 32u;
  let left_o15 = left_plane + min(left + left_e15, width - 1u) * parameters.words[3].w + left_d15 * parameters.words[4].x;
  var left_v0_15: f32;
  var sum0_0_0: vec4<f32>;
  var sum0_1_0: vec4<f32>;
  var sum0_2_0: vec4<f32>;
  var sum0_3_0: vec4<f32>;
  var start = begin;
  top_v0_0 = vec4<f32>();
  if (start + top_d0 < end) {
  let loaded = input0[(top_o0 + start * parameters.words[3].x) / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_1 = vec4<f32>();
  if (start + top_d1 < end) {
  let loaded = input0[(top_o1 + start * parameters.words[3].x) / 4u];
  top_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_2 = vec4<f32>();
  if (start + top_d2 < end) {
  let loaded = input0[(top_o2 + start * parameters.words[3].x) / 4u];
  top_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_3 = vec4<f32>();
  if (start + top_d3 < end) {
  let loaded = input0[(top_o3 + start * parameters.words[3].x) / 4u];
  top_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_0 = f32();
  if (start + left_d0 < end) {
  let loaded = input1[left_o0 + start * parameters.words[4].x];
  left_v0_0 = loaded;
  }
  left_v0_1 = f32();
  if (start + left_d1 < end) {
  let loaded = input1[left_o1 + start * parameters.words[4].x];
  left_v0_1 = loaded;
  }
  left_v0_2 = f32();
  if (start + left_d2 < end) {
  let loaded = input1[left_o2 + start * parameters.words[4].x];
  left_v0_2 = loaded;
  }
  left_v0_3 = f32();
  if (start + left_d3 < end) {
  let loaded = input1[left_o3 + start * parameters.words[4].x];
  left_v0_3 = loaded;
  }
  left_v0_4 = f32();
  if (start + left_d4 < end) {
  let loaded = input1[left_o4 + start * parameters.words[4].x];
  left_v0_4 = loaded;
  }
  left_v0_5 = f32();
  if (start + left_d5 < end) {
  let loaded = input1[left_o5 + start * parameters.words[4].x];
  left_v0_5 = loaded;
  }
  left_v0_6 = f32();
  if (start + left_d6 < end) {
  let loaded = input1[left_o6 + start * parameters.words[4].x];
  left_v0_6 = loaded;
  }
  left_v0_7 = f32();
  if (start + left_d7 < end) {
  let loaded = input1[left_o7 + start * parameters.words[4].x];
  left_v0_7 = loaded;
  }
  left_v0_8 = f32();
  if (start + left_d8 < end) {
  let loaded = input1[left_o8 + start * parameters.words[4].x];
  left_v0_8 = loaded;
  }
  left_v0_9 = f32();
  if (start + left_d9 < end) {
  let loaded = input1[left_o9 + start * parameters.words[4].x];
  left_v0_9 = loaded;
  }
  left_v0_10 = f32();
  if (start + left_d10 < end) {
  let loaded = input1[left_o10 + start * parameters.words[4].x];
  left_v0_10 = loaded;
  }
  left_v0_11 = f32();
  if (start + left_d11 < end) {
  let loaded = input1[left_o11 + start * parameters.words[4].x];
  left_v0_11 = loaded;
  }
  left_v0_12 = f32();
  if (start + left_d12 < end) {
  let loaded = input1[left_o12 + start * parameters.words[4].x];
  left_v0_12 = loaded;
  }
  left_v0_13 = f32();
  if (start + left_d13 < end) {
  let loaded = input1[left_o13 + start * parameters.words[4].x];
  left_v0_13 = loaded;
  }
  left_v0_14 = f32();
  if (start + left_d14 < end) {
  let loaded = input1[left_o14 + start * parameters.words[4].x];
  left_v0_14 = loaded;
  }
  left_v0_15 = f32();
  if (start + left_d15 < end) {
  let loaded = input1[left_o15 + start * parameters.words[4].x];
  left_v0_15 = loaded;
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
  left_tile[0u + left_d0 * 8u + left_e0 / 4u][left_e0 % 4u] = left_v0_0;
  left_tile[0u + left_d1 * 8u + left_e1 / 4u][left_e1 % 4u] = left_v0_1;
  left_tile[0u + left_d2 * 8u + left_e2 / 4u][left_e2 % 4u] = left_v0_2;
  left_tile[0u + left_d3 * 8u + left_e3 / 4u][left_e3 % 4u] = left_v0_3;
  left_tile[0u + left_d4 * 8u + left_e4 / 4u][left_e4 % 4u] = left_v0_4;
  left_tile[0u + left_d5 * 8u + left_e5 / 4u][left_e5 % 4u] = left_v0_5;
  left_tile[0u + left_d6 * 8u + left_e6 / 4u][left_e6 % 4u] = left_v0_6;
  left_tile[0u + left_d7 * 8u + left_e7 / 4u][left_e7 % 4u] = left_v0_7;
  left_tile[0u + left_d8 * 8u + left_e8 / 4u][left_e8 % 4u] = left_v0_8;
  left_tile[0u + left_d9 * 8u + left_e9 / 4u][left_e9 % 4u] = left_v0_9;
  left_tile[0u + left_d10 * 8u + left_e10 / 4u][left_e10 % 4u] = left_v0_10;
  left_tile[0u + left_d11 * 8u + left_e11 / 4u][left_e11 % 4u] = left_v0_11;
  left_tile[0u + left_d12 * 8u + left_e12 / 4u][left_e12 % 4u] = left_v0_12;
  left_tile[0u + left_d13 * 8u + left_e13 / 4u][left_e13 % 4u] = left_v0_13;
  left_tile[0u + left_d14 * 8u + left_e14 / 4u][left_e14 % 4u] = left_v0_14;
  left_tile[0u + left_d15 * 8u + left_e15 / 4u][left_e15 % 4u] = left_v0_15;
  workgroupBarrier();
  start += 32u;
  top_v0_0 = vec4<f32>();
  if (start + top_d0 < end) {
  let loaded = input0[(top_o0 + start * parameters.words[3].x) / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_1 = vec4<f32>();
  if (start + top_d1 < end) {
  let loaded = input0[(top_o1 + start * parameters.words[3].x) / 4u];
  top_v0_1 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_2 = vec4<f32>();
  if (start + top_d2 < end) {
  let loaded = input0[(top_o2 + start * parameters.words[3].x) / 4u];
  top_v0_2 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  top_v0_3 = vec4<f32>();
  if (start + top_d3 < end) {
  let loaded = input0[(top_o3 + start * parameters.words[3].x) / 4u];
  top_v0_3 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  left_v0_0 = f32();
  if (start + left_d0 < end) {
  let loaded = input1[left_o0 + start * parameters.words[4].x];
  left_v0_0 = loaded;
  }
  left_v0_1 = f32();
  if (start + left_d1 < end) {
  let loaded = input1[left_o1 + start * parameters.words[4].x];
  left_v0_1 = loaded;
  }
  left_v0_2 = f32();
  if (start + left_d2 < end) {
  let loaded = input1[left_o2 + start * parameters.words[4].x];
  left_v0_2 = loaded;
  }
  left_v0_3 = f32();
  if (start + left_d3 < end) {
  let loaded = input1[left_o3 + start * parameters.words[4].x];
  left_v0_3 = loaded;
  }
  left_v0_4 = f32();
  if (start + left_d4 < end) {
  let loaded = input1[left_o4 + start * parameters.words[4].x];
  left_v0_4 = loaded;
  }
  left_v0_5 = f32();
  if (start + left_d5 < end) {
  let loaded = input1[left_o5 + start * parameters.words[4].x];
  left_v0_5 = loaded;
  }
  left_v0_6 = f32();
  if (start + left_d6 < end) {
  let loaded = input1[left_o6 + start * parameters.words[4].x];
  left_v0_6 = loaded;
  }
  left_v0_7 = f32();
  if (start + left_d7 < end) {
  let loaded = input1[left_o7 + start * parameters.words[4].x];
  left_v0_7 = loaded;
  }
  left_v0_8 = f32();
  if (start + left_d8 < end) {
  let loaded = input1[left_o8 + start * parameters.words[4].x];
  left_v0_8 = loaded;
  }
  left_v0_9 = f32();
  if (start + left_d9 < end) {
  let loaded = input1[left_o9 + start * parameters.words[4].x];
  left_v0_9 = loaded;
  }
  left_v0_10 = f32();
  if (start + left_d10 < end) {
  let loaded = input1[left_o10 + start * parameters.words[4].x];
  left_v0_10 = loaded;
  }
  left_v0_11 = f32();
  if (start + left_d11 < end) {
  let loaded = input1[left_o11 + start * parameters.words[4].x];
  left_v0_11 = loaded;
  }
  left_v0_12 = f32();
  if (start + left_d12 < end) {
  let loaded = input1[left_o12 + start * parameters.words[4].x];
  left_v0_12 = loaded;
  }
  left_v0_13 = f32();
  if (start + left_d13 < end) {
  let loaded = input1[left_o13 + start * parameters.words[4].x];
  left_v0_13 = loaded;
  }
  left_v0_14 = f32();
  if (start + left_d14 < end) {
  let loaded = input1[left_o14 + start * parameters.words[4].x];
  left_v0_14 = loaded;
  }
  left_v0_15 = f32();
  if (start + left_d15 < end) {
  let loaded = input1[left_o15 + start * parameters.words[4].x];
  left_v0_15 = loaded;
  }
  {
  let a0_0 = top_tile[0u + 0u * 9u + y];
  let b0_0 = left_tile[0u + 0u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 1u * 9u + y];
  let b0_0 = left_tile[0u + 1u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 2u * 9u + y];
  let b0_0 = left_tile[0u + 2u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 3u * 9u + y];
  let b0_0 = left_tile[0u + 3u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 4u * 9u + y];
  let b0_0 = left_tile[0u + 4u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 5u * 9u + y];
  let b0_0 = left_tile[0u + 5u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 6u * 9u + y];
  let b0_0 = left_tile[0u + 6u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 7u * 9u + y];
  let b0_0 = left_tile[0u + 7u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 8u * 9u + y];
  let b0_0 = left_tile[0u + 8u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 9u * 9u + y];
  let b0_0 = left_tile[0u + 9u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 10u * 9u + y];
  let b0_0 = left_tile[0u + 10u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 11u * 9u + y];
  let b0_0 = left_tile[0u + 11u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 12u * 9u + y];
  let b0_0 = left_tile[0u + 12u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 13u * 9u + y];
  let b0_0 = left_tile[0u + 13u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 14u * 9u + y];
  let b0_0 = left_tile[0u + 14u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 15u * 9u + y];
  let b0_0 = left_tile[0u + 15u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 16u * 9u + y];
  let b0_0 = left_tile[0u + 16u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 17u * 9u + y];
  let b0_0 = left_tile[0u + 17u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 18u * 9u + y];
  let b0_0 = left_tile[0u + 18u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 19u * 9u + y];
  let b0_0 = left_tile[0u + 19u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 20u * 9u + y];
  let b0_0 = left_tile[0u + 20u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 21u * 9u + y];
  let b0_0 = left_tile[0u + 21u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 22u * 9u + y];
  let b0_0 = left_tile[0u + 22u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 23u * 9u + y];
  let b0_0 = left_tile[0u + 23u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 24u * 9u + y];
  let b0_0 = left_tile[0u + 24u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 25u * 9u + y];
  let b0_0 = left_tile[0u + 25u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 26u * 9u + y];
  let b0_0 = left_tile[0u + 26u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 27u * 9u + y];
  let b0_0 = left_tile[0u + 27u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 28u * 9u + y];
  let b0_0 = left_tile[0u + 28u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 29u * 9u + y];
  let b0_0 = left_tile[0u + 29u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 30u * 9u + y];
  let b0_0 = left_tile[0u + 30u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  {
  let a0_0 = top_tile[0u + 31u * 9u + y];
  let b0_0 = left_tile[0u + 31u * 8u + x];
  sum0_0_0 = fma(vec4<f32>(a0_0.x), b0_0, sum0_0_0);
  sum0_1_0 = fma(vec4<f32>(a0_0.y), b0_0, sum0_1_0);
  sum0_2_0 = fma(vec4<f32>(a0_0.z), b0_0, sum0_2_0);
  sum0_3_0 = fma(vec4<f32>(a0_0.w), b0_0, sum0_3_0);
  }
  if (start >= end) { break; }
  workgroupBarrier();
  }
  let base = plane * height;
  for (var n = 0u; n < 4u; n++) {
  var found0: vec4<f32>;
  var row = top; var column = left;
  switch n {
  case 0u: { row += 0u + y * 4u; column += 0u + x * 4u; found0 = sum0_0_0; }
  case 1u: { row += 1u + y * 4u; column += 0u + x * 4u; found0 = sum0_1_0; }
  case 2u: { row += 2u + y * 4u; column += 0u + x * 4u; found0 = sum0_2_0; }
  default: { row += 3u + y * 4u; column += 0u + x * 4u; found0 = sum0_3_0; }
  }
  if (row < height && column < width) {
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
}
