// step 0: reads [0, 2], writes [7]
//   contract float32 c c
//   epilogue loop 0+1
//   %0:f:float32 = load 0 c
//   %1:u:float32 = scalar 0
//   %2:f:float32 = maximum %0:float32 %1:float32
//   store 0:float32 %2 f c

// workgroups: 8 x 1 x 1
// library: add_f32, maximum_f32, multiply_f32
// in range: no index is out of bounds
// contract_float32
struct Parameters { words: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> output0: array<f32>;
fn zero_u32() -> u32 { return parameters.words[parameters.words[0].x].x; }
var<workgroup> shared0_f32: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let block = group.x + group.y * groups.x;
  let place = block * 8u + local / 32u;
  let walker = min(place, parameters.words[0].y - 1u);
  let lane = local & 31u;
  let row = walker;
  let begin = 0u;
  let end = select(0u, parameters.words[0].z, place < parameters.words[0].y);
  let one6: f32 = bitcast<f32>(parameters.words[0].w);
  let origin = 0u;
  let at0 = lane * 4u + 0u;
  let i0 = min(at0, parameters.words[1].x);
  let at1 = at0 + 1u;
  let i1 = i0 + 1u;
  let at2 = at0 + 2u;
  let i2 = i0 + 2u;
  let at3 = at0 + 3u;
  let i3 = i0 + 3u;
  var a5: f32 = 0.0f;
  let b0_0 = row * parameters.words[1].y;
  let b0_2 = 0u;
  let w0_0 = input0[(b0_0 + i0) / 4u];
  let v0_0: f32 = w0_0.x;
  let v0_1: f32 = w0_0.y;
  let v0_2: f32 = w0_0.z;
  let v0_3: f32 = w0_0.w;
  let w2_0 = input1[(b0_2 + i0) / 4u];
  let v2_0: f32 = w2_0.x;
  let v2_1: f32 = w2_0.y;
  let v2_2: f32 = w2_0.z;
  let v2_3: f32 = w2_0.w;
  let v1_0: f32 = v0_0;
  let v1_1: f32 = v0_1;
  let v1_2: f32 = v0_2;
  let v1_3: f32 = v0_3;
  let v3_0: f32 = v2_0;
  let v3_1: f32 = v2_1;
  let v3_2: f32 = v2_2;
  let v3_3: f32 = v2_3;
  let v4_0: f32 = multiply_f32(v1_0, v3_0);
  let v4_1: f32 = multiply_f32(v1_1, v3_1);
  let v4_2: f32 = multiply_f32(v1_2, v3_2);
  let v4_3: f32 = multiply_f32(v1_3, v3_3);
  a5 = add_f32(a5, add_f32(add_f32(select(0.0f, v4_0, (at0 < end)), select(0.0f, v4_1, (at0 < end))), add_f32(select(0.0f, v4_2, (at0 < end)), select(0.0f, v4_3, (at0 < end)))));
  shared0_f32[local] = a5;
  workgroupBarrier();
  for (var half = 16u; half >= 1u; half >>= 1u) {
  if ((local & 31u) < half) {
  a5 = add_f32(a5, shared0_f32[local + half]);
  shared0_f32[local] = a5;
  }
  workgroupBarrier();
  }
  a5 = shared0_f32[local & 4294967264u];
  workgroupBarrier();
  let one5: f32 = a5;
  let one7: f32 = maximum_f32(one5, one6);
  if (lane == 0u && end > 0u) { output0[row * parameters.words[1].z] = one7; }
}
