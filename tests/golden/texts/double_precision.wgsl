// workgroups 1x1x1
// map_divide_subtract
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f64>;
@group(0) @binding(2) var<storage, read_write> output0: array<f64>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
fn opaque_f64(x: f64) -> f64 {
  return bitcast<f64>(bitcast<u64>(x) + u64(zero_u32()));
}
fn divide_f64(x: f64, y: f64) -> f64 { return x / opaque_f64(y); }
const one_bits_f64 = 0x3ff0000000000000lu;
fn one_f64() -> f64 { return bitcast<f64>(one_bits_f64 + u64(zero_u32())); }
fn subtract_f64(x: f64, y: f64) -> f64 { return fma(x, one_f64(), -y); }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let first = block * 1024u + local;
  if (first >= parameters.words[0].y) { return; }
  let one1: f64 = bitcast<f64>((u64(parameters.words[0].z) | (u64(parameters.words[0].w) << 32u)));
  let one3: f64 = bitcast<f64>((u64(parameters.words[1].x) | (u64(parameters.words[1].y) << 32u)));
  let i0 = first;
  let i1 = min(first + 256u, parameters.words[0].y - 1u);
  let i2 = min(first + 512u, parameters.words[0].y - 1u);
  let i3 = min(first + 768u, parameters.words[0].y - 1u);
  let v0_0: f64 = input0[i0];
  let v0_1: f64 = input0[i1];
  let v0_2: f64 = input0[i2];
  let v0_3: f64 = input0[i3];
  let v2_0: f64 = divide_f64(v0_0, one1);
  let v2_1: f64 = divide_f64(v0_1, one1);
  let v2_2: f64 = divide_f64(v0_2, one1);
  let v2_3: f64 = divide_f64(v0_3, one1);
  let v4_0: f64 = subtract_f64(v2_0, one3);
  let v4_1: f64 = subtract_f64(v2_1, one3);
  let v4_2: f64 = subtract_f64(v2_2, one3);
  let v4_3: f64 = subtract_f64(v2_3, one3);
  output0[i0] = v4_0;
  if (first + 256u < parameters.words[0].y) { output0[i1] = v4_1; }
  if (first + 512u < parameters.words[0].y) { output0[i2] = v4_2; }
  if (first + 768u < parameters.words[0].y) { output0[i3] = v4_3; }
}
