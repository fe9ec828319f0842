// workgroups 6x1x1
// map_copy turned
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> output0: array<u32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> tile0: array<u32, 1056>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].w) { return; }
  var rest = block / parameters.words[1].x;
  let left = (block - rest * parameters.words[1].y) * 32u;
  let top = (rest % parameters.words[1].z) * 32u;
  let base0 = parameters.words[1].w;
  {
  let n = local + 0u;
  let row = n % 8u * 4u; let column = n / 8u;
  if (top + row < parameters.words[0].y && left + column < parameters.words[0].z) {
  let loaded = input0[(base0 + (left + column) * parameters.words[2].x + (top + row) * parameters.words[2].y) / 4u];
  tile0[(row + 0u) * 33u + column] = ((loaded >> 0u) & 0xffu);
  tile0[(row + 1u) * 33u + column] = ((loaded >> 8u) & 0xffu);
  tile0[(row + 2u) * 33u + column] = ((loaded >> 16u) & 0xffu);
  tile0[(row + 3u) * 33u + column] = ((loaded >> 24u) & 0xffu);
  } }
  workgroupBarrier();
  for (var n = local; n < 256u; n += 256u) {
  let row = n / 8u; let column = n % 8u * 4u;
  let along = left + column; let down = top + row;
  if (along < parameters.words[0].z && down < parameters.words[0].y) {
  let first = (down) * parameters.words[0].z + along;
  let end = first + parameters.words[0].z - along;
  let more0 = min(0u, parameters.words[0].z - 1u - along);
  let i0 = first + more0;
  let c0_0 = down;
  let c0_1 = along + more0;
  let more1 = min(1u, parameters.words[0].z - 1u - along);
  let i1 = first + more1;
  let c1_0 = down;
  let c1_1 = along + more1;
  let more2 = min(2u, parameters.words[0].z - 1u - along);
  let i2 = first + more2;
  let c2_0 = down;
  let c2_1 = along + more2;
  let more3 = min(3u, parameters.words[0].z - 1u - along);
  let i3 = first + more3;
  let c3_0 = down;
  let c3_1 = along + more3;
  let v0_0: u32 = tile0[row * 33u + column + 0u];
  let v0_1: u32 = tile0[row * 33u + column + 1u];
  let v0_2: u32 = tile0[row * 33u + column + 2u];
  let v0_3: u32 = tile0[row * 33u + column + 3u];
  output0[first / 4u] = ((v0_0 & 0xffu) << 0u) | ((v0_1 & 0xffu) << 8u) | ((v0_2 & 0xffu) << 16u) | ((v0_3 & 0xffu) << 24u);
  } }
}
