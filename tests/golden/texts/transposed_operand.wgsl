// step 0: reads [0, 1], writes [3]
//   loop 0+2
//   %0:f:float32 = load 0 c
//   %1:f:float32 = load 1 s2
//   %2:f:float32 = subtract %0:float32 %1:float32
//   store 0:float32 %2 f c

// workgroups: 6 x 1 x 1
// library: subtract_f32
// in range: no index is out of bounds
// map_subtract transposed
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<vec4<f32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> tile1: array<f32, 1056>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].w) { return; }
  var rest = block / parameters.words[1].x;
  let left = (block - rest * parameters.words[1].y) * 32u;
  let top = (rest % parameters.words[1].z) * 32u;
  let base1 = parameters.words[1].w;
  {
  let n = local + 0u;
  let row = n % 8u * 4u; let column = n / 8u;
  if (top + row < parameters.words[0].y && left + column < parameters.words[0].z) {
  let loaded = input1[(base1 + (left + column) * parameters.words[2].x + (top + row) * parameters.words[2].y) / 4u];
  tile1[(row + 0u) * 33u + column] = loaded.x;
  tile1[(row + 1u) * 33u + column] = loaded.y;
  tile1[(row + 2u) * 33u + column] = loaded.z;
  tile1[(row + 3u) * 33u + column] = loaded.w;
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
  let w0 = input0[first / 4u];
  let v0_0: f32 = w0.x;
  let v0_1: f32 = w0.y;
  let v0_2: f32 = w0.z;
  let v0_3: f32 = w0.w;
  let v1_0: f32 = tile1[row * 33u + column + 0u];
  let v1_1: f32 = tile1[row * 33u + column + 1u];
  let v1_2: f32 = tile1[row * 33u + column + 2u];
  let v1_3: f32 = tile1[row * 33u + column + 3u];
  let v2_0: f32 = subtract_f32(v0_0, v1_0);
  let v2_1: f32 = subtract_f32(v0_1, v1_1);
  let v2_2: f32 = subtract_f32(v0_2, v1_2);
  let v2_3: f32 = subtract_f32(v0_3, v1_3);
  output0[first / 4u] = vec4<f32>(v2_0, v2_1, v2_2, v2_3);
  } }
}
