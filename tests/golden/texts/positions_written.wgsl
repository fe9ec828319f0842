// step 0: reads [2], writes [3]
//   loop 0+1
//   %0:f:int64 = load 0 c
//   %1:f:int32 = cast %0:int64
//   store 0:int32 %1 f c
// step 1: reads [0], writes [4]
//   copy float32
// step 2: reads [1, 3], writes [4]
//   scatter float32 at int32

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// map_cast
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<i64>;
@group(0) @binding(2) var<storage, read_write> output0: array<i32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let i0 = first;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let v0_0: i64 = input0[i0];
  let v0_1: i64 = input0[i1];
  let v0_2: i64 = input0[i2];
  let v0_3: i64 = input0[i3];
  let v1_0: i32 = i32(v0_0);
  let v1_1: i32 = i32(v0_1);
  let v1_2: i32 = i32(v0_2);
  let v1_3: i32 = i32(v0_3);
  output0[i0] = v1_0;
  if (first + 256u < parameters.words[0].y) { output0[i1] = v1_1; }
  if (first + 512u < parameters.words[0].y) { output0[i2] = v1_2; }
  if (first + 768u < parameters.words[0].y) { output0[i3] = v1_3; }
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// copy_float32
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<vec4<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let i = block * 256u + local;
  if (i < parameters.words[0].y) { output0[i] = input0[i]; }
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// scatter_float32 clear
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> positions: array<i32>;
@group(0) @binding(2) var<storage, read_write> numbers: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let stride = groups.x * groups.y * 256u;
  let size = parameters.words[0].z;
  for (var i = (group.x + group.y * groups.x) * 256u + local; i < size; i += stride) {
  let place = u32(positions[i]);
  if (place >= parameters.words[0].y) { continue; }
  atomicStore(&numbers[place], 0u);
  }
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// scatter_float32 elect
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> positions: array<i32>;
@group(0) @binding(2) var<storage, read_write> numbers: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let stride = groups.x * groups.y * 256u;
  let size = parameters.words[0].z;
  for (var i = (group.x + group.y * groups.x) * 256u + local; i < size; i += stride) {
  let place = u32(positions[i]);
  if (place >= parameters.words[0].y) { continue; }
  atomicMax(&numbers[place], i + 1u);
  }
}

// workgroups: 1 x 1 x 1
// library: none
// in range: no index is out of bounds
// scatter_float32 write
struct Parameters { words: array<vec4<u32>, 1> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<i32>;
@group(0) @binding(3) var<storage, read> numbers: array<u32>;
@group(0) @binding(4) var<storage, read_write> output0: array<u32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let stride = groups.x * groups.y * 256u;
  let size = parameters.words[0].z;
  for (var i = (group.x + group.y * groups.x) * 256u + local; i < size; i += stride) {
  let place = u32(positions[i]);
  if (place >= parameters.words[0].y) { continue; }
  if (numbers[place] == i + 1u) { output0[place] = values[i]; }
  }
}
