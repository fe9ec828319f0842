// workgroups 57x1x1
// rows_sum parts
struct Parameters { words: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let walker = block * 256u + local;
  if (walker >= parameters.words[0].y) { return; }
  let split = walker / parameters.words[0].w;
  let row = walker - split * parameters.words[0].w;
  let begin = split * parameters.words[1].x;
  let end = min(begin + parameters.words[1].x, parameters.words[0].z);
  let origin = parameters.words[1].y;
  var a1: f32 = 0.0f;
  let b0_0 = row * parameters.words[1].z;
  for (var column = begin; column < end; column += 1u) {
  let i0 = column + 0u;
  let v0_0: f32 = input0[b0_0 + i0 * parameters.words[1].w];
  a1 = add_f32(a1, v0_0);
  }
  let part = (parameters.words[2].x + split) * parameters.words[2].y + row;
  scratch0[part] = a1;
}

// workgroups 4x1x1
// rows_sum end
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<f32>;
@group(0) @binding(2) var<storage, read> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
const one_bits_f32 = 0x3f800000u;
fn one_f32() -> f32 { return bitcast<f32>(one_bits_f32 + u32(zero_u32())); }
fn add_f32(x: f32, y: f32) -> f32 { return fma(x, one_f32(), y); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let walker = block * 256u + local;
  if (walker >= parameters.words[0].y) { return; }
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  var a1: f32 = 0.0f;
  for (var part = 0u; part < parameters.words[0].w; part += 1u) {
  a1 = add_f32(a1, scratch0[part * parameters.words[1].x + row]);
  }
  let one1: f32 = a1;
  output0[row * parameters.words[1].y] = one1;
}
