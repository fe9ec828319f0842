// step 0: reads [0, 2], writes [7]
//   contract float32 c c
//   epilogue loop 0+1
//   %0:f:float32 = load 0 c
//   %1:u:float32 = scalar 0
//   %2:f:float32 = add %0:float32 %1:float32
//   store 0:float32 %2 f c

// workgroups: 1 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// contract_float32
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<f32>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn finish(first: u32, end: u32, result0: f32, result1: f32, result2: f32, result3: f32) {
  let one1: f32 = bitcast<f32>(parameters.words[0].y);
  let i0 = first;
  let i1 = min(first + 1u, end - 1u);
  let i2 = min(first + 2u, end - 1u);
  let i3 = min(first + 3u, end - 1u);
  let v0_0: f32 = result0;
  let v0_1: f32 = result1;
  let v0_2: f32 = result2;
  let v0_3: f32 = result3;
  let v2_0: f32 = add_f32(v0_0, one1);
  let v2_1: f32 = add_f32(v0_1, one1);
  let v2_2: f32 = add_f32(v0_2, one1);
  let v2_3: f32 = add_f32(v0_3, one1);
  output0[i0] = v2_0;
  if (first + 1u < end) { output0[i1] = v2_1; }
  if (first + 2u < end) { output0[i2] = v2_2; }
  if (first + 3u < end) { output0[i3] = v2_3; }
}
var<workgroup> tiles: array<vec4<f32>, 136>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].z) { return; }
  var tile = block;
  var begin = 0u;
  let height = parameters.words[0].w;
  let width = parameters.words[1].x;
  let across = parameters.words[1].y;
  let down = parameters.words[1].z;
  let depth = parameters.words[1].w;
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
  let top_plane = parameters.words[2].w + plane * parameters.words[2].x;
  let top_n0 = local + 0u;
  let top_d0 = top_n0 % 2u * 4u; let top_e0 = top_n0 / 2u;
  let top_o0 = (top_plane + min(top + top_e0, height - 1u) * parameters.words[2].y + top_d0 * parameters.words[2].z) / 4u;
  var top_v0_0: vec4<f32>;
  let left_plane = parameters.words[4].x + plane * parameters.words[3].x;
  let left_n0 = local + 0u;
  let left_e0 = left_n0 % 32u * 1u; let left_d0 = left_n0 / 32u;
  let left_o0 = (left_plane + min(left + left_e0, width - 1u) * parameters.words[3].y + left_d0 * parameters.words[3].z) / 1u;
  var left_v0_0: f32;
  let left_n1 = local + 64u;
  let left_e1 = left_n1 % 32u * 1u; let left_d1 = left_n1 / 32u;
  let left_o1 = (left_plane + min(left + left_e1, width - 1u) * parameters.words[3].y + left_d1 * parameters.words[3].z) / 1u;
  var left_v0_1: f32;
  let left_n2 = local + 128u;
  let left_e2 = left_n2 % 32u * 1u; let left_d2 = left_n2 / 32u;
  let left_o2 = (left_plane + min(left + left_e2, width - 1u) * parameters.words[3].y + left_d2 * parameters.words[3].z) / 1u;
  var left_v0_2: f32;
  let left_n3 = local + 192u;
  let left_e3 = left_n3 % 32u * 1u; let left_d3 = left_n3 / 32u;
  let left_o3 = (left_plane + min(left + left_e3, width - 1u) * parameters.words[3].y + left_d3 * parameters.words[3].z) / 1u;
  var left_v0_3: f32;
  var sum0_0_0: vec4<f32>;
  var sum0_1_0: vec4<f32>;
  var sum0_2_0: vec4<f32>;
  var sum0_3_0: vec4<f32>;
  var total0: vec4<f32>;
  var total1: vec4<f32>;
  var total2: vec4<f32>;
  var total3: vec4<f32>;
  var mark = begin;
  var start = begin;
  {
  let here = min(start, end - 8u);
  {
  let loaded = input0[top_o0 + here / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  {
  let loaded = input1[left_o0 + here * parameters.words[3].w];
  left_v0_0 = loaded;
  }
  {
  let loaded = input1[left_o1 + here * parameters.words[3].w];
  left_v0_1 = loaded;
  }
  {
  let loaded = input1[left_o2 + here * parameters.words[3].w];
  left_v0_2 = loaded;
  }
  {
  let loaded = input1[left_o3 + here * parameters.words[3].w];
  left_v0_3 = loaded;
  }
  }
  loop {
  mark = min(mark + parameters.words[4].y, end);
  loop {
  {
  tiles[0u + (top_d0 + 0u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.x;
  tiles[0u + (top_d0 + 1u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.y;
  tiles[0u + (top_d0 + 2u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.z;
  tiles[0u + (top_d0 + 3u) * 9u + top_e0 / 4u][(top_e0 % 4u)] = top_v0_0.w;
  }
  {
  tiles[72u + (left_d0 + 0u) * 8u + left_e0 / 4u][(left_e0 % 4u)] = left_v0_0;
  }
  {
  tiles[72u + (left_d1 + 0u) * 8u + left_e1 / 4u][(left_e1 % 4u)] = left_v0_1;
  }
  {
  tiles[72u + (left_d2 + 0u) * 8u + left_e2 / 4u][(left_e2 % 4u)] = left_v0_2;
  }
  {
  tiles[72u + (left_d3 + 0u) * 8u + left_e3 / 4u][(left_e3 % 4u)] = left_v0_3;
  }
  workgroupBarrier();
  start += 8u;
  {
  let here = min(start, end - 8u);
  {
  let loaded = input0[top_o0 + here / 4u];
  top_v0_0 = vec4<f32>(loaded.x, loaded.y, loaded.z, loaded.w);
  }
  {
  let loaded = input1[left_o0 + here * parameters.words[3].w];
  left_v0_0 = loaded;
  }
  {
  let loaded = input1[left_o1 + here * parameters.words[3].w];
  left_v0_1 = loaded;
  }
  {
  let loaded = input1[left_o2 + here * parameters.words[3].w];
  left_v0_2 = loaded;
  }
  {
  let loaded = input1[left_o3 + here * parameters.words[3].w];
  left_v0_3 = loaded;
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
  if (start >= mark) { break; }
  workgroupBarrier();
  }
  total0 += sum0_0_0; sum0_0_0 = vec4<f32>();
  total1 += sum0_1_0; sum0_1_0 = vec4<f32>();
  total2 += sum0_2_0; sum0_2_0 = vec4<f32>();
  total3 += sum0_3_0; sum0_3_0 = vec4<f32>();
  if (start >= end) { break; }
  workgroupBarrier();
  }
  sum0_0_0 = total0;
  sum0_1_0 = total1;
  sum0_2_0 = total2;
  sum0_3_0 = total3;
  {
  let row = top + 0u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_0_0;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + 1u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_1_0;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + 2u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_2_0;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
  {
  let row = top + 3u + y * 4u; let column = left + 0u + x * 4u;
  if (row < height && column < width) {
  let found0 = sum0_3_0;
  let first = (base + row) * width + column;
  finish(first, min(first + 4u, (base + row) * width + width), found0.x, found0.y, found0.z, found0.w);
  } }
}
