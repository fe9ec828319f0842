// workgroups 5x1x1
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

// workgroups 1x1x1
// map_copy
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let one0: f32 = bitcast<f32>(parameters.words[0].z);
  let i0 = first;
  let c0_0 = i0;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let c1_0 = i1;
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let c2_0 = i2;
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let c3_0 = i3;
  output0[parameters.words[0].w + c0_0 * parameters.words[1].x] = one0;
  if (first + 256u < parameters.words[0].y) { output0[parameters.words[0].w + c1_0 * parameters.words[1].x] = one0; }
  if (first + 512u < parameters.words[0].y) { output0[parameters.words[0].w + c2_0 * parameters.words[1].x] = one0; }
  if (first + 768u < parameters.words[0].y) { output0[parameters.words[0].w + c3_0 * parameters.words[1].x] = one0; }
}
