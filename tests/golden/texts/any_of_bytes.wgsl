// workgroups 100x1x1
// rows_any
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<u32>;
@group(0) @binding(2) var<storage, read_write> output0: array<atomic<u32>>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_u32: array<u32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let row = block;
  let begin = 0u;
  let end = parameters.words[0].z;
  let origin = 0u;
  var a1: bool = false;
  let b0_0 = row * parameters.words[0].w;
  for (var column = begin + local * 4u; column < end; column += 1024u) {
  let i0 = column + 0u;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0 = input0[(b0_0 + column) / 4u];
  let v0_0: bool = (((w0 >> 0u) & 0xffu) != 0u);
  let v0_1: bool = (((w0 >> 8u) & 0xffu) != 0u);
  let v0_2: bool = (((w0 >> 16u) & 0xffu) != 0u);
  let v0_3: bool = (((w0 >> 24u) & 0xffu) != 0u);
  a1 = (a1 || v0_0);
  a1 = (a1 || v0_1);
  a1 = (a1 || v0_2);
  a1 = (a1 || v0_3);
  }
  shared0_u32[local] = select(0u, 1u, a1);
  workgroupBarrier();
  for (var half = 128u; half > 0u; half >>= 1u) {
  if (local < half) {
  a1 = (a1 || (shared0_u32[local + half] != 0u));
  shared0_u32[local] = select(0u, 1u, a1);
  }
  workgroupBarrier();
  }
  a1 = (shared0_u32[0] != 0u);
  workgroupBarrier();
  let one1: bool = a1;
  if (local == 0u) { atomicAnd(&output0[(row * parameters.words[1].x) >> 2u], ~(0xffu << (((row * parameters.words[1].x) & 3u) * 8u))); atomicOr(&output0[(row * parameters.words[1].x) >> 2u], select(0u, 1u, one1) << (((row * parameters.words[1].x) & 3u) * 8u)); }
}
