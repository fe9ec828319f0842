// step 0: reads [0], writes [1]
//   loop 1+1
//   %0:f:float32 = load 0 s2
//   %1:o:float32 = fold sum %0:float32
//   store 0:float32 %1 o c

// workgroups: 50 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// rows_sum parts
struct Parameters { words: array<vec4<u32>, 5> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<f32>;
@group(0) @binding(2) var<storage, read_write> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 32u + (local & 31u);
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local / 32u;
  let split = walker / parameters.words[0].w;
  let row = walker - split * parameters.words[0].w;
  let begin = split * 8u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let origin = parameters.words[1].x;
  var a1: f32 = 0.0f;
  let b0_0 = row * parameters.words[1].y;
  let apart = parameters.words[1].z;
  {
  var column = begin + lane * 1u;
  for (; column + 7u * apart < end; column += 8u * apart) {
  let i0 = column + 0u * apart;
  let i1 = column + 1u * apart;
  let i2 = column + 2u * apart;
  let i3 = column + 3u * apart;
  let i4 = column + 4u * apart;
  let i5 = column + 5u * apart;
  let i6 = column + 6u * apart;
  let i7 = column + 7u * apart;
  let v0_0: f32 = input0[b0_0 + i0 * parameters.words[1].w];
  let v0_1: f32 = input0[b0_0 + i1 * parameters.words[2].x];
  let v0_2: f32 = input0[b0_0 + i2 * parameters.words[2].y];
  let v0_3: f32 = input0[b0_0 + i3 * parameters.words[2].z];
  let v0_4: f32 = input0[b0_0 + i4 * parameters.words[2].w];
  let v0_5: f32 = input0[b0_0 + i5 * parameters.words[3].x];
  let v0_6: f32 = input0[b0_0 + i6 * parameters.words[3].y];
  let v0_7: f32 = input0[b0_0 + i7 * parameters.words[3].z];
  a1 = add_f32(a1, add_f32(add_f32(v0_0, v0_1), add_f32(v0_2, v0_3)));
  a1 = add_f32(a1, add_f32(add_f32(v0_4, v0_5), add_f32(v0_6, v0_7)));
  }
  for (; column < end; column += 1u * apart) {
  let i0 = column;
  let v0_0: f32 = input0[b0_0 + i0 * parameters.words[3].w];
  a1 = add_f32(a1, v0_0);
  } }
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 128u; half >= 32u; half >>= 1u) {
  if ((local) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[local & 31u];
  workgroupBarrier();
  let part = (parameters.words[4].x + split) * parameters.words[4].y + row;
  if (lane == 0u && end > 0u) { scratch0[part] = a1; }
}

// workgroups: 4 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// rows_sum end
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> output0: array<f32>;
@group(0) @binding(2) var<storage, read> scratch0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let walker = block * 256u + local;
  if (walker >= parameters.words[0].y) { return; }
  let row = walker;
  let begin = 0u;
  let end = parameters.words[0].z;
  var a1: f32 = 0.0f;
  var part = 0u;
  for (; part + 3u < parameters.words[0].w; part += 4u) {
  let scratch0_0 = scratch0[(part + 0u) * parameters.words[1].x + row];
  let scratch0_1 = scratch0[(part + 1u) * parameters.words[1].x + row];
  let scratch0_2 = scratch0[(part + 2u) * parameters.words[1].x + row];
  let scratch0_3 = scratch0[(part + 3u) * parameters.words[1].x + row];
  a1 = add_f32(a1, scratch0_0);
  a1 = add_f32(a1, scratch0_1);
  a1 = add_f32(a1, scratch0_2);
  a1 = add_f32(a1, scratch0_3);
  }
  for (; part < parameters.words[0].w; part += 1u) {
  let scratch0_0 = scratch0[part * parameters.words[1].x + row];
  a1 = add_f32(a1, scratch0_0);
  }
  let one1: f32 = a1;
  output0[row * parameters.words[1].y] = one1;
}
