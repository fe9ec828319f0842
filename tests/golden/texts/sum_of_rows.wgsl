// step 0: reads [0], writes [1]
//   loop 1+1
//   %0:f:float32 = load 0 c
//   %1:o:float32 = fold sum %0:float32
//   store 0:float32 %1 o c

// workgroups: 300 x 1 x 1
// library: add_f32
// in range: no index is out of bounds
// rows_sum
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 2u + local / 128u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 127u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let origin = 0u;
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[0].w);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  let at4 = lane * 4u + 512u;
  let i4 = min(at4, parameters.words[0].w);
  let at5 = at4 + 1u;
  let i5 = i4 + 1u;
  let at6 = at4 + 2u;
  let i6 = i4 + 2u;
  let at7 = at4 + 3u;
  let i7 = i4 + 3u;
  var a1: f32 = 0.0f;
  let b0_0 = row * parameters.words[1].x;
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
  a1 = add_f32(a1, add_f32(add_f32(add_f32(select(0.0f, v0_0, (at0 < end)), select(0.0f, v0_1, (at0 < end))), add_f32(select(0.0f, v0_2, (at0 < end)), select(0.0f, v0_3, (at0 < end)))), add_f32(add_f32(select(0.0f, v0_4, (at4 < end)), select(0.0f, v0_5, (at4 < end))), add_f32(select(0.0f, v0_6, (at4 < end)), select(0.0f, v0_7, (at4 < end))))));
  shared0_f32[local] = a1;
  workgroupBarrier();
  for (var half = 64u; half >= 1u; half >>= 1u) {
  if ((local & 127u) < half) {
  a1 = add_f32(a1, shared0_f32[local + half]);
  shared0_f32[local] = a1;
  }
  workgroupBarrier();
  }
  a1 = shared0_f32[local & 4294967168u];
  workgroupBarrier();
  let one1: f32 = a1;
  if (lane == 0u && end > 0u) { output0[row * parameters.words[1].y] = one1; }
}
