// step 0: reads [0], writes [1]
//   loop 0+1
//   %0:f:float32 = load 0 c
//   %1:o:float32 = fold sum %0:float32
//   store 0:float32 %1 o b

// workgroups: 244 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// rows_sum parts
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let split = walker / parameters.words[0].w;
  let row = walker - split * parameters.words[0].w;
  let begin = split * 1024u;
  let end = parameters.words[0].z;
  let origin = parameters.words[1].x;
  var a1: f32 = 0.0f;
  let b0_0 = 0u;
  let apart = parameters.words[1].y;
  {
  var column = begin + lane * 4u;
  for (; column + 4u * apart + 3u < end; column += 8u * apart) {
  let i0 = column + 0u * apart + 0u;
  let i1 = column + 0u * apart + 1u;
  let i2 = column + 0u * apart + 2u;
  let i3 = column + 0u * apart + 3u;
  let i4 = column + 4u * apart + 0u;
  let i5 = column + 4u * apart + 1u;
  let i6 = column + 4u * apart + 2u;
  let i7 = column + 4u * apart + 3u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let w0_4 = input0[(b0_0 + i4) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  let v0_4: f32 = w0_4.x;
  let v0_5: f32 = w0_4.y;
  let v0_6: f32 = w0_4.z;
  let v0_7: f32 = w0_4.w;
  a1 = add_f32(a1, add_f32(add_f32(v0_0, v0_1), add_f32(v0_2, v0_3)));
  a1 = add_f32(a1, add_f32(add_f32(v0_4, v0_5), add_f32(v0_6, v0_7)));
  }
  for (; column < end; column += 4u * apart) {
  let i0 = column;
  let i1 = column + 1u;
  let i2 = column + 2u;
  let i3 = column + 3u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  a1 = add_f32(a1, add_f32(add_f32(v0_0, v0_1), add_f32(v0_2, v0_3)));
  } }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[0u];
  workgroupBarrier();
  let part = (parameters.words[1].z + split) * parameters.words[1].w + row;
  if (lane == 0u) { scratch0[part] = a1; }
}

// workgroups: 1 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// rows_sum end
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<f32>;
@group(0) @binding(2) var<storage, read> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  if (block >= parameters.words[0].y) { return; }
  let walker = block;
  let lane = local;
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  var a1: f32 = 0.0f;
  var part = lane;
  for (; part + 768u < parameters.words[0].w; part += 1024u) {
  let scratch0_0 = scratch0[(part + 0u) * parameters.words[1].x + row];
  let scratch0_1 = scratch0[(part + 256u) * parameters.words[1].x + row];
  let scratch0_2 = scratch0[(part + 512u) * parameters.words[1].x + row];
  let scratch0_3 = scratch0[(part + 768u) * parameters.words[1].x + row];
  a1 = add_f32(a1, scratch0_0);
  a1 = add_f32(a1, scratch0_1);
  a1 = add_f32(a1, scratch0_2);
  a1 = add_f32(a1, scratch0_3);
  }
  for (; part < parameters.words[0].w; part += 256u) {
  let scratch0_0 = scratch0[part * parameters.words[1].x + row];
  a1 = add_f32(a1, scratch0_0);
  }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half >>= 1u) {
  if ((local) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[0u];
  workgroupBarrier();
  let one1: f32 = a1;
  if (lane == 0u) { output0[0u] = one1; }
}
